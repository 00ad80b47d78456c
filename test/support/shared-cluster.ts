import { randomBytes } from 'node:crypto';
import { Cluster } from '../../cluster/cluster';
import { tryRun } from '../../cluster/command';
import { programs } from '../../cluster/programs';
import { TerminalProgress } from '../../cluster/progress';
import { TestCluster } from './test-cluster';
import { nameInRun } from './test-run';

/** Long enough for a new machine, on which the first test pays for building Kubernetes. */
export const firstUpTimeoutMs = 25 * 60_000;

/** A cluster that somebody else has made. */
const given = process.env['DBOP_TEST_KUBECONFIG'];

/** For what only the test bed's own clusters have: nodes to stop, an audit log, an API server to restart, pods that nobody runs. Where another one is given, it is left out. */
export const testOfOwn = given ? test.skip : test;
export const describeOfOwn = given ? describe.skip : describe;

/**
 * The cluster that tests of this run share; the first one who asks starts it. One with nodes serves all of them, a control plane
 * those of one worker of jest: they come one after the other, and what they do to the kinds of a whole cluster meets nobody.
 *
 * - `DBOP_TEST_KUBECONFIG=file`: that cluster, whoever made it. It should be one that may be thrown away.
 * - `DBOP_CLUSTER=name`: the cluster of that name from `npm run cluster`, started or grown if need be, and left running.
 * - otherwise: one that is removed when the run ends.
 */
export async function sharedCluster(options: { nodes: 0 | 1 | 2 }): Promise<TestCluster> {
  if (given) return new TestCluster({ kubeconfig: given, kubectl: await kubectlFor(given) });
  return upAs(process.env['DBOP_CLUSTER'] ?? nameInRun(options.nodes === 0 ? `control-${process.env['JEST_WORKER_ID']}` : 'nodes'), options.nodes);
}

/**
 * A cluster that no other test sees, for tests that harm it: restart its API server, stop its nodes.
 * The caller removes it with `remove()`.
 */
export function ownCluster(options: { nodes: 0 | 1 | 2 }): Promise<TestCluster> {
  return upAs(nameInRun(randomBytes(3).toString('hex')), options.nodes);
}

async function upAs(name: string, nodes: number): Promise<TestCluster> {
  const progress = new TerminalProgress();
  const cluster = new Cluster(name, progress);
  await cluster.up(nodes);
  const { kubectl } = await programs(['kubectl'], progress);
  return new TestCluster({ kubeconfig: cluster.kubeconfig(), kubectl, own: cluster });
}

/** Who brings a cluster of their own usually brings a kubectl that fits it. */
async function kubectlFor(kubeconfig: string): Promise<string> {
  const found = await tryRun('which', ['kubectl']);
  if (found.code === 0) return found.stdout.trim();
  throw new Error(`DBOP_TEST_KUBECONFIG is ${kubeconfig}, but there is no kubectl; install one of the cluster's version`);
}
