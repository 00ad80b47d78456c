import { dirname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { Cluster } from './cluster';
import { ClusterFolder } from './clusterState';
import { TerminalProgress } from './progress';
import { programs } from './programs';

const progress = new TerminalProgress();

const cli = new Command('cluster').description('A real Kubernetes cluster on this machine, for tests, demos and benchmarks.').showHelpAfterError();

cli
  .command('up')
  .description('start a cluster, repair it, or give it more nodes')
  .option('--name <name>', 'which cluster', 'dev')
  .option('--nodes <count>', 'how many nodes: 0 is a control plane only', count, 0)
  .action(async ({ name, nodes }: { name: string; nodes: number }) => {
    const cluster = new Cluster(name, progress);
    await cluster.up(nodes);
    const { kubectl } = await programs(['kubectl'], progress);
    console.log(`Cluster '${name}' is up. To use it:\n  export KUBECONFIG=${cluster.kubeconfig()}\n  export PATH=${dirname(kubectl)}:$PATH`);
  });

cli
  .command('down')
  .description('stop a cluster and remove everything of it')
  .option('--name <name>', 'which cluster', 'dev')
  .option('--all', 'every cluster on this machine')
  .action(async ({ name, all }: { name: string; all?: boolean }) => {
    for (const one of all ? ClusterFolder.names() : [name]) {
      await progress.step(`removing cluster '${one}'`, '1 s', () => new Cluster(one, progress).down());
    }
  });

cli
  .command('status')
  .description('what runs, of one cluster or of all')
  .option('--name <name>', 'which cluster')
  .action(({ name }: { name?: string }) => {
    const names = name === undefined ? ClusterFolder.names() : [name];
    if (names.length === 0) console.log('There is no cluster.');
    for (const one of names) console.log(describe(one));
  });

cli
  .command('kubeconfig')
  .description("print the path of the administrator's kubeconfig")
  .option('--name <name>', 'which cluster', 'dev')
  .action(({ name }: { name: string }) => console.log(new Cluster(name, progress).kubeconfig()));

cli.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

function describe(name: string): string {
  const status = new Cluster(name, progress).status();
  if (!status) return `${name}: not there`;
  const parts = Object.entries(status.daemons).map(([daemon, state]) => `  ${daemon.padEnd(24)} ${state}`);
  return [`${name}: ${status.nodes} nodes, ${status.server}`, ...parts].join('\n');
}

function count(text: string): number {
  if (!/^[0-2]$/.test(text)) throw new InvalidArgumentError('It is 0, 1 or 2.');
  return Number(text);
}
