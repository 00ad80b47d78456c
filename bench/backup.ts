import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { Cluster } from '../cluster/cluster';
import { programs } from '../cluster/programs';
import { TerminalProgress } from '../cluster/progress';
import type { EngineName } from '../src/engines/engine';
import { DumpBench, type Rate } from './dump-rate';
import { thisMachine } from './report';
import { spreadOf, spreadText } from './statistics';

interface Flags {
  readonly size: number;
  readonly rounds: number;
  readonly cluster: string;
  readonly keep?: true;
}

const cli = new Command('bench-backup')
  .description('How fast our backup Job dumps, beside the engine’s own program and zstd in the same pod; each container with 256 MiB of memory.')
  .option('--size <MiB>', 'rows to dump', whole, 1024)
  .option('--rounds <count>', 'rounds, in each of which both have their turn', whole, 3)
  .option('--cluster <name>', 'cluster to use; made if it is not there', 'bench-backup')
  .option('--keep', 'leave the cluster running')
  .action(async (flags: Flags) => {
    const progress = new TerminalProgress();
    const { cpu, cores, loadBefore } = thisMachine();
    const cluster = new Cluster(flags.cluster, progress);
    await cluster.up(1);
    await cluster.ensureImages(['mysql:9.7', 'postgres:15']);
    const image = await cluster.loadOperator();
    const { kubectl } = await programs(['kubectl'], progress);
    const table = new Table({ head: ['', 'dump: ours, MiB/s', 'plain, MiB/s', 'ours / plain', 'dump and proof', 'restore'], style: { head: [], border: [] } });
    try {
      for (const engine of ['mysql', 'postgres'] as const) table.push(await measured(engine, new DumpBench(engine, { program: kubectl, kubeconfig: cluster.kubeconfig() }, image), flags, progress));
    } finally {
      if (!flags.keep) await cluster.down();
    }
    console.log(`\n${flags.size} MiB of rows, ${flags.rounds} rounds, ${cores} cores (${cpu}), load before the start ${loadBefore.toFixed(1)}; median, and in brackets the least and the most\n${table.toString()}`);
  });

cli.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

async function measured(engine: EngineName, bench: DumpBench, { size, rounds }: Flags, progress: TerminalProgress): Promise<string[]> {
  await progress.step(`filling ${engine}`, `${Math.ceil(size / 10)} s`, () => bench.prepare(size));
  const ours: Rate[] = [];
  const plain: Rate[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    // Whoever comes second finds warmer caches, so they take turns.
    const turns = [async () => ours.push(await bench.ours(`ours-${round}`)), async () => plain.push(await bench.plain(`plain-${round}`))];
    for (const turn of round % 2 === 1 ? turns : turns.reverse()) await progress.step(`round ${round} of ${engine}`, '30 s', turn);
  }
  const proof = await progress.step(`proving a backup of ${engine}`, '60 s', () => bench.proved('proved'));
  const restore = await progress.step(`restoring it`, '60 s', () => bench.restored('proved'));
  await bench.remove();
  // The plain one dumps one database, ours also accounts and the like; but a pipe tells nobody that its first program failed.
  for (const [index, one] of plain.entries()) if (one.bytes < 0.9 * ours[index]!.bytes) throw new Error(`the plain dump of ${engine} has only ${one.bytes} bytes; ours has ${ours[index]!.bytes}`);
  const ratios = ours.map((one, index) => speed(one) / speed(plain[index]!));
  return [engine, spreadText(spreadOf(ours.map(speed)), 0), spreadText(spreadOf(plain.map(speed)), 0), spreadText(spreadOf(ratios), 2), `${proof.seconds.toFixed(0)} s`, `${restore.seconds.toFixed(0)} s`];
}

function speed({ bytes, seconds }: Rate): number {
  return bytes / 1024 / 1024 / seconds;
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.');
  return Number(text);
}
