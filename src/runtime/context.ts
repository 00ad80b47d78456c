import type { Chart } from 'cdk8s';
import type { Logger } from 'pino';
import type { Kind, ObjectOf } from '../kind/define-kind';
import type { KubeObject, ObjectKey, ResourceType } from '../kind/resource';
import type { Clock } from './clock';
import type { ClientCalls } from './fence';
import type { Ownership } from './manifest';

/** Options of {@link Context.apply}. */
export interface ApplyChildrenOptions {
  /**
   * What ties these children to the object.
   * @default - what the controller declares as `ownership`
   */
  readonly own?: Ownership;
  /**
   * Name of a set of which these manifests are the whole: what an earlier pass applied under this name and is not here any more gets pruned.
   * A label remembers the name. Give one only where nothing that belongs to the set can be missing for the moment.
   * @default - nothing is pruned
   */
  readonly set?: string;
  /**
   * Kinds whose objects may be deleted (their dependents stay) and made anew where a field can't be changed; for StatefulSets.
   * @default - an immutable field stops the pass with the reason ImmutableField
   */
  readonly replaceable?: readonly ResourceType[];
}

/** Cached reads of one kind. They cost no request and are never older than this process's own writes. */
export interface Reader<T extends KubeObject> {
  /** The object of that name, in the namespace of the object under reconciliation unless the key names another. */
  get(key: string | ObjectKey): T | undefined;
  /** All objects of a namespace, or of all namespaces that the manager sees. */
  list(namespace?: string): T[];
  /** Those that earlier passes applied for the object under reconciliation with `own` other than `none`. */
  children(): T[];
}

/** All that a reconcile may use. */
export interface Context<K extends Kind = Kind> {
  /** The object, from the cache. Not to be changed. */
  readonly object: ObjectOf<K>;
  /** Names this pass in logs. */
  readonly reconcileId: string;
  /** Requests to the API server, all ended as soon as `signal` is. Reads should come from `read`. */
  readonly client: ClientCalls;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborted when the manager stops or no longer leads: nothing may be written from then on. */
  readonly signal: AbortSignal;

  /** Cached objects of a kind that the controller declares. */
  read<Other extends Kind>(type: Other): Reader<ObjectOf<Other>>;
  /** Cached objects of a built-in kind that the controller declares. */
  read<T extends KubeObject = KubeObject>(type: ResourceType): Reader<T>;

  /** The objects that `build` puts into a chart, as JSON; see {@link render}. */
  render(build: (chart: Chart) => void): KubeObject[];

  /**
   * Makes the children be as the manifests say, all at once.
   *
   * Guarantees: no request for a child that is already so; nothing that belongs to somebody else is touched; when one child fails,
   * the others are applied all the same.
   * @returns the children as the API server has them, in the order of the manifests
   * @throws Terminal with the reason NotOurs, ImmutableField or Refused where trying again won't help
   */
  apply(manifests: readonly KubeObject[], options?: ApplyChildrenOptions): Promise<KubeObject[]>;

  /**
   * Deletes an object unless it is gone or has been replaced by another of the same name.
   * @returns whether it is gone; finalizers may keep it for a while
   */
  remove(object: KubeObject): Promise<boolean>;

  /** Tells people what happened, in `kubectl describe`. Never fails; repeated Events are counted instead of sent. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;

  /** Leaves a line in the log that marks a sensitive act. Never hand over a secret. */
  audit(act: string, details?: Readonly<Record<string, unknown>>): void;
}
