import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '../cluster/api-server';
import type { Progress } from '../cluster/progress';
import { namespace, withInstalledOperator } from './installed-operator';
import type { Machine } from './report';
import { spreadOf, spreadText } from './statistics';
import type { TextTable } from './tables';

/** How long fifteen databases took to be Ready, alone and beside five that can't start. */
export interface NeighboursReport {
  readonly date: string;
  readonly machine: Machine;
  readonly rounds: readonly Readonly<Record<Company, readonly number[]>>[];
}

type Company = 'alone' | 'beside';

const healthy = Array.from({ length: 15 }, (_, index) => `healthy-${index}`);

/** What ails the others. */
const sick: Readonly<Record<string, object>> = {
  'sick-refused': { parameters: { server_id: '7' } },
  'sick-secret': { credentials: { secretName: 'nowhere' } },
  'sick-image': { image: 'no-such-image:1' },
  'sick-placed': { resources: { requests: { cpu: '1000' } } },
  'sick-crashing': { parameters: { innodb_page_size: '3' } },
};

const databases = `/apis/dbop.dev/v1alpha1/namespaces/${namespace}/databases`;

/** Rounds in which both have their turn: what else the machine does then matters least. */
export function neighbours(rounds: number, progress: Progress): Promise<NeighboursReport['rounds']> {
  return withInstalledOperator(['mysql:9.7'], progress, async (api) => {
    await progress.step('the image comes to the node', '30 s', () => readyTimes(api, [healthy[0]!]));
    const measured: Record<Company, readonly number[]>[] = [];
    for (let round = 1; round <= rounds; round++) {
      const alone = await progress.step(`round ${round} of ${rounds}: fifteen alone`, '90 s', () => readyTimes(api, healthy));
      const beside = await progress.step(`round ${round} of ${rounds}: fifteen beside five sick`, '90 s', () => readyTimes(api, [...Object.keys(sick), ...healthy]));
      measured.push({ alone, beside });
    }
    return measured;
  });
}

/** Makes databases at once and removes them again. @returns the seconds that each healthy one took to be Ready */
async function readyTimes(api: ApiServer, names: readonly string[]): Promise<number[]> {
  const waited = new Set(names.filter((name) => !(name in sick)));
  const times: number[] = [];
  const ending = new AbortController();
  const watch = await api.open('GET', `${databases}?watch=true`, undefined, undefined, ending.signal);
  try {
    const start = performance.now();
    await Promise.all(names.map((name) => api.demand('POST', databases, manifest(name))));
    for await (const line of createInterface(watch)) {
      const { object } = JSON.parse(line) as { object: { metadata: { name: string }; status?: { conditions?: { type: string; status: string }[] } } };
      const isReady = object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
      if (isReady && waited.delete(object.metadata.name)) times.push((performance.now() - start) / 1000);
      if (waited.size === 0) break;
    }
  } finally {
    ending.abort();
    watch.on('error', () => undefined).destroy();
  }
  await Promise.all(names.map((name) => api.demand('DELETE', `${databases}/${name}`)));
  while ((await api.demand<{ items: object[] }>('GET', databases)).items.length > 0) await sleep(500);
  // What their end has set off should not be measured with the next ones.
  await sleep(5_000);
  return times;
}

function manifest(name: string): object {
  const resources = { requests: { cpu: '10m', memory: '128Mi' } };
  return { apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', deletionPolicy: 'Delete', resources, ...sick[name] } };
}

/** The report as a table. */
export function neighboursTable({ rounds }: NeighboursReport): TextTable {
  const last = (times: readonly number[]): number => Math.max(...times);
  const middle = (times: readonly number[]): number => spreadOf(times).median;
  const row = (title: string, of: (times: readonly number[]) => number): string[] => [
    title,
    ...(['alone', 'beside'] as const).map((company) => spreadText(spreadOf(rounds.map((round) => of(round[company]))), 1)),
    spreadText(spreadOf(rounds.map(({ alone, beside }) => of(beside) / of(alone))), 2),
  ];
  return {
    title: 'Fifteen MySQLs made at once on one node: seconds to Ready',
    rows: [['', 'alone', 'beside five that can’t start', 'ratio'], row('the middle one', middle), row('the last one', last)],
  };
}
