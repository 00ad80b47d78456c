import { readFileSync, writeFileSync } from 'node:fs';
import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { TerminalProgress } from '../cluster/progress';
import { benchmark, type BenchmarkOptions, type Measurements } from './benchmark';
import { writeDocs, writeLifeDocs, writeNeighboursDocs } from './docs';
import { births, lifeTable } from './life';
import { neighbours, neighboursTable } from './neighbours';
import { renderCost } from './render-cost';
import { thisMachine, type Report } from './report';
import { subjectIds, type SubjectId } from './subject';
import { tablesOf, type TextTable } from './tables';

interface Flags {
  readonly quick?: true;
  readonly objects?: number;
  readonly rounds?: number;
  readonly idle?: number;
  readonly only?: SubjectId[];
  readonly memory?: number[];
  readonly json?: string;
  readonly docs?: true;
  readonly from?: string;
}

const cli = new Command('bench')
  .description('What our runtime costs, against a floor, kopf and controller-runtime, all on one API server of its own.')
  // `life --rounds 2` is the rounds of life.
  .enablePositionalOptions()
  .option('--quick', '100 objects, one round, 5 s of idling; for trying out')
  .option('--objects <count>', 'objects with eight children each (default: 300)', whole)
  .option('--rounds <count>', 'rounds, in each of which every subject has its turn (default: 3)', whole)
  .option('--idle <seconds>', 'how long idling is watched (default: 20)', whole)
  .option('--only <subjects>', `some of ${subjectIds.join(',')}, or 'render' for none of them (default: all but go-1)`, chosen)
  .option('--memory <counts>', 'cold starts of our runtime over so many objects, such as 300,1000,3000', (text) => text.split(',').map(whole))
  .option('--json <file>', 'write all samples to this file')
  .option('--docs', 'write docs/bench.json, docs/bench.svg and the tables in docs/benchmarks.md')
  .option('--from <file>', 'measure nothing: use the samples that --json wrote')
  .action(async (flags: Flags) => {
    const report = flags.from === undefined ? await measured(flags) : (JSON.parse(readFileSync(flags.from, 'utf8')) as Report);
    tablesOf(report).forEach(print);
    if (flags.docs) writeDocs(report);
  });

cli
  .command('life')
  .description('How long a new database takes to be Ready, and who was waited for: on a node, with real servers and the operator as its manifests install it.')
  .option('--rounds <count>', 'databases of each engine, one after the other', whole, 5)
  .option('--docs', 'write docs/bench-life.json and the table in docs/benchmarks.md')
  .action(async ({ rounds, docs }: { rounds: number; docs?: true }) => {
    const about = { date: today(), machine: thisMachine() };
    const report = { ...about, births: await births(rounds, new TerminalProgress()) };
    print(lifeTable(report));
    if (docs) writeLifeDocs(report);
  });

cli
  .command('neighbours')
  .description('Whether fifteen databases are Ready later for five beside them that can’t start: on a node, with real servers and the operator as its manifests install it.')
  .option('--rounds <count>', 'rounds, in each of which they are made alone and beside the five', whole, 3)
  .option('--docs', 'write docs/bench-neighbours.json and the table in docs/benchmarks.md')
  .action(async ({ rounds, docs }: { rounds: number; docs?: true }) => {
    const about = { date: today(), machine: thisMachine() };
    const report = { ...about, rounds: await neighbours(rounds, new TerminalProgress()) };
    print(neighboursTable(report));
    if (docs) writeNeighboursDocs(report);
  });

cli.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

async function measured(flags: Flags): Promise<Report> {
  const defaults = flags.quick ? { objects: 100, rounds: 1, idleSeconds: 5 } : { objects: 300, rounds: 3, idleSeconds: 20 };
  const options: BenchmarkOptions = {
    objects: flags.objects ?? defaults.objects,
    rounds: flags.rounds ?? defaults.rounds,
    idleSeconds: flags.idle ?? defaults.idleSeconds,
    subjects: flags.only ?? ['floor', 'ours', 'kopf', 'go-10'],
    memory: flags.memory ?? [],
  };
  const about = { date: today(), machine: thisMachine(), objects: options.objects, idleSeconds: options.idleSeconds };
  // Before the control plane runs: its work would be measured too.
  const render = renderCost();
  const keep = (measurements: Measurements): Report => {
    const report: Report = { ...about, ...measurements, render };
    if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(report, undefined, 1)}\n`);
    return report;
  };
  return keep(await benchmark(options, new TerminalProgress(), keep));
}

function print({ title, rows }: TextTable): void {
  const [head = [], ...rest] = rows;
  const table = new Table({ head: [...head], colAligns: head.map((_, column) => (column === 0 ? 'left' : 'right')), style: { head: [], border: [] } });
  table.push(...rest.map((row) => [...row]));
  console.log(`\n${title}\n${table.toString()}`);
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.');
  return Number(text);
}

function chosen(text: string): SubjectId[] {
  if (text === 'render') return [];
  const ids = text.split(',');
  const wrong = ids.find((id) => !(subjectIds as readonly string[]).includes(id));
  if (wrong !== undefined) throw new InvalidArgumentError(`'${wrong}' is none of ${subjectIds.join(', ')}.`);
  return ids as SubjectId[];
}
