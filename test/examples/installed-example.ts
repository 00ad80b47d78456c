import { join } from 'node:path';
import type { TestCluster } from '../support/test-cluster';
import { waitFor } from '../support/wait-for';

/** Installs an example as its README says: one `kubectl apply -f`, the operator from the one image; resolves when it leads. */
export async function installExample(cluster: TestCluster, name: string): Promise<void> {
  await cluster.demandOwn('images').loadOperator();
  await cluster.kubectl(`apply --server-side -f ${manifest(name, 'install')}`);
  await waitFor(cluster, { apiVersion: 'apps/v1', resource: 'deployments', namespace: name, name }, (seen) => seen?.status?.availableReplicas === seen?.spec.replicas, { what: 'the operator', withinMs: 120_000 });
}

/** The path of a manifest that an example's dist/ holds. */
export function manifest(example: string, file: string): string {
  return join(__dirname, '..', '..', 'examples', example, 'dist', `${file}.yaml`);
}
