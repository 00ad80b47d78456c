import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '../cluster/api-server';
import type { Node } from '../cluster/node/node';
import type { Progress } from '../cluster/progress';
import { birthsOf, operatorsPart, type Birth } from './database-birth';
import { namespace, removeAll, withInstalledOperator } from './installed-operator';
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
  return withInstalledOperator(images, progress, async (api, node) => {
    const samples: Record<EngineName, Birth[]> = { mysql: [], postgres: [] };
    for (const engine of Object.keys(engines) as EngineName[]) {
      // The first one brings the image to the node.
      for (let round = 0; round <= rounds; round++) {
        const birth = await progress.step(`${engines[engine].title}: ${round === 0 ? 'image' : `round ${round} of ${rounds}`}`, '15 s', () => one(api, node, engine, `${engine}-${round}`));
        if (round > 0) samples[engine].push(birth);
      }
    }
    return samples;
  });
}

async function one(api: ApiServer, node: Node, engine: EngineName, name: string): Promise<Birth> {
  const database = { apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name }, spec: { ...engines[engine].spec, size: '1Gi', deletionPolicy: 'Delete' } };
  const [birth] = await birthsOf(api, namespace, [database], new Set([name]), (ip, port) => connects(node, ip, port));
  await removeAll(api);
  // What its end has set off should not be measured with the next one.
  await sleep(3_000);
  return birth!;
}

/** Asks from the node until somebody takes the connection. A packet that is lost would be sent again only after a second, so no answer is waited for that long. */
async function connects(node: Node, ip: string, port: number): Promise<void> {
  await node.run('timeout', ['60', 'bash', '-c', `until timeout 0.1 bash -c 'exec 3<> /dev/tcp/${ip}/${port}' 2> /dev/null; do sleep 0.05; done`]);
}

/** Between which moments who was waited for. */
const intervals: readonly (readonly [title: string, of: (birth: Birth) => number])[] = [
  ['operator: until the StatefulSet is there', ({ statefulSet }) => statefulSet],
  ['controller manager and scheduler: until the pod has a node', ({ statefulSet, scheduled }) => scheduled - statefulSet],
  ['kubelet: until the container runs', ({ scheduled, started }) => started - scheduled],
  ['server: data directory, accounts, start, until the probe sees it', ({ started, podReady }) => podReady - started],
  ['kube-proxy: until the Service leads to the pod', ({ podReady, served }) => served - podReady],
  ['operator: until it has logged in and says Ready', ({ served, ready }) => ready - served],
  ['**the operator’s own part**', operatorsPart],
  ['**from `kubectl apply` to Ready**', ({ ready }) => ready],
];

/** The report as a table, in seconds. */
export function lifeTable({ births: samples }: LifeReport): TextTable {
  const names = Object.keys(engines) as EngineName[];
  const rows = intervals.map(([title, of]) => [title, ...names.map((name) => spreadText(spreadOf(samples[name].map((birth) => of(birth) / 1000)), 2))]);
  return { title: 'A new database, its image on the node: seconds, by who was waited for', rows: [['', ...names.map((name) => engines[name].title)], ...rows] };
}
