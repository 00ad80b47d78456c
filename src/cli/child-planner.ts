import type { Database, DatabaseObject } from '../api/database';
import { apiVersionOf, keyOf, type KubeObject, type ResourceType } from '../kind/resource';
import { ApiError, isNotFound } from '../runtime/api-error';
import type { Client } from '../runtime/client';
import { refuseForeign } from '../runtime/foreign';
import { ownerLabel, prepared, type Ownership } from '../runtime/manifest';
import { matches } from '../runtime/matches';
import { Terminal } from '../runtime/outcome';
import { isImmutable, refusal } from '../runtime/refusal';
import { changeOf, refusedChange, type Change } from './change';
import { Failure } from './failure';
import type { LiveChildren } from './live-children';
import { MANAGER, type Applied } from './rehearsal';

/** Whose children are planned. */
export interface ChildPlannerOptions {
  readonly owner: DatabaseObject;
  readonly ownerType: typeof Database;
  /** The owner isn't in the cluster yet: its UID is a guess. */
  readonly isNew: boolean;
  readonly types: readonly ResourceType[];
  /** What ties children to their owner. */
  readonly ownership: Ownership;
  readonly children: LiveChildren;
  readonly signal: AbortSignal;
  /** Whether there is a Database of this UID. */
  alive(uid: string): boolean;
}

/** Tells what the operator's apply of a child would do, by the same comparison and a dry run of the same request. */
export class ChildPlanner {
  constructor(
    private readonly client: Client,
    private readonly options: ChildPlannerOptions,
  ) {}

  async plan({ child, options: { own = this.options.ownership, set, replaceable = [] } }: Applied): Promise<Change> {
    const { owner, ownerType, alive } = this.options;
    const type = this.typeOf(child);
    const preparation = { manager: MANAGER, owner, ownerType, own, set };
    const wanted = prepared(child, type, preparation);
    const live = this.options.children.get(type, wanted.metadata.name) ?? (await this.found(type, wanted));
    try {
      if (live === undefined) {
        await this.tried(type, wanted);
        return changeOf(undefined, this.shown(wanted));
      }
      refuseForeign(live, preparation, alive);
      if (matches(wanted, live, MANAGER)) return changeOf(live, live);
      return changeOf(live, await this.tried(type, { ...wanted, metadata: { ...wanted.metadata, uid: live.metadata.uid } }));
    } catch (error) {
      if (live !== undefined && replaceable.includes(type) && isImmutable(error)) return changeOf(live, await this.anew(type, wanted), { replaced: true });
      return refusedChange(wanted, reasonOf(error, wanted));
    }
  }

  private tried(type: ResourceType, object: KubeObject): Promise<KubeObject> {
    return this.client.apply(type, object, { fieldManager: MANAGER, force: true, dryRun: true, signal: this.options.signal });
  }

  /** What a new object of the kind would come to. Under another name, because this one is taken; the API server makes it up. */
  private async anew(type: ResourceType, wanted: KubeObject): Promise<KubeObject> {
    const { name, ...metadata } = wanted.metadata;
    const object = { ...wanted, metadata: { ...metadata, generateName: 'plan-' } } as unknown as KubeObject;
    const made = await this.client.create(type, object, { dryRun: true, signal: this.options.signal });
    return { ...made, metadata: { ...made.metadata, name } };
  }

  /** A child that is not ours carries none of our labels; its name may be taken all the same. */
  private found(type: ResourceType, wanted: KubeObject): Promise<KubeObject | undefined> {
    return this.client.get(type, keyOf(wanted), { signal: this.options.signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  private shown(wanted: KubeObject): KubeObject {
    if (!this.options.isNew || wanted.metadata.labels?.[ownerLabel] === undefined) return wanted;
    return { ...wanted, metadata: { ...wanted.metadata, labels: { ...wanted.metadata.labels, [ownerLabel]: '(known after apply)' } } };
  }

  private typeOf(child: KubeObject): ResourceType {
    const found = this.options.types.find((type) => type.kind === child.kind && apiVersionOf(type) === child.apiVersion);
    if (found === undefined) throw new Failure(`${child.kind} ${child.metadata.name} is of a kind that the operator may not touch`);
    return found;
  }
}

/** The operator's own words for it, or ours where it is we who lack a right. */
function reasonOf(error: unknown, wanted: KubeObject): string {
  if (error instanceof ApiError && error.status === 403) throw error;
  const { message } = error instanceof Terminal ? error : refusal(error, wanted.kind, keyOf(wanted));
  // The API server may show a change in the words of its own source code; the plan has shown it already.
  return message.replace(/\n@@.*\n/s, '');
}
