import { firstUpTimeoutMs, sharedCluster, testOfOwn } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
}, firstUpTimeoutMs);

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  cluster.close();
});

test('kubectl works as a user types it', async () => {
  await cluster.kubectl(`create configmap greeting -n ${namespace} --from-literal 'text=two words'`);
  expect(await cluster.kubectl(`get configmap greeting -n ${namespace} -o jsonpath={.data.text}`)).toBe('two words');
});

test('a failing kubectl says why', async () => {
  await expect(cluster.kubectl(`get configmap nothing -n ${namespace}`)).rejects.toThrow('configmaps "nothing" not found');
});

testOfOwn('the audit log tells who did what', async () => {
  const log = cluster.auditLog();
  await cluster.kubectl(`create configmap audited -n ${namespace} --as system:serviceaccount:${namespace}:default`).catch(() => undefined);
  const [event] = log.eventsOf(`system:serviceaccount:${namespace}:default`).filter(({ verb }) => verb === 'create');
  expect(event).toMatchObject({ objectRef: { resource: 'configmaps', namespace }, responseStatus: { code: 403 }, annotations: { 'authorization.k8s.io/decision': 'forbid' } });
});

test('waiting sees a change by watch', async () => {
  const target = { apiVersion: 'v1', resource: 'configmaps', namespace, name: 'awaited' };
  const found = waitFor(cluster, target, (object) => object?.data?.['ready'] === 'yes', { what: 'ready', withinMs: 10_000 });
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'awaited', namespace }, data: { ready: 'no' } });
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'awaited', namespace }, data: { ready: 'yes' } });
  expect((await found).data).toEqual({ ready: 'yes' });
});

test('waiting in vain ends at the deadline with a dump of the namespace', async () => {
  const target = { apiVersion: 'apps/v1', resource: 'deployments', namespace, name: 'missing' };
  await expect(waitFor(cluster, target, (object) => object !== undefined, { what: 'existence', withinMs: 300 })).rejects.toThrow(
    /deployments\/missing in test-\w+: existence was not reached within 0.3 s.\nIt was not there.\n--- kubectl get pods[^]*--- kubectl get events/,
  );
});

test('a deleted namespace goes, with what is in it', async () => {
  const name = await makeNamespace(cluster);
  await cluster.kubectl(`create configmap inside -n ${name}`);
  await removeNamespace(cluster, name);
  await waitFor<undefined>(cluster, { apiVersion: 'v1', resource: 'namespaces', name }, (object) => object === undefined, { what: 'removal' });
}, 40_000);
