import type { Writable } from 'node:stream';
import { controllers } from '../../src/operator';
import { DatabaseCrd } from '../../src/constructs/database-crd';
import { packageVersion } from '../../src/kind/package-version';
import { Client, createLog, findCluster, Manager, render, type Clock, type Metrics } from '../../src/runtime';
import type { TestCluster } from '../support/test-cluster';

/** An operator that runs in this process and looks after some namespaces. */
export interface RunningOperator {
  stop(): Promise<void>;
}

export interface RunningOperatorOptions {
  /** Such as a fault proxy's, or that of the operator's own account. @default the cluster's own */
  readonly kubeconfig?: string;
  readonly image?: string;
  /** @default dbop.dev */
  readonly group?: string;
  /** @default the machine's */
  readonly clock?: Clock;
  /** Where databases are measured. @default nowhere */
  readonly metrics?: Metrics;
  /** Name of a Lease in the first namespace to lead by. @default it leads without one */
  readonly lease?: string;
  /** Where it logs all it has to say. @default nowhere, or to the standard output where DBOP_TEST_LOG is set */
  readonly log?: Writable;
}

/** Installs our CRDs; safe to call from several tests at once. */
export async function installCrds(cluster: TestCluster, group = 'dbop.dev'): Promise<void> {
  const crds = render((chart) => new DatabaseCrd(chart, 'crds', { group }));
  await cluster.kubectl('apply --server-side --force-conflicts -f -', crds.map((crd) => JSON.stringify(crd)).join('\n---\n'));
  await cluster.kubectl(`wait --for condition=established --timeout=30s crd/databases.${group} crd/databasebackups.${group}`);
}

/** Starts our operator as `dbop run` does on a laptop: SQL goes through port-forwards. */
export async function startOperator(cluster: TestCluster, namespaces: string | readonly string[], options: RunningOperatorOptions = {}): Promise<RunningOperator> {
  const client = new Client(await findCluster({ kubeconfig: options.kubeconfig ?? cluster.kubeconfig }));
  const stop = new AbortController();
  const within = [namespaces].flat();
  const manager = new Manager({
    name: 'dbop',
    client,
    namespaces: within,
    controllers: controllers({ client, manager: 'dbop', inCluster: false, storeImage: options.image ?? `cdk8s-database-operator:${packageVersion}`, group: options.group, metrics: options.metrics }),
    election: options.lease === undefined ? undefined : { lease: { namespace: within[0], name: options.lease } },
    clock: options.clock,
    log: createLog({ level: options.log === undefined && process.env['DBOP_TEST_LOG'] === undefined ? 'fatal' : 'debug', to: options.log }),
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
