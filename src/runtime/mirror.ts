import { keyOf, keyText, type KubeObject, type ObjectKey } from '../kind/resource';
import type { WatchEvent } from './client-options';
import type { InformerEvent } from './informer';
import { ObjectStore, type Entry } from './object-store';
import { compareVersions } from './resource-version';
import { trim, trimmed } from './trim';

/** The namespace that one list and watch covers; undefined for all of them. */
export type Scope = string | undefined;

export interface MirrorOptions<T extends KubeObject> {
  /** Whose managed fields are kept. */
  readonly fieldManager?: string;
  /** Whether an object that we wrote belongs here, as far as can be told without asking the API server. */
  readonly belongs: (object: T) => boolean;
  readonly scopeOf: (object: T) => Scope;
  readonly emit: (event: InformerEvent<T>) => void;
}

/**
 * The rules by which a copy of the cluster's objects follows lists, watches and our own writes, which may arrive in any
 * order relative to each other.
 *
 * How far each scope's list or watch has come is its horizon: whatever happened up to there has been told. So an object
 * of ours that is older than the horizon and not here has been deleted since, and one that is newer will be told yet.
 */
export class Mirror<T extends KubeObject> {
  readonly store = new ObjectStore<T>();
  private readonly horizons = new Map<Scope, string>();
  private readonly lists = new Map<Scope, ListUnderWay>();
  private readonly claims = new Map<string, Claim[]>();

  constructor(private readonly options: MirrorOptions<T>) {}

  /** Up to which resourceVersion everything in a scope has been told; undefined before its first list is complete. */
  horizon(scope: Scope): string | undefined {
    return this.horizons.get(scope);
  }

  /** A list has begun, and is true at this version. */
  beginList(scope: Scope, version: string): void {
    const horizon = this.horizons.get(scope);
    this.lists.set(scope, { version, keys: new Set(), rewound: horizon !== undefined && compareVersions(version, horizon) < 0 });
  }

  /** Some of the list's objects. */
  listed(scope: Scope, objects: readonly T[]): void {
    const list = this.listUnderWay(scope);
    for (const object of objects) {
      const key = keyText(keyOf(object));
      list.keys.add(key);
      const entry = this.store.get(key);
      if (entry !== undefined && list.rewound) entry.unconfirmed = undefined;
      if (entry === undefined || list.rewound || isNewer(object, entry.object)) this.take(key, entry, this.trim(object));
      else this.confirmListed(entry, object);
    }
  }

  /** The list is complete: what it doesn't name is gone, unless we wrote it after the list was taken. */
  endList(scope: Scope): void {
    const list = this.listUnderWay(scope);
    for (const [key, { object }] of this.store.all()) {
      if (list.keys.has(key) || this.options.scopeOf(object) !== scope) continue;
      if (!list.rewound && compareVersions(versionOf(object), list.version) > 0) continue;
      this.store.delete(key);
      this.options.emit({ type: 'deleted', object });
    }
    this.lists.delete(scope);
    this.horizons.set(scope, list.version);
  }

  /** Something that a watch told. */
  watched(scope: Scope, event: WatchEvent<T>): void {
    this.horizons.set(scope, event.object.metadata.resourceVersion ?? '');
    if (event.type === 'BOOKMARK') return;
    const { object } = event;
    const key = keyText(keyOf(object));
    const entry = this.store.get(key);
    if (entry === undefined) {
      if (event.type !== 'DELETED') this.take(key, undefined, this.trim(object), { origin: this.claimed(key, object) });
      return;
    }
    const order = compareVersions(versionOf(object), versionOf(entry.object));
    if (order < 0) return this.overtaken(entry, object);
    if (event.type === 'DELETED') {
      this.store.delete(key);
      this.options.emit({ type: 'deleted', object: this.trim(object) });
    } else if (order > 0) this.take(key, entry, this.trim(object), { origin: this.claimed(key, object) });
    else entry.unconfirmed = undefined;
  }

  /** A write of an object begins: what the watch tells of it until the answer has come is probably that write. */
  claim(key: ObjectKey, origin: unknown): Claim {
    const claim: Claim = { key: keyText(key), origin, told: [] };
    this.claims.set(claim.key, [...(this.claims.get(claim.key) ?? []), claim]);
    return claim;
  }

  /** The write has ended, with this answer if it has one. What turns out to be somebody else's is told again, as such. */
  settle(claim: Claim, written: T | undefined): void {
    const others = (this.claims.get(claim.key) ?? []).filter((other) => other !== claim);
    if (others.length > 0) this.claims.set(claim.key, others);
    else this.claims.delete(claim.key);
    if (written !== undefined) this.put(written, claim.origin);
    const entry = this.store.get(claim.key);
    if (entry !== undefined && claim.told.some((version) => version !== written?.metadata.resourceVersion)) this.tellAgain(entry);
  }

  /** The API server's answer to a write of our own (see `Informer.write`). */
  put(written: T, origin: unknown): void {
    const key = keyText(keyOf(written));
    const entry = this.store.get(key);
    const isNews = entry === undefined ? this.options.belongs(written) && this.isBeyondHorizon(written) : isNewer(written, entry.object);
    if (!isNews) return;
    const unconfirmed = [...(entry?.unconfirmed ?? []), versionOf(written)];
    this.take(key, entry, trimmed(written, this.options.fieldManager), { origin, unconfirmed });
  }

  /** Whether this version of an object, or a newer one, or its end, has arrived here. */
  knows(object: KubeObject): boolean {
    const entry = this.store.get(keyText(keyOf(object)));
    return (entry !== undefined && !isNewer(object, entry.object)) || !this.isBeyondHorizon(object as T);
  }

  private trim(object: T): T {
    return trim(object, this.options.fieldManager);
  }

  private take(key: string, entry: Entry<T> | undefined, object: T, { origin, unconfirmed }: { origin?: unknown; unconfirmed?: string[] } = {}): void {
    const { emit } = this.options;
    const previous = entry?.object;
    this.store.set(key, object).unconfirmed = unconfirmed;
    if (previous === undefined) return emit({ type: 'added', object, origin });
    if (previous.metadata.uid === object.metadata.uid) return emit({ type: 'updated', object, previous, origin });
    emit({ type: 'deleted', object: previous, origin });
    emit({ type: 'added', object, origin });
  }

  /** Whose write this probably is: of one who has a write of the object under way, if there is only one such. */
  private claimed(key: string, object: T): unknown {
    const [claim, ...others] = this.claims.get(key) ?? [];
    if (claim === undefined || others.length > 0) return undefined;
    claim.told.push(versionOf(object));
    return claim.origin;
  }

  /**
   * The watch told of a version that a write of ours has overtaken. If it is somebody else's, those who pass over our own
   * writes have not heard of it yet: what they have now contains it.
   */
  private overtaken(entry: Entry<T>, told: T): void {
    const version = versionOf(told);
    const own = entry.unconfirmed?.includes(version) === true;
    entry.unconfirmed = entry.unconfirmed?.filter((mine) => compareVersions(mine, version) > 0);
    if (!own) this.tellAgain(entry);
  }

  /** A list skips what happened between; if we wrote meanwhile, somebody else may have too. */
  private confirmListed(entry: Entry<T>, listed: T): void {
    if (entry.unconfirmed === undefined) return;
    entry.unconfirmed = entry.unconfirmed.filter((mine) => compareVersions(mine, versionOf(listed)) > 0);
    if (entry.unconfirmed.length === 0) entry.unconfirmed = undefined;
    this.tellAgain(entry);
  }

  private tellAgain({ object }: Entry<T>): void {
    this.options.emit({ type: 'updated', object, previous: object });
  }

  private isBeyondHorizon(object: T): boolean {
    const horizon = this.horizons.get(this.options.scopeOf(object));
    return horizon === undefined || compareVersions(versionOf(object), horizon) > 0;
  }

  private listUnderWay(scope: Scope): ListUnderWay {
    const list = this.lists.get(scope);
    if (list === undefined) throw new Error(`no list is under way for ${scope ?? 'all namespaces'}; call beginList first`);
    return list;
  }
}

/** A write of an object that is under way. */
export interface Claim {
  readonly key: string;
  readonly origin: unknown;
  /** Versions that were told as this write's. */
  readonly told: string[];
}

interface ListUnderWay {
  readonly version: string;
  readonly keys: Set<string>;
  /**
   * The list is older than what we have already seen: lists are consistent reads, so etcd itself was put back to an
   * earlier state. Then the list is right and all that is newer never happened.
   */
  readonly rewound: boolean;
}

function versionOf(object: KubeObject): string {
  return object.metadata.resourceVersion ?? '';
}

function isNewer(a: KubeObject, b: KubeObject): boolean {
  return compareVersions(versionOf(a), versionOf(b)) > 0;
}
