import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import type { ApiServer } from '../cluster/api-server';

/** Moments of a database's first start, in the order in which they come; each is what somebody else then goes on from. */
export const moments = ['statefulSet', 'pod', 'scheduled', 'started', 'podReady', 'ready'] as const;

/** Milliseconds from `kubectl apply` to each moment. */
export type Birth = Readonly<Record<(typeof moments)[number], number>>;

interface Watched {
  readonly kind: string;
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly state?: { readonly running?: object } }[];
  };
}

/** What each kind of object tells, and when. */
const tells: Readonly<Record<string, (object: Watched) => readonly (typeof moments)[number][]>> = {
  StatefulSet: () => ['statefulSet'],
  Pod: (pod) => [
    'pod',
    ...(isTrue(pod, 'PodScheduled') ? (['scheduled'] as const) : []),
    ...(pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined) ? (['started'] as const) : []),
    ...(isTrue(pod, 'Ready') ? (['podReady'] as const) : []),
  ],
  Database: (database) => (isTrue(database, 'Ready') ? ['ready'] : []),
};

/**
 * Applies a Database and notes when each moment was first seen, by watches that stand before.
 * Watches tell what everybody else hears at the same time: timestamps in objects have whole seconds.
 */
export async function birthOf(api: ApiServer, namespace: string, database: { readonly metadata: { readonly name: string } }): Promise<Birth> {
  const { name } = database.metadata;
  const databases = `/apis/dbop.dev/v1alpha1/namespaces/${namespace}/databases`;
  const ending = new AbortController();
  const seen = new Map<string, number>();
  const watches = await Promise.all([databases, `/apis/apps/v1/namespaces/${namespace}/statefulsets`, `/api/v1/namespaces/${namespace}/pods`].map((path) => api.open('GET', `${path}?watch=true`, undefined, undefined, ending.signal)));
  const start = performance.now();
  const whole = Promise.race(
    watches.map(async (watch) => {
      for await (const line of createInterface(watch)) {
        const { object } = JSON.parse(line) as { object: Watched & { metadata: { name: string } } };
        if (object.metadata.name !== name && object.metadata.name !== `${name}-0`) continue;
        for (const moment of tells[object.kind]?.(object) ?? []) if (!seen.has(moment)) seen.set(moment, performance.now() - start);
        if (seen.has('ready')) return;
      }
      throw new Error(`a watch ended before ${name} was Ready`);
    }),
  );
  try {
    await api.demand('POST', databases, database);
    await whole;
    return Object.fromEntries(moments.map((moment) => [moment, seen.get(moment) ?? Number.NaN])) as unknown as Birth;
  } finally {
    ending.abort();
    for (const watch of watches) watch.on('error', () => undefined).destroy();
  }
}

function isTrue({ status }: Watched, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
