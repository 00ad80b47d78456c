import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from '../cluster/api-server';
import { Cluster } from '../cluster/cluster';
import { run } from '../cluster/command';
import type { Node } from '../cluster/node/node';
import { programs } from '../cluster/programs';
import type { Progress } from '../cluster/progress';

/** The cluster's name, and that of the namespace in which databases are made. */
export const namespace = 'bench-life';

const manifests = join(__dirname, '..', 'dist');

/** Works on a cluster of its own, of one node, with the operator as its manifests install it, and removes all of it. */
export async function withInstalledOperator<T>(images: readonly string[], progress: Progress, work: (api: ApiServer, node: Node) => Promise<T>): Promise<T> {
  const cluster = new Cluster(namespace, progress);
  await cluster.down();
  try {
    await cluster.up(1);
    await cluster.ensureImages(images);
    await cluster.loadOperator();
    await install(cluster, progress);
    const api = ApiServer.fromKubeconfig(cluster.kubeconfig());
    try {
      await api.demand('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
      return await work(api, await cluster.node('node1'));
    } finally {
      api.close();
    }
  } finally {
    await cluster.down();
  }
}

async function install(cluster: Cluster, progress: Progress): Promise<void> {
  const { kubectl } = await programs(['kubectl'], progress);
  const type = (...args: string[]): Promise<string> => run(kubectl, args, { env: { KUBECONFIG: cluster.kubeconfig() } });
  await type('apply', '--server-side', '-f', join(manifests, 'crds.yaml'), '-f', join(manifests, 'operator.yaml'));
  await type('wait', '--for=condition=established', '--timeout=30s', 'crd/databases.dbop.dev');
  await type('rollout', 'status', 'deployment/dbop', '-n', 'dbop-system', '--timeout=120s');
}

/** Deletes all databases, and returns when they are gone. */
export async function removeAll(api: ApiServer): Promise<void> {
  const databases = `/apis/dbop.dev/v1alpha1/namespaces/${namespace}/databases`;
  await api.demand('DELETE', databases);
  while ((await api.demand<{ items: object[] }>('GET', databases)).items.length > 0) await sleep(250);
}
