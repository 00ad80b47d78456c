import type { KubeObject, ObjectKey, ResourceType } from '../kind/resource';
import type { IndexFunction } from './object-store';

export type { IndexFunction } from './object-store';

/** What happened to an object. */
export type InformerEvent<T extends KubeObject> =
  /** It is new to the cache. */
  | { readonly type: 'added'; readonly object: T; readonly origin?: unknown }
  /** It has another resourceVersion than before. */
  | { readonly type: 'updated'; readonly object: T; readonly previous: T; readonly origin?: unknown }
  /** It is gone; this is the last that was known of it. */
  | { readonly type: 'deleted'; readonly object: T; readonly origin?: unknown }
  /** Nothing happened; the subscriber asked to be reminded from time to time. */
  | { readonly type: 'resynced'; readonly object: T; readonly origin?: undefined };

/** Is called in the order of events, and should do no more than put a key into a queue. */
export type EventHandler<T extends KubeObject> = (event: InformerEvent<T>) => void;

/** Which objects an informer holds. */
export interface InformerSelection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** @default all */
  readonly namespaces?: readonly string[];
}

/** Names of the indexes that every informer has. */
export const indexes = {
  /** By UID of each owner reference. */
  owner: 'owner',
  namespace: 'namespace',
} as const;

/** An index by the value of a label; objects without the label are in none of its places. */
export function byLabel(label: string): IndexFunction<KubeObject> {
  return ({ metadata: { labels } }) => (labels?.[label] === undefined ? [] : [labels[label]]);
}

/**
 * A copy of a selection of objects that follows the cluster.
 *
 * Guarantees
 * - After `waitForSync` it holds everything that was there when the first list was taken.
 * - Of one object it never goes back in time, unless the cluster itself does (etcd restored from a backup).
 * - A handler is not called for a resourceVersion that it has been called for, but for reminders that it asked for and the
 *   one case that `write` describes.
 * - A deletion that happened while the watch was broken is told as such after the next list.
 * - What `write` brought in is read back at once, until the cluster tells something newer.
 *
 * Assumes
 * - Nobody changes the objects that it hands out: they are the cache itself, not copies.
 */
export interface Informer<T extends KubeObject> {
  readonly type: ResourceType;
  readonly selection: InformerSelection;
  /** Whether the first list is complete. */
  readonly synced: boolean;
  /** How many objects are held. */
  readonly size: number;

  /** The object of that key, if it is there. */
  get(key: ObjectKey): T | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): T[];
  /** Objects that an index files under a value. @throws if there is no such index */
  byIndex(index: string, value: string): T[];
  /** Adds an index, and files what is there already; does nothing if one of that name exists. */
  addIndex(name: string, values: IndexFunction<T>): void;

  /**
   * Calls the handler for all that is there (as `added`) and for all that happens from now on; with `resyncMs` also for
   * all that is there (as `resynced`) whenever so many milliseconds have passed.
   * @returns a function that ends it
   */
  onEvent(handler: EventHandler<T>, options?: { readonly resyncMs?: number }): () => void;

  /**
   * Sends a write of one's own and takes in the API server's answer, if it is news: reads after the write are never stale,
   * and need not wait for the watch.
   *
   * Handlers are told once, by the answer or by the watch, whichever comes first, with `origin` in the event, so that a
   * controller can pass over what it did itself. Nothing is lost by that: if somebody else changed the object at the same
   * time, or the write failed after all, handlers are told once more, without an origin.
   *
   * An answer is left out if the object is none of the selection's, or if the watch has already seen it deleted.
   * Not for a dry run, whose answer never came to be, nor for a delete.
   * @param send does the write; its rejection is passed on
   */
  write(key: ObjectKey, origin: unknown, send: () => Promise<T>): Promise<T>;

  /**
   * Resolves once the cache knows this version of the object, or a newer one, or its end: at once after `write`.
   * @throws if the object's namespace is none of the informer's
   */
  seen(written: KubeObject, signal?: AbortSignal): Promise<void>;

  /** Resolves once the first list is complete. */
  waitForSync(signal?: AbortSignal): Promise<void>;
}
