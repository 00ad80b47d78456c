import type { KubeObject } from '../kind/resource';

/** The values under which an index finds an object. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** A place in the store: stays the same while its object is replaced. */
export interface Entry<T extends KubeObject> {
  object: T;
  /** Versions that we wrote ourselves and that the watch has not confirmed yet, oldest first. */
  unconfirmed?: string[];
}

interface Index<T extends KubeObject> {
  readonly values: IndexFunction<T>;
  readonly entries: Map<string, Set<Entry<T>>>;
}

/** Objects by key and by any number of indexes. Knows nothing of versions. */
export class ObjectStore<T extends KubeObject> {
  private readonly entries = new Map<string, Entry<T>>();
  private readonly indexes = new Map<string, Index<T>>();

  get size(): number {
    return this.entries.size;
  }

  get(key: string): Entry<T> | undefined {
    return this.entries.get(key);
  }

  /** All keys with their entries; entries may be deleted while going through them. */
  all(): IterableIterator<[string, Entry<T>]> {
    return this.entries.entries();
  }

  set(key: string, object: T): Entry<T> {
    const entry = this.entries.get(key);
    if (entry === undefined) {
      const created: Entry<T> = { object };
      this.entries.set(key, created);
      for (const index of this.indexes.values()) file(index, created, index.values(object));
      return created;
    }
    for (const index of this.indexes.values()) {
      const before = index.values(entry.object);
      const after = index.values(object);
      if (sameValues(before, after)) continue;
      unfile(index, entry, before);
      file(index, entry, after);
    }
    entry.object = object;
    return entry;
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    for (const index of this.indexes.values()) unfile(index, entry, index.values(entry.object));
  }

  hasIndex(name: string): boolean {
    return this.indexes.has(name);
  }

  addIndex(name: string, values: IndexFunction<T>): void {
    const index: Index<T> = { values, entries: new Map() };
    for (const entry of this.entries.values()) file(index, entry, values(entry.object));
    this.indexes.set(name, index);
  }

  /** @throws if there is no such index */
  byIndex(name: string, value: string): T[] {
    const index = this.indexes.get(name);
    if (index === undefined) throw new Error(`no index '${name}'; there are: ${[...this.indexes.keys()].join(', ')}`);
    return Array.from(index.entries.get(value) ?? [], (entry) => entry.object);
  }

  list(): T[] {
    return Array.from(this.entries.values(), (entry) => entry.object);
  }
}

function file<T extends KubeObject>(index: Index<T>, entry: Entry<T>, values: readonly string[]): void {
  for (const value of values) {
    const entries = index.entries.get(value);
    if (entries === undefined) index.entries.set(value, new Set([entry]));
    else entries.add(entry);
  }
}

function unfile<T extends KubeObject>(index: Index<T>, entry: Entry<T>, values: readonly string[]): void {
  for (const value of values) {
    const entries = index.entries.get(value);
    entries?.delete(entry);
    if (entries?.size === 0) index.entries.delete(value);
  }
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
