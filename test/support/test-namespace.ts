import { randomBytes } from 'node:crypto';
import type { TestCluster } from './test-cluster';

/**
 * A namespace of a test's own, with a name no other test has.
 * Removed by `removeNamespace`, without waiting: the cluster outlives the test.
 */
export async function makeNamespace(cluster: TestCluster, labels: Record<string, string> = {}): Promise<string> {
  const name = `test-${randomBytes(4).toString('hex')}`;
  await cluster.api.demand('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  return name;
}

export async function removeNamespace(cluster: TestCluster, name: string): Promise<void> {
  await cluster.api.request('DELETE', `/api/v1/namespaces/${name}`);
}
