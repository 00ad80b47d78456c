import { dirname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { Cluster } from './cluster';
import { ClusterFolder } from './cluster-state';
import { ensureImages, imageNames } from './images/images';
import { checkMachine } from './machine';
import { TerminalProgress } from './progress';
import { programNames, programs } from './programs';

const progress = new TerminalProgress();

/** The variable that tests know too: who sets it works on that cluster. */
const usual = process.env['DBOP_CLUSTER'] ?? 'dev';

const cli = new Command('cluster').description('A real Kubernetes cluster on this machine, for tests, demos and benchmarks.').showHelpAfterError();

cli
  .command('up')
  .description('start a cluster, repair it, or give it more nodes')
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .option('--nodes <count>', 'how many nodes: 0 is a control plane only', count, 0)
  .option('--images <names>', 'images to make, separated by commas, for example mysql:9.7,postgres:17', list, [])
  .action(async ({ name, nodes, images }: { name: string; nodes: number; images: string[] }) => {
    const cluster = new Cluster(name, progress);
    await cluster.up(nodes);
    await cluster.ensureImages(images);
    console.log(`Cluster '${name}' is up. To use it:\n${(await environmentOf(cluster)).map((line) => `  ${line}\n`).join('')}`);
  });

cli
  .command('env')
  .description("print what points a shell to the cluster: eval \"$(npm run --silent cluster -- env)\"")
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .action(async ({ name }: { name: string }) => console.log((await environmentOf(new Cluster(name, progress))).join('\n')));

cli
  .command('down')
  .description('stop a cluster and remove everything of it')
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
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
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .action(({ name }: { name: string }) => console.log(new Cluster(name, progress).kubeconfig()));

const node = cli.command('node').description('let a node fail, and bring it back');

node
  .command('stop <node>')
  .description('end the node and its pods at once, as a power failure would')
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .action(async (which: string, { name }: { name: string }) => (await new Cluster(name, progress).node(which)).stop());

node
  .command('cut <node>')
  .description('take the node off the network; its pods go on running')
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .action(async (which: string, { name }: { name: string }) => (await new Cluster(name, progress).node(which)).cut());

node
  .command('start <node>')
  .description('start a stopped node, or plug a cut one in again')
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .action(async (which: string, { name }: { name: string }) => {
    await progress.step(`starting ${which}`, '6 s', () => new Cluster(name, progress).startNode(which));
  });

cli
  .command('images [names...]')
  .description('make images that pods can ask for; without names, list them')
  .action(async (names: string[]) => {
    if (names.length > 0) await ensureImages(names, progress);
    else for (const { name, really } of imageNames()) console.log(`${name.padEnd(28)} ${really}`);
  });

cli
  .command('build')
  .description('build all that clusters are made of, ahead of the first one: programs, file systems, images')
  .action(async () => {
    // One uses the processors, the other mostly waits for packages.
    await Promise.all([programs(programNames, progress), ensureImages(imageNames().map(({ name }) => name), progress)]);
  });

cli
  .command('load-operator')
  .description("build the operator's image from the sources and bring it into the cluster")
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .action(async ({ name }: { name: string }) => {
    console.log(`${await new Cluster(name, progress).loadOperator()} is in cluster '${name}'; pods that run already keep the old one until they are restarted.`);
  });

cli
  .command('load-image <name> <folder>')
  .description("build a folder's Dockerfile and bring the image into the cluster under that name")
  .option('--name <name>', 'which cluster (env DBOP_CLUSTER)', usual)
  .action(async (image: string, folder: string, { name }: { name: string }) => {
    await new Cluster(name, progress).loadImage(image, folder);
    console.log(`${image} is in cluster '${name}'.`);
  });

cli
  .command('check')
  .description('say whether this machine can host a cluster; if not, why, with exit code 1')
  .option('--nodes <count>', 'of how many nodes', count, 0)
  .action(async ({ nodes }: { nodes: number }) => {
    await checkMachine(nodes);
    console.log(`This machine can host a cluster ${nodes === 0 ? 'without nodes' : `of ${nodes} nodes`}.`);
  });

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

/** The lines that let a shell find the cluster, and a kubectl of its version. */
async function environmentOf(cluster: Cluster): Promise<string[]> {
  const { kubectl } = await programs(['kubectl'], progress);
  return [`export KUBECONFIG=${cluster.kubeconfig()}`, `export PATH=${dirname(kubectl)}:$PATH`];
}

function list(text: string): string[] {
  return text.split(',').filter(Boolean);
}

function count(text: string): number {
  if (!/^[0-2]$/.test(text)) throw new InvalidArgumentError('It is 0, 1 or 2.');
  return Number(text);
}
