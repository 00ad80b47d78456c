import { Cluster } from '../../cluster/cluster';
import { run, tryRun } from '../../cluster/command';
import { TerminalProgress } from '../../cluster/progress';
import { programs } from '../../cluster/programs';
import { Client } from '../../src/runtime/client';
import { findCluster } from '../../src/runtime/find-cluster';
import { splitWords } from '../../test/support/words';

/** The cluster on which the demo plays. */
export interface Place {
  readonly client: Client;
  readonly kubeconfig: string;
  /** A cluster of the demo's own, which it may remove. */
  readonly own: boolean;
  /** As a user types it, without the word kubectl. */
  kubectl(line: string, input?: string): Promise<string>;
  remove(): Promise<void>;
}

/** The demo's own cluster with one node, made if need be, with the images that it wants. */
export async function ownPlace(images: readonly string[]): Promise<Place> {
  const progress = new TerminalProgress();
  const cluster = new Cluster('demo', progress);
  if (cluster.status() !== undefined) await progress.step('removing the cluster of the last demo', '2 s', () => cluster.down());
  await cluster.up(1);
  await cluster.ensureImages(images);
  await cluster.loadOperator();
  const { kubectl } = await programs(['kubectl'], progress);
  return place(cluster.kubeconfig(), kubectl, () => cluster.down());
}

/** Somebody's cluster; it has to find the images by itself. */
export async function givenPlace(kubeconfig: string): Promise<Place> {
  const found = await tryRun('which', ['kubectl']);
  if (found.code !== 0) throw new Error('there is no kubectl on PATH; install one of your cluster’s version');
  return place(kubeconfig, found.stdout.trim(), undefined);
}

async function place(kubeconfig: string, program: string, down: (() => Promise<void>) | undefined): Promise<Place> {
  const client = new Client(await findCluster({ kubeconfig }), { userAgent: 'dbop-demo' });
  return {
    client,
    kubeconfig,
    own: down !== undefined,
    kubectl: (line, input) => run(program, splitWords(line), { env: { KUBECONFIG: kubeconfig }, input }),
    remove: async () => {
      await client.close();
      await down?.();
    },
  };
}
