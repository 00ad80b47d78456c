import { controllers } from '../../src/operator';
import { DatabaseCrd } from '../../src/constructs/database-crd';
import { packageVersion } from '../../src/kind/package-version';
import { Client, createLog, findCluster, Manager, render } from '../../src/runtime';
import type { TestCluster } from '../support/test-cluster';

/** An operator that runs in this process and looks after one namespace. */
export interface RunningOperator {
  stop(): Promise<void>;
}

/** Installs our CRDs; safe to call from several tests at once. */
export async function installCrds(cluster: TestCluster): Promise<void> {
  const crds = render((chart) => new DatabaseCrd(chart, 'crds'));
  await cluster.kubectl('apply --server-side --force-conflicts -f -', crds.map((crd) => JSON.stringify(crd)).join('\n---\n'));
  await cluster.kubectl('wait --for condition=established --timeout=30s crd/databases.dbop.dev crd/databasebackups.dbop.dev');
}

/**
 * Starts our operator as `dbop run` does on a laptop: SQL goes through port-forwards.
 * @param kubeconfig such as a fault proxy's
 */
export async function startOperator(cluster: TestCluster, namespace: string, options: { kubeconfig?: string; image?: string } = {}): Promise<RunningOperator> {
  const client = new Client(await findCluster({ kubeconfig: options.kubeconfig ?? cluster.kubeconfig }));
  const stop = new AbortController();
  const manager = new Manager({
    name: 'dbop',
    client,
    namespaces: [namespace],
    controllers: controllers({ client, manager: 'dbop', inCluster: false, storeImage: options.image ?? `cdk8s-database-operator:${packageVersion}` }),
    log: createLog({ level: process.env['DBOP_TEST_LOG'] === undefined ? 'fatal' : 'debug' }),
  });
  const running = manager.run(stop.signal);
  return {
    async stop() {
      stop.abort(new Error('the test ends'));
      await running;
      await client.close();
    },
  };
}
