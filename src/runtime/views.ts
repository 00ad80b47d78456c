import type { KubeObject, ObjectKey, ResourceType } from '../kind/resource';
import { OWNER_LABEL_INDEX } from './apply';
import type { Reader } from './context';
import { sameType, type Controller, type WatchSelection } from './controller';
import type { Environment } from './environment';
import { byLabel, type Informer } from './informer';
import { managedByLabel, ownerLabel } from './manifest';

/** Name of the index by an object's own UID. */
const UID_INDEX = 'uid';

/** What a controller sees of the cluster: the informers of its kind, of its children and of what it watches. */
export class Views {
  /** Objects of the controller's kind. */
  readonly objects: Informer<KubeObject>;
  /** Children that this manager manages, by kind. */
  readonly owned: ReadonlyMap<ResourceType, Informer<KubeObject>>;
  /** What the controller watches, children left out. */
  readonly watched: ReadonlyMap<ResourceType, Informer<KubeObject>>;

  constructor(
    private readonly controller: Controller,
    { cache, manager, namespaces }: Pick<Environment, 'cache' | 'manager' | 'namespaces'>,
  ) {
    const { kind, owns = [], watches = [], select = [] } = controller;
    const within = (type: ResourceType): { namespaces?: readonly string[] } => (type.namespaced ? { namespaces } : {});
    this.objects = cache.informer(kind, within(kind));
    this.objects.addIndex(UID_INDEX, ({ metadata }) => [metadata.uid as string]);
    this.owned = new Map(owns.map((type) => [type, cache.informer<KubeObject>(type, { ...within(type), labelSelector: `${managedByLabel}=${manager}` })]));
    for (const informer of this.owned.values()) {
      informer.addIndex(OWNER_LABEL_INDEX, byLabel(ownerLabel));
    }
    const others = (type: ResourceType): { labelSelector?: string } => (owns.some((owned) => sameType(owned, type)) ? { labelSelector: `${managedByLabel}!=${manager}` } : {});
    this.watched = new Map(
      watches.map((type) => {
        const narrowed: Partial<WatchSelection> = select.find((selection) => sameType(selection.type, type)) ?? {};
        const { labelSelector, fieldSelector } = { ...others(type), ...narrowed };
        return [type, cache.informer<KubeObject>(type, { ...within(type), labelSelector, fieldSelector })];
      }),
    );
  }

  /** The key of the object with this UID, if there is one. */
  keyOfUid(uid: string): ObjectKey | undefined {
    const [object] = this.objects.byIndex(UID_INDEX, uid);
    return object === undefined ? undefined : { namespace: object.metadata.namespace, name: object.metadata.name };
  }

  /** Resolves once everything that the controller sees has been listed. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await Promise.all([this.objects, ...this.owned.values(), ...this.watched.values()].map((informer) => informer.waitForSync(signal)));
  }

  /**
   * Cached reads of a kind on behalf of an object.
   * @throws Error when the controller doesn't declare the kind
   */
  reader<T extends KubeObject>(type: ResourceType, of?: KubeObject): Reader<T> {
    const informers = this.informersOf(type) as unknown as Informer<T>[];
    const namespace = type.namespaced ? of?.metadata.namespace : undefined;
    return {
      get: (key) => {
        const wanted = typeof key === 'string' ? { namespace, name: key } : key;
        return informers.map((informer) => informer.get(wanted)).find((found) => found !== undefined);
      },
      list: (within) => informers.flatMap((informer) => informer.list(within)),
      children: () => {
        const owned = this.ownedInformer(type) as Informer<T> | undefined;
        if (owned === undefined) throw new Error(`${type.kind} has no children here: the controller of ${this.controller.kind.kind} doesn't declare it in 'owns'`);
        return of?.metadata.uid === undefined ? [] : owned.byIndex(OWNER_LABEL_INDEX, of.metadata.uid);
      },
    };
  }

  private informersOf(type: ResourceType): Informer<KubeObject>[] {
    const found = [this.ownedInformer(type), find(this.watched, type), sameType(type, this.controller.kind) ? this.objects : undefined];
    const informers = found.filter((informer) => informer !== undefined);
    if (informers.length > 0) return informers;
    throw new Error(`${type.kind} can't be read: the controller of ${this.controller.kind.kind} doesn't declare it; add it to 'watches' (or 'owns'), from which its rights are computed`);
  }

  private ownedInformer(type: ResourceType): Informer<KubeObject> | undefined {
    return find(this.owned, type);
  }
}

function find(informers: ReadonlyMap<ResourceType, Informer<KubeObject>>, type: ResourceType): Informer<KubeObject> | undefined {
  for (const [known, informer] of informers) if (sameType(known, type)) return informer;
  return undefined;
}
