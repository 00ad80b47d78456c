import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import type { ApiServer } from '../cluster/api-server';

/** Moments of a database's first start, in the order in which they come; each is what somebody else then goes on from. */
export const moments = ['statefulSet', 'pod', 'scheduled', 'started', 'podReady', 'served', 'ready'] as const;

/** Milliseconds from `kubectl apply` to each moment. */
export type Birth = Readonly<Record<(typeof moments)[number], number>>;

/** What a birth is measured by, of an object that asks for a database. */
export interface NewDatabase {
  readonly metadata: { readonly name: string };
}

/** Resolves when a Service leads to its pod. */
export type Served = (clusterIp: string, port: number) => Promise<void>;

interface Watched {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly clusterIP?: string; readonly ports?: readonly { readonly port: number }[] };
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
 * Makes databases at once and notes when each moment was first seen, by watches that stand before.
 * Watches tell what everybody else hears at the same time: timestamps in objects have whole seconds.
 *
 * @param waited those of them that will be Ready
 * @param served tells when a Service leads to its pod, which no watch does; without it that moment is the pod's readiness
 */
export async function birthsOf(api: ApiServer, namespace: string, databases: readonly NewDatabase[], waited: ReadonlySet<string>, served?: Served): Promise<Birth[]> {
  const paths = ['/apis/dbop.dev/v1alpha1', '/apis/apps/v1', '/api/v1', '/api/v1'].map((group, index) => `${group}/namespaces/${namespace}/${['databases', 'statefulsets', 'pods', 'services'][index]}`);
  const ending = new AbortController();
  const seen = new Map([...waited].map((name) => [name, new Map<string, number>()]));
  const watches = await Promise.all(paths.map((path) => api.open('GET', `${path}?watch=true`, undefined, undefined, ending.signal)));
  const start = performance.now();
  const note = (name: string, moment: string): void => {
    const births = seen.get(name);
    if (births !== undefined && !births.has(moment)) births.set(moment, performance.now() - start);
  };
  const asked: Promise<void>[] = [];
  const hear = (object: Watched): void => {
    const name = object.kind === 'Pod' ? object.metadata.name.replace(/-0$/, '') : object.metadata.name;
    for (const moment of tells[object.kind]?.(object) ?? []) note(name, moment);
    if (object.kind !== 'Service' || served === undefined || !seen.has(name) || object.spec?.clusterIP === 'None') return;
    asked.push(served(object.spec!.clusterIP!, object.spec!.ports![0]!.port).then(() => note(name, 'served')));
  };
  const whole = Promise.race(
    watches.map(async (watch) => {
      for await (const line of createInterface(watch)) {
        const { type, object } = JSON.parse(line) as { type: string; object: Watched };
        if (type === 'ADDED' || type === 'MODIFIED') hear(object);
        if ([...seen.values()].every((births) => births.has('ready'))) return;
      }
      throw new Error('a watch ended before all databases were Ready');
    }),
  );
  try {
    await Promise.all(databases.map((database) => api.demand('POST', paths[0]!, database)));
    await whole;
    await Promise.all(asked);
    return [...seen.values()].map(birth);
  } finally {
    ending.abort();
    for (const watch of watches) watch.on('error', () => undefined).destroy();
  }
}

function birth(seen: ReadonlyMap<string, number>): Birth {
  const at = (moment: string): number => seen.get(moment) ?? Number.NaN;
  // A Service is asked only so often: the operator may have heard of it before.
  const served = Math.min(Math.max(seen.get('served') ?? 0, at('podReady')), at('ready'));
  return Object.fromEntries(moments.map((moment) => [moment, moment === 'served' ? served : at(moment)])) as unknown as Birth;
}

/** Time in which the operator, and nobody else, was waited for. */
export function operatorsPart({ statefulSet, served, ready }: Birth): number {
  return statefulSet + ready - served;
}

function isTrue({ status }: Watched, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
