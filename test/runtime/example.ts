import type { Kind } from '../../src/kind/define-kind';
import type { Controller } from '../../src/runtime';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { install, Rig } from './rig';

/** An example's operator at work in a namespace of its own. */
export interface Operator {
  readonly cluster: TestCluster;
  readonly namespace: string;
  readonly rig: Rig;
  end(): Promise<void>;
}

/** Starts the operator of an example; `everywhere` lets it see all namespaces. */
export async function operatorOf(name: string, controllers: readonly Controller[], kind: Kind, options: { everywhere?: boolean } = {}): Promise<Operator> {
  const cluster = await sharedCluster({ nodes: 0 });
  await install(cluster, kind);
  const namespace = await makeNamespace(cluster);
  const rig = await Rig.start(cluster, controllers, { name, namespaces: options.everywhere === true ? undefined : [namespace] });
  return {
    cluster,
    namespace,
    rig,
    async end() {
      await rig.stop();
      await removeNamespace(cluster, namespace);
      cluster.close();
    },
  };
}

/** How long starting may take on a new machine. */
operatorOf.timeoutMs = firstUpTimeoutMs;
