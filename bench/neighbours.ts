import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '../cluster/api-server';
import type { Progress } from '../cluster/progress';
import { birthsOf, operatorsPart, type Birth, type NewDatabase } from './database-birth';
import { namespace, removeAll, withInstalledOperator } from './installed-operator';
import type { Machine } from './report';
import { spreadOf, spreadText } from './statistics';
import type { TextTable } from './tables';

/** How long fifteen databases took to be Ready, alone and beside five that can't start. */
export interface NeighboursReport {
  readonly date: string;
  readonly machine: Machine;
  readonly rounds: readonly Readonly<Record<Company, readonly Birth[]>>[];
}

type Company = 'alone' | 'beside';

const healthy = Array.from({ length: 15 }, (_, index) => `healthy-${index}`);

/** What ails the others. */
const sick: Readonly<Record<string, object>> = {
  'sick-refused': { parameters: { server_id: '7' } },
  'sick-secret': { credentials: { secretName: 'nowhere' } },
  'sick-image': { image: 'no-such-image:1' },
  'sick-placed': { resources: { requests: { cpu: '1000' } } },
  // It ends at once, because there is no server in it: one that tried hard would take processors from the fifteen, which is no fault of the operator's.
  'sick-crashing': { image: 'busybox' },
};

/** Rounds in which both have their turn: what else the machine does then matters least. */
export function neighbours(rounds: number, progress: Progress): Promise<NeighboursReport['rounds']> {
  return withInstalledOperator(['mysql:9.7'], progress, async (api) => {
    await progress.step('the image comes to the node', '30 s', () => made(api, [healthy[0]!]));
    const measured: Record<Company, readonly Birth[]>[] = [];
    for (let round = 1; round <= rounds; round++) {
      const alone = await progress.step(`round ${round} of ${rounds}: fifteen alone`, '90 s', () => made(api, healthy));
      const beside = await progress.step(`round ${round} of ${rounds}: fifteen beside five sick`, '90 s', () => made(api, [...Object.keys(sick), ...healthy]));
      measured.push({ alone, beside });
    }
    return measured;
  });
}

/** Makes databases at once and removes them again. @returns how it went with each healthy one */
async function made(api: ApiServer, names: readonly string[]): Promise<Birth[]> {
  const births = await birthsOf(api, namespace, names.map(manifest), new Set(names.filter((name) => !(name in sick))));
  await removeAll(api);
  // What their end has set off should not be measured with the next ones.
  await sleep(5_000);
  return births;
}

function manifest(name: string): NewDatabase {
  // The volumes for backups outlive their databases: those of a former round would be searched for one.
  const restore = { policy: 'Never' };
  const resources = { requests: { cpu: '10m', memory: '128Mi' } };
  const spec = { engine: 'mysql', version: '9.7', size: '1Gi', deletionPolicy: 'Delete', restore, resources, ...sick[name] };
  return { apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name }, spec } as NewDatabase;
}

/** The report as a table. */
export function neighboursTable({ rounds }: NeighboursReport): TextTable {
  const last = (values: readonly number[]): number => Math.max(...values);
  const middle = (values: readonly number[]): number => spreadOf(values).median;
  const row = (title: string, of: (birth: Birth) => number, which: (values: readonly number[]) => number, digits: number): string[] => {
    const seconds = (births: readonly Birth[]): number => which(births.map((birth) => of(birth) / 1000));
    const companies = (['alone', 'beside'] as const).map((company) => spreadText(spreadOf(rounds.map((round) => seconds(round[company]))), digits));
    return [title, ...companies, spreadText(spreadOf(rounds.map(({ alone, beside }) => seconds(beside) / seconds(alone))), 2)];
  };
  const ready = (birth: Birth): number => birth.ready;
  return {
    title: 'Fifteen MySQLs made at once on one node: seconds to Ready',
    rows: [
      ['', 'alone', 'beside five that can’t start', 'ratio'],
      row('the middle one', ready, middle, 1),
      row('the last one', ready, last, 1),
      row('of that, the operator’s own part: the middle one', operatorsPart, middle, 2),
      row('of that, the operator’s own part: the longest', operatorsPart, last, 2),
    ],
  };
}
