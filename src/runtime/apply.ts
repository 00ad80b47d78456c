import { createHash } from 'node:crypto';
import { apiVersionOf, keyOf, keyText, type KubeObject, type ObjectKey, type ResourceType } from '../kind/resource';
import { isConflict, isInvalid, isNotFound, type ApiError } from './api-error';
import type { ApplyChildrenOptions } from './context';
import type { ClientCalls } from './fence';
import { refuseForeign } from './foreign';
import type { Informer } from './informer';
import { ownerLabel, prepared, setLabel, type Preparation } from './manifest';
import { matches } from './matches';
import { Terminal } from './outcome';
import { isWrittenBy } from './owned-fields';
import { isImmutable, isOtherObject, refusal } from './refusal';
import { isSignificant } from './significance';

/** Name of the index by UID of the owner that our label names. */
export const OWNER_LABEL_INDEX = ownerLabel;

/** For whom children are applied, and by what means. */
export interface ApplyEnvironment {
  readonly client: ClientCalls;
  readonly manager: string;
  readonly owner: KubeObject;
  readonly ownerType: ResourceType;
  /** The kinds that the controller declares as its own, with the caches of their objects that we manage. */
  readonly owns: ReadonlyMap<ResourceType, Informer<KubeObject>>;
  /** Marks events that our own writes bring about. */
  readonly origin: unknown;
  /** Whether an object of this UID is among those that the manager's controllers look after. */
  alive(uid: string): boolean;
}

/**
 * Makes children be as their manifests say: all at once, by server-side apply under one field manager.
 *
 * Guarantees
 * - No request for a child of which the cache shows that what we own is as wanted.
 * - Nothing is created over, taken from or pruned of anybody else: a new child is created only if there is none of its name, an existing
 *   one is changed only under the UID that the cache knows, and pruned is only what carries the owner's UID and the name of the set.
 * - When one child fails, the others are applied all the same, and nothing is pruned.
 */
export async function applyChildren(manifests: readonly KubeObject[], options: ApplyChildrenOptions, environment: ApplyEnvironment): Promise<KubeObject[]> {
  const children = manifests.map((manifest) => new Child(manifest, options, environment));
  refuseTwins(children);
  const results = await Promise.allSettled(children.map((child) => child.apply()));
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  // A refusal that is final may still be told next time; until then the other children deserve another try.
  const failure = failures.find((error) => !(error instanceof Terminal)) ?? failures[0];
  if (failure !== undefined) throw failure;
  if (options.set !== undefined) await prune(children, options.set, environment);
  return results.map((result) => (result as PromiseFulfilledResult<KubeObject>).value);
}

/** Deletes an object under its UID; resolves to whether it is gone. */
export async function removeObject(object: KubeObject, type: ResourceType, client: ClientCalls, propagation: 'Background' | 'Orphan' = 'Background'): Promise<boolean> {
  try {
    return (await client.delete(type, keyOf(object), { uid: object.metadata.uid, propagation })) === undefined;
  } catch (error) {
    // Another object of the same name is there by now, or none at all: either way, this one is gone.
    if (isNotFound(error) || isConflict(error)) return true;
    throw new Error(`cannot delete ${object.kind} ${keyText(keyOf(object))}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * The manifest with which a cached object was last compared or applied. Spares the comparison while neither changes, and
 * keeps us quiet when an admission webhook turns what we apply into something else.
 */
const settled = new WeakMap<KubeObject, string>();

/** Somebody else changed a child: as long as that was its status, what we applied is still there. */
export function keepSettled(previous: KubeObject, object: KubeObject): void {
  const fingerprint = settled.get(previous);
  if (fingerprint !== undefined && !isSignificant(previous, object)) settled.set(object, fingerprint);
}

/** A version that no object has: applied with it, an object can only be created, because any existing one has another. */
const NEVER = '1';

class Child {
  readonly type: ResourceType;
  readonly informer: Informer<KubeObject>;
  readonly key: ObjectKey;
  private readonly preparation: Preparation;
  private readonly fingerprint: string;
  private prepared: KubeObject | undefined;

  constructor(
    private readonly manifest: KubeObject,
    private readonly options: ApplyChildrenOptions,
    private readonly environment: ApplyEnvironment,
  ) {
    const { manager, owner, ownerType, owns } = environment;
    const [type, informer] = declared(manifest, owns, ownerType);
    this.type = type;
    this.informer = informer;
    this.preparation = { manager, owner, ownerType, own: options.own ?? 'reference', set: options.set };
    this.key = { name: manifest.metadata.name, ...(type.namespaced ? { namespace: manifest.metadata.namespace ?? owner.metadata.namespace } : {}) };
    this.fingerprint = createHash('sha256').update(JSON.stringify([manifest, this.preparation.own, options.set, owner.metadata.uid])).digest('base64');
  }

  /** The manifest as it is sent. Made only when it is needed: most passes find every child settled. */
  private get wanted(): KubeObject {
    return (this.prepared ??= prepared(this.manifest, this.type, this.preparation));
  }

  async apply(): Promise<KubeObject> {
    const live = this.informer.get(this.key);
    try {
      return live === undefined ? await this.create() : await this.update(live);
    } catch (error) {
      throw error instanceof Terminal ? error : refusal(error, this.manifest.kind, this.key);
    }
  }

  private async create(): Promise<KubeObject> {
    try {
      return await this.send({ resourceVersion: NEVER });
    } catch (error) {
      if (!isConflict(error)) throw error;
      // There is one: foreign, or our own that the cache hasn't seen yet (the answer to an earlier pass may have been lost).
      const live = await this.environment.client.get<KubeObject>(this.type, this.key);
      return this.update(live);
    }
  }

  private async update(live: KubeObject): Promise<KubeObject> {
    refuseForeign(live, this.preparation, (uid) => this.environment.alive(uid));
    // What is on its way out is made anew once it is gone.
    if (live.metadata.deletionTimestamp !== undefined || settled.get(live) === this.fingerprint) return live;
    const { client, manager } = this.environment;
    const isOverwritten = live.metadata.managedFields?.some(isWrittenBy(manager)) === true;
    if (!isOverwritten && matches(this.wanted, live, manager)) {
      settled.set(live, this.fingerprint);
      return live;
    }
    try {
      // An earlier pass was cut off after it had written lists whole.
      if (isOverwritten) await this.disown(await client.get<KubeObject>(this.type, this.key));
      return await this.send({ uid: live.metadata.uid });
    } catch (error) {
      if (isOtherObject(error) || !isInvalid(error)) throw error;
      if (!isImmutable(error)) return this.overwrite(live, error);
      if (this.options.replaceable?.some((type) => type === this.type) !== true) throw error;
      if (!(await removeObject(live, this.type, this.environment.client, 'Orphan'))) return live;
      return this.send({ resourceVersion: NEVER });
    }
  }

  /**
   * Lists are merged by the keys of their items: where somebody has changed such a key (the port of a Service), ours would stand beside
   * what became of it, and both together may be invalid. Then the lists are written whole.
   * @throws what the API server said first, if it doesn't take that either: it is about the manifest as we meant it
   */
  private async overwrite(live: KubeObject, refused: ApiError): Promise<KubeObject> {
    const { client, manager, origin } = this.environment;
    const { metadata, ...body } = this.wanted;
    const { uid } = live.metadata;
    let written: KubeObject;
    try {
      written = await this.informer.write(this.key, origin, () => client.patch<KubeObject>(this.type, this.key, { ...body, metadata: { uid, labels: metadata.labels } }, { fieldManager: manager }));
    } catch (error) {
      throw isInvalid(error) ? refused : error;
    }
    await this.disown(written);
    return this.send({ uid });
  }

  /** Gives up what we own by having written it, and not by having applied it: it would never go away, because an apply takes back only what was applied. */
  private async disown({ metadata: { uid, resourceVersion, managedFields } }: KubeObject): Promise<void> {
    const { client, manager, origin } = this.environment;
    const isOurs = isWrittenBy(manager);
    const metadata = { uid, resourceVersion, managedFields: managedFields?.filter((entry) => !isOurs(entry)) };
    await this.informer.write(this.key, origin, () => client.patch<KubeObject>(this.type, this.key, { metadata }, { fieldManager: manager }));
  }

  private async send(precondition: { uid?: string; resourceVersion?: string }): Promise<KubeObject> {
    const body = { ...this.wanted, metadata: { ...this.wanted.metadata, ...precondition } };
    const { client, manager, origin } = this.environment;
    const written = await this.informer.write(this.key, origin, () => client.apply<KubeObject>(this.type, body, { fieldManager: manager, force: true }));
    const cached = this.informer.get(this.key);
    if (cached?.metadata.resourceVersion === written.metadata.resourceVersion) settled.set(cached as KubeObject, this.fingerprint);
    return cached ?? written;
  }
}

async function prune(children: readonly Child[], set: string, { owns, owner, client }: ApplyEnvironment): Promise<void> {
  const wanted = new Set(children.map((child) => address(child.type, child.key)));
  const leftovers = [...owns].flatMap(([type, informer]) =>
    informer
      .byIndex(OWNER_LABEL_INDEX, owner.metadata.uid as string)
      .filter((object) => object.metadata.labels?.[setLabel] === set && object.metadata.deletionTimestamp === undefined && !wanted.has(address(type, keyOf(object))))
      .map((object) => ({ type, object })),
  );
  await Promise.all(leftovers.map(({ type, object }) => removeObject(object, type, client)));
}

function address(type: ResourceType, key: ObjectKey): string {
  return `${type.kind}.${type.group}/${keyText(key)}`;
}

function declared(manifest: KubeObject, owns: ApplyEnvironment['owns'], ownerType: ResourceType): [ResourceType, Informer<KubeObject>] {
  for (const entry of owns) if (apiVersionOf(entry[0]) === manifest.apiVersion && entry[0].kind === manifest.kind) return entry;
  throw new Terminal(
    'Undeclared',
    `${manifest.kind} (${manifest.apiVersion}) '${manifest.metadata.name}' can't be applied: the controller of ${ownerType.kind} doesn't declare this kind; add it to 'owns', from which its rights are computed`,
  );
}

function refuseTwins(children: readonly Child[]): void {
  const seen = new Set<string>();
  for (const { type, key } of children) {
    if (seen.has(address(type, key))) throw new Terminal('Twins', `${type.kind} '${keyText(key)}' was rendered twice; give one of the two another name`);
    seen.add(address(type, key));
  }
}
