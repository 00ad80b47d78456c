import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '../cluster/api-server';
import type { Progress } from '../cluster/progress';
import { birthOf, type Birth } from './database-birth';
import { namespace, withInstalledOperator } from './installed-operator';
import type { Machine } from './report';
import { spreadOf, spreadText } from './statistics';
import type { TextTable } from './tables';

/** The databases that are measured. */
const engines = {
  mysql: { title: 'MySQL 9.7', spec: { engine: 'mysql', version: '9.7' }, image: 'mysql:9.7' },
  postgres: { title: 'PostgreSQL 17', spec: { engine: 'postgres', version: '17' }, image: 'postgres:17' },
} as const;

type EngineName = keyof typeof engines;

/** How long databases took to be Ready. */
export interface LifeReport {
  readonly date: string;
  readonly machine: Machine;
  readonly births: Readonly<Record<EngineName, readonly Birth[]>>;
}

/** Starts databases one after the other. */
export function births(rounds: number, progress: Progress): Promise<LifeReport['births']> {
  const images = Object.values(engines).map(({ image }) => image);
  return withInstalledOperator(images, progress, async (api) => {
    const samples: Record<EngineName, Birth[]> = { mysql: [], postgres: [] };
    for (const engine of Object.keys(engines) as EngineName[]) {
      // The first one brings the image to the node.
      for (let round = 0; round <= rounds; round++) {
        const birth = await progress.step(`${engines[engine].title}: ${round === 0 ? 'image' : `round ${round} of ${rounds}`}`, '15 s', () => one(api, engine, `${engine}-${round}`));
        if (round > 0) samples[engine].push(birth);
      }
    }
    return samples;
  });
}

async function one(api: ApiServer, engine: EngineName, name: string): Promise<Birth> {
  const birth = await birthOf(api, namespace, { apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name }, spec: { ...engines[engine].spec, size: '1Gi', deletionPolicy: 'Delete' } } as { metadata: { name: string } });
  const path = `/apis/dbop.dev/v1alpha1/namespaces/${namespace}/databases/${name}`;
  await api.demand('DELETE', path);
  while ((await api.request('GET', path)).status !== 404) await sleep(250);
  // What its end has set off should not be measured with the next one.
  await sleep(3_000);
  return birth;
}

/** Between which moments who was waited for. */
const intervals: readonly (readonly [title: string, of: (birth: Birth) => number])[] = [
  ['operator: until the StatefulSet is there', ({ statefulSet }) => statefulSet],
  ['controller manager and scheduler: until the pod has a node', ({ statefulSet, scheduled }) => scheduled - statefulSet],
  ['kubelet: until the container runs', ({ scheduled, started }) => started - scheduled],
  ['server: data directory, accounts, start, until the probe sees it', ({ started, podReady }) => podReady - started],
  ['operator: until it has logged in and says Ready', ({ podReady, ready }) => ready - podReady],
  ['**the operator’s own part**', ({ statefulSet, podReady, ready }) => statefulSet + ready - podReady],
  ['**from `kubectl apply` to Ready**', ({ ready }) => ready],
];

/** The report as a table, in seconds. */
export function lifeTable({ births: samples }: LifeReport): TextTable {
  const names = Object.keys(engines) as EngineName[];
  const rows = intervals.map(([title, of]) => [title, ...names.map((name) => spreadText(spreadOf(samples[name].map((birth) => of(birth) / 1000)), 2))]);
  return { title: 'A new database, its image on the node: seconds, by who was waited for', rows: [['', ...names.map((name) => engines[name].title)], ...rows] };
}
