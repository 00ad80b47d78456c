import { firstUpTimeoutMs, ownCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installExample, manifest } from './installed-example';

/** R1, as its users type it: `databases.example.com/v1`. A cluster of its own, so that `db` means no other kind. */
describe('the simple claim', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await ownCluster({ nodes: 1 });
    // Objects that are there before the operator are picked up.
    await cluster.kubectl(`apply --server-side -f ${manifest('example-com-database', 'install')}`);
    await cluster.kubectl('scale deployment example-com-database -n example-com-database --replicas 0');
    await cluster.kubectl('wait --for condition=established --timeout=30s crd/databases.example.com');
    await cluster.kubectl(`apply -f ${manifest('example-com-database', 'databases')}`);
    await installExample(cluster, 'example-com-database');
  }, firstUpTimeoutMs);

  afterAll(() => cluster?.remove(), 120_000);

  const becomes = (name: string, what: string, isSo: (object: AnyObject | undefined) => boolean, withinMs = 300_000) =>
    waitFor(cluster, { apiVersion: 'example.com/v1', resource: 'databases', namespace: 'default', name }, isSo, { what, withinMs });
  const apply = (name: string, spec: object) => cluster.tryKubectl('apply -f -', JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Database', metadata: { name, namespace: 'default' }, spec }));

  it('refuses a wrong type or pattern with a message that names the field', async () => {
    expect((await apply('bad', { version: '8.0', size: 'huge' })).stderr).toContain('spec.size');
    expect((await apply('bad', { version: 8, size: '1Gi' })).stderr).toContain('spec.version');
    expect((await apply('bad', { size: '1Gi' })).stderr).toContain('spec.version');
  }, 60_000);

  it('runs three databases of one file side by side, PostgreSQL by name and else MySQL', async () => {
    for (const name of ['postgres-prod', 'mysql-dev', 'postgres-stage']) await becomes(name, 'Running', (seen) => seen?.status?.phase === 'Running');
    const table = await cluster.kubectl('get db');
    expect(table).toMatch(/NAME +VERSION +SIZE +PHASE +AGE/);
    expect(table).toMatch(/mysql-dev +8\.0 +3Gi +Running/);
    expect(table).toMatch(/postgres-prod +15\.3 +5Gi +Running/);
    const pods = await cluster.kubectl('get pods -l app=database -o jsonpath={.items[*].metadata.labels.database-name}');
    expect(pods.split(' ').sort()).toEqual(['mysql-dev', 'postgres-prod', 'postgres-stage']);
    const pod = await cluster.kubectl('get pod mysql-dev-0 -o json');
    expect(JSON.parse(pod).spec.containers[0].resources).toEqual({ requests: { memory: '256Mi', cpu: '100m' }, limits: { memory: '512Mi', cpu: '500m' } });
    expect(pod).not.toMatch(/password"?: *"[^"]/i);
    const children = await cluster.kubectl('get statefulset,service,pvc,configmap,secret,cronjob -l app.kubernetes.io/instance=mysql-dev -o jsonpath={.items[*].kind}');
    expect([...new Set(children.split(' '))].sort()).toEqual(['ConfigMap', 'CronJob', 'PersistentVolumeClaim', 'Secret', 'Service', 'StatefulSet']);
  }, 400_000);

  it('tells why a database cannot start, without delaying another, and heals', async () => {
    await apply('mysql-huge', { version: '0.0', size: '1Gi' });
    const failed = await becomes('mysql-huge', 'Failed', (seen) => seen?.status?.phase === 'Failed');
    expect(failed.status.message).toContain('mysql:0.0');
    const events = await cluster.kubectl('get events --field-selector involvedObject.name=mysql-huge,involvedObject.kind=Database');
    expect(events).toMatch(/ErrImagePull|ImagePullBackOff/);
    expect(await cluster.kubectl('get db mysql-dev -o jsonpath={.status.phase}')).toBe('Running');
    await cluster.kubectl('delete db mysql-huge --timeout=120s');
  }, 400_000);

  it('removes the children of one that is deleted, and no other', async () => {
    await cluster.kubectl('delete db postgres-stage --timeout=180s');
    expect(await cluster.kubectl('get statefulset,service,configmap,secret,cronjob -l app.kubernetes.io/instance=postgres-stage -o name')).toBe('');
    expect(await cluster.kubectl('get db -o jsonpath={.items[*].metadata.name}')).toBe('mysql-dev postgres-prod');
  }, 240_000);
});
