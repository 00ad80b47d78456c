import { randomBytes } from 'node:crypto';
import { Database } from '../../src/api/database';
import { DatabaseBackup } from '../../src/api/database-backup';
import { OperatorDeployment, type OperatorDeploymentProps } from '../../src/constructs/operator-deployment';
import type { KubeObject } from '../../src/kind/resource';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { rendered } from './render';

let cluster: TestCluster;
let namespace: string;
let watched: string;
/** Roles of this test alone: others install an operator of the usual name in the same cluster. */
const everywhere = `everywhere-${randomBytes(4).toString('hex')}`;
const limited = `limited-${randomBytes(4).toString('hex')}`;
let rights: KubeObject[];

const operator = (props: OperatorDeploymentProps) => rendered((chart) => new OperatorDeployment(chart, 'operator', { namespace, createNamespace: false, ...props }));
const yaml = (objects: readonly object[]) => objects.map((object) => JSON.stringify(object)).join('\n---\n');

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  watched = await makeNamespace(cluster);
  await cluster.apply(Database.crd(), DatabaseBackup.crd());
  const all = [...operator({ name: everywhere }), ...operator({ name: limited, watchNamespaces: [watched] })];
  rights = all.filter(({ kind }) => kind.includes('Role') || kind === 'ServiceAccount');
  await cluster.apply(...rights);
}, firstUpTimeoutMs);

afterAll(async () => {
  await cluster.kubectl('delete -f -', yaml(rights));
  await removeNamespace(cluster, watched);
  await removeNamespace(cluster, namespace);
  cluster.close();
});

test('the API server takes every manifest under strict validation, and a namespace of Pod Security "restricted" has nothing to warn of', async () => {
  await cluster.kubectl(`label namespace ${namespace} pod-security.kubernetes.io/warn=restricted pod-security.kubernetes.io/enforce=restricted`);
  const { code, stderr } = await cluster.tryKubectl('apply --server-side --dry-run=server --validate=strict --warnings-as-errors -f -', yaml(operator({})));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('the namespace that comes with the operator is restricted', async () => {
  const created = rendered((chart) => new OperatorDeployment(chart, 'operator')).filter(({ kind }) => kind === 'Namespace');
  expect(created[0]?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  expect((await cluster.tryKubectl('apply --dry-run=server --validate=strict -f -', yaml(created))).code).toBe(0);
});

const may = async (account: string, what: string) => (await cluster.tryKubectl(`auth can-i ${what} --as system:serviceaccount:${namespace}:${account}`)).stdout.trim();

test.each<[string, string]>([
  ['patch databases.dbop.dev/status -n default', 'yes'],
  ['watch databases.dbop.dev --all-namespaces', 'yes'],
  ['create databasebackups.dbop.dev -n default', 'yes'],
  ['create statefulsets.apps -n default', 'yes'],
  ['delete databases.dbop.dev -n default', 'no'],
  ['delete pods -n default', 'no'],
  ['create pods/exec -n default', 'no'],
  ['get nodes', 'no'],
  ['delete namespaces', 'no'],
  ['create clusterroles.rbac.authorization.k8s.io', 'no'],
  ['get leases.coordination.k8s.io/another -n default', 'no'],
])('the operator of all namespaces: %s? %s', async (what, answer) => {
  expect(await may(everywhere, what)).toBe(answer);
});

test('an operator may renew its own Lease in its own namespace and no other', async () => {
  expect(await may(everywhere, `patch leases.coordination.k8s.io/${everywhere} -n ${namespace}`)).toBe('yes');
  expect(await may(everywhere, `patch leases.coordination.k8s.io/another -n ${namespace}`)).toBe('no');
});

test('an operator limited to a namespace reads Secrets there and nowhere else', async () => {
  expect(await may(limited, `list secrets -n ${watched}`)).toBe('yes');
  expect(await may(limited, `list secrets -n ${namespace}`)).toBe('no');
  expect(await may(limited, 'list secrets --all-namespaces')).toBe('no');
  expect(await may(limited, 'list databases.dbop.dev --all-namespaces')).toBe('no');
});
