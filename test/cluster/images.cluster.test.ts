import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 1 });
  await cluster.ensureImages('mysql:9.7', 'postgres:15');
  namespace = await makeNamespace(cluster, { 'pod-security.kubernetes.io/enforce': 'restricted' });
}, firstUpTimeoutMs);

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  cluster.close();
});

/** What a command says in a pod that has no rights at all. */
async function say(name: string, image: string, command: string[]): Promise<string> {
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ name: 'main', image, command, securityContext, volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }] }],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  });
  const pod = await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name }, (object) => ['Succeeded', 'Failed'].includes(object?.status?.phase), { what: 'the end', withinMs: 120_000 });
  const said = await cluster.kubectl(`logs -n ${namespace} ${name}`);
  expect(`${pod.status.phase}: ${said}`).toMatch(/^Succeeded/);
  return said;
}

test.each(['mysql:9.7', 'mysql:8.0', 'mysql:5.7'])('%s runs MySQL 9.7', async (image) => {
  expect(await say(`v${image.replace(/[:.]/g, '-')}`, image, ['mysqld', '--version'])).toContain('Ver 9.7');
}, 130_000);

test('MySQL makes a data directory and answers a query, without root and with a read-only file system', async () => {
  const script = `
    mysqld --no-defaults --initialize-insecure --datadir=/tmp/data --secure-file-priv=NULL &&
    mysqld --no-defaults --datadir=/tmp/data --secure-file-priv=NULL --socket=/tmp/s --mysqlx=OFF --pid-file=/tmp/p --port=3306 &
    for i in $(seq 60); do mysql --no-defaults -uroot -S /tmp/s -Ne "select 'answer', 6*7" 2>/dev/null && exit 0; sleep 1; done; exit 1`;
  expect(await say('mysql-answers', 'mysql:9.7', ['sh', '-c', script])).toContain('answer\t42');
}, 130_000);

test.each(['postgres:15', 'postgres:15.3', 'postgres:14.2'])('%s runs PostgreSQL 15', async (image) => {
  expect(await say(`v${image.replace(/[:.]/g, '-')}`, image, ['postgres', '--version'])).toContain('PostgreSQL) 15');
}, 130_000);

test('PostgreSQL makes a data directory and answers a query, without root and with a read-only file system', async () => {
  const script = `
    initdb -D /tmp/data >/dev/null && pg_ctl -D /tmp/data -o '-k /tmp' -w -l /tmp/log start >/dev/null &&
    psql -h /tmp postgres -Atc "select 'answer', 6*7"`;
  expect(await say('postgres-answers', 'postgres:15', ['sh', '-c', script])).toContain('answer|42');
}, 130_000);
