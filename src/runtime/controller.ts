import type { ControllerDeclaration } from '../kind/access';
import type { Kind, StatusOf } from '../kind/define-kind';
import { apiVersionOf, type KubeObject, type ObjectKey, type ResourceType } from '../kind/resource';
import type { BackoffOptions } from './backoff';
import type { Context, Reader } from './context';
import type { Outcome } from './outcome';

/** Which objects of a watched kind enter the cache. */
export interface WatchSelection {
  readonly type: ResourceType;
  /** @default - all */
  readonly labelSelector?: string;
  /** @default - all */
  readonly fieldSelector?: string;
}

/** A controller: what it touches, and what it does with one object. */
export interface Controller<K extends Kind = Kind> extends ControllerDeclaration<K> {
  /**
   * Name in logs, metrics and Events.
   * @default - the kind in lower case
   */
  readonly name?: string;

  /**
   * Brings the world closer to what the object's spec wants, and says how that ended.
   *
   * Assumes: it may be called at any time, again and again, and never twice at once for one object. It returns soon: what takes
   * long is started in one pass and looked at in a later one. A thrown error means that it is tried again, with backoff.
   */
  reconcile(context: Context<K>): Promise<Outcome<StatusOf<K>>>;

  /**
   * Cleans up after an object that is being deleted; `done()` lets it go. Needs a `finalizer`.
   * @default - nothing is to be cleaned up
   */
  finalize?(context: Context<K>): Promise<Outcome<StatusOf<K>>>;

  /**
   * The objects that want a pass because a watched object changed. Asked about the state before a change and the one after it.
   * @default - those whose UID the watched object names, by our label or as its controller
   */
  wakes?(watched: KubeObject, read: <T extends KubeObject>(type: ResourceType) => Pick<Reader<T>, 'list'>): readonly ObjectKey[];

  /**
   * Narrows what of the watched kinds is kept in memory.
   * @default - all objects of each kind in `watches`, except for children where the kind is in `owns` too
   */
  readonly select?: readonly WatchSelection[];

  /**
   * How many objects are worked on at once.
   * @default 8
   */
  readonly concurrency?: number;

  /**
   * How long an object whose pass threw is left alone, by its failures in a row.
   * @default - 5 ms, doubling up to 1000 s
   */
  readonly backoff?: BackoffOptions;
}

/** Checks a controller, and lets the compiler find out the types of its kind. */
export function controller<K extends Kind>(definition: Controller<K>): Controller<K> {
  const where = `controller of ${definition.kind.kind}`;
  if ((definition.finalizer === undefined) !== (definition.finalize === undefined)) {
    throw new Error(`${where}: 'finalizer' and 'finalize' belong together; ${definition.finalizer === undefined ? "add a finalizer such as 'example.com/cleanup'" : 'add finalize()'} or leave both out`);
  }
  if (definition.finalizer !== undefined && !/^[a-z0-9.-]+\/[A-Za-z0-9._-]+$/.test(definition.finalizer)) {
    throw new Error(`${where}: finalizer '${definition.finalizer}' has no domain; write it like 'example.com/cleanup'`);
  }
  for (const { type } of definition.select ?? []) {
    if (!(definition.watches ?? []).some((watched) => sameType(watched, type))) throw new Error(`${where}: 'select' narrows ${type.kind}, which is not in 'watches'`);
  }
  const { concurrency = 1 } = definition;
  if (!Number.isInteger(concurrency) || concurrency < 1) throw new Error(`${where}: 'concurrency' (${concurrency}) must be a whole number from 1`);
  return definition;
}

/** The name of a controller in logs and metrics. */
export function nameOf(definition: Pick<Controller, 'name' | 'kind'>): string {
  return definition.name ?? definition.kind.kind.toLowerCase();
}

/** Whether two types address the same kind of object. */
export function sameType(left: ResourceType, right: ResourceType): boolean {
  return apiVersionOf(left) === apiVersionOf(right) && left.kind === right.kind;
}
