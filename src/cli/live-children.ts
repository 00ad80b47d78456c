import { apiVersionOf, builtin, type KubeObject, type ResourceType } from '../kind/resource';
import type { Client } from '../runtime/client';

/** What belongs to one database in the cluster, by the label that every child carries. Read once; asks for nothing later. */
export class LiveChildren {
  /** Of a database that is not in any cluster. */
  static readonly none = new LiveChildren(new Map());

  private constructor(private readonly objects: ReadonlyMap<ResourceType, readonly KubeObject[]>) {}

  /** Reads the objects of these kinds. */
  static async of(client: Client, database: { readonly namespace: string; readonly name: string }, types: readonly ResourceType[], signal: AbortSignal): Promise<LiveChildren> {
    const { namespace, name } = database;
    const lists = await Promise.all(types.map((type) => client.list(type, { namespace, labelSelector: `app.kubernetes.io/instance=${name}`, signal })));
    return new LiveChildren(new Map(types.map((type, i) => [type, lists[i]!.items])));
  }

  get(type: ResourceType, name: string): KubeObject | undefined {
    return this.of(type).find(({ metadata }) => metadata.name === name);
  }

  of(type: ResourceType): readonly KubeObject[] {
    const same = [...this.objects.keys()].find((known) => known.kind === type.kind && apiVersionOf(known) === apiVersionOf(type));
    return (same && this.objects.get(same)) ?? [];
  }

  all(): { type: ResourceType; object: KubeObject }[] {
    return [...this.objects].flatMap(([type, objects]) => objects.map((object) => ({ type, object })));
  }
}

/** Kinds that tell how a database fares, without its Secrets: who asks for a status need not be allowed to read passwords. */
export const TELLING_KINDS: readonly ResourceType[] = [
  builtin.StatefulSet,
  builtin.Service,
  builtin.ConfigMap,
  builtin.PersistentVolumeClaim,
  builtin.CronJob,
  builtin.Job,
  builtin.NetworkPolicy,
  builtin.PodDisruptionBudget,
  builtin.ServiceAccount,
  builtin.Pod,
];
