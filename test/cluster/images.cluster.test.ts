import { packageVersion } from '../../src/kind/package-version';
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

/** As database images are run: by number, whatever user the image names. */
const databaseUser = { runAsUser: 999, runAsGroup: 999 };

/** What a container says in a pod that has no rights at all. */
async function say(name: string, container: { image: string; command?: string[]; args?: string[] }, user: object = databaseUser): Promise<string> {
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, ...user, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ name: 'main', ...container, securityContext, volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }] }],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  });
  const pod = await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name }, (object) => ['Succeeded', 'Failed'].includes(object?.status?.phase), { what: 'the end', withinMs: 120_000 });
  const said = await cluster.kubectl(`logs -n ${namespace} ${name}`);
  expect(`${pod.status.phase}: ${said}`).toMatch(/^Succeeded/);
  return said;
}

test.each(['mysql:9.7', 'mysql:8.0', 'mysql:5.7'])('%s runs MySQL 9.7', async (image) => {
  expect(await say(`v${image.replace(/[:.]/g, '-')}`, { image, command: ['mysqld', '--version'] })).toContain('Ver 9.7');
}, 130_000);

test('MySQL makes a data directory and answers a query, without root and with a read-only file system', async () => {
  const script = `
    mysqld --no-defaults --initialize-insecure --datadir=/tmp/data --secure-file-priv=NULL &&
    mysqld --no-defaults --datadir=/tmp/data --secure-file-priv=NULL --socket=/tmp/s --mysqlx=OFF --pid-file=/tmp/p --port=3306 &
    for i in $(seq 60); do mysql --no-defaults -uroot -S /tmp/s -Ne "select 'answer', 6*7" 2>/dev/null && exit 0; sleep 1; done; exit 1`;
  expect(await say('mysql-answers', { image: 'mysql:9.7', command: ['sh', '-c', script] })).toContain('answer\t42');
}, 130_000);

test.each(['postgres:15', 'postgres:15.3', 'postgres:14.2'])('%s runs PostgreSQL 15', async (image) => {
  expect(await say(`v${image.replace(/[:.]/g, '-')}`, { image, command: ['postgres', '--version'] })).toContain('PostgreSQL) 15');
}, 130_000);

test('PostgreSQL makes a data directory and answers a query, without root and with a read-only file system', async () => {
  const script = `
    initdb -D /tmp/data >/dev/null && pg_ctl -D /tmp/data -o '-k /tmp' -w -l /tmp/log start >/dev/null &&
    psql -h /tmp postgres -Atc "select 'answer', 6*7"`;
  expect(await say('postgres-answers', { image: 'postgres:15', command: ['sh', '-c', script] })).toContain('answer|42');
}, 130_000);

test("the operator's image runs as its own user, without root and with a read-only file system, and says its version", async () => {
  const image = await cluster.loadOperator();
  expect(await say('operator', { image, args: ['--version'] }, {})).toBe(`${packageVersion}\n`);
}, 180_000);
