import { spawn } from 'node:child_process';
import { programs } from '../../cluster/programs';
import { silent } from '../../cluster/progress';
import { lines } from '../support/lines';
import { describeOfOwn, firstUpTimeoutMs, ownCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installExample, manifest } from './installed-example';

/** R1, beside what its README walks through: `databases.example.com/v1`. A cluster of its own, so that `db` means no other kind. */
describeOfOwn('the simple claim', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await ownCluster({ nodes: 1 });
    await cluster.kubectl(`apply --server-side -f ${manifest('example-com-database', 'install')}`);
    await cluster.kubectl('scale deployment example-com-database -n example-com-database --replicas 0');
    await cluster.kubectl('wait --for condition=established --timeout=30s crd/databases.example.com');
    await apply('mysql-dev', { version: '8.0', size: '1Gi' });
    await installExample(cluster, 'example-com-database');
  }, firstUpTimeoutMs);

  afterAll(() => cluster?.remove(), 120_000);

  const becomes = <T extends AnyObject | undefined = AnyObject>(name: string, what: string, isSo: (object: AnyObject | undefined) => boolean) =>
    waitFor<T>(cluster, { apiVersion: 'example.com/v1', resource: 'databases', namespace: 'default', name }, isSo, { what, withinMs: 180_000 });
  const apply = (name: string, spec: object) => cluster.apply({ apiVersion: 'example.com/v1', kind: 'Database', metadata: { name, namespace: 'default' }, spec });
  const leader = () => cluster.kubectl('get lease example-com-database -n example-com-database -o jsonpath={.spec.holderIdentity}');
  const readyOf = (object: AnyObject | undefined) => object?.status?.conditions?.find(({ type }: { type: string }) => type === 'Ready');

  it('picks up an object that was there before the operator', async () => {
    await becomes('mysql-dev', 'Running', (seen) => seen?.status?.phase === 'Running');
  }, 200_000);

  it('is led by one of two operators, and the loss of that one never shows in a status', async () => {
    const { kubectl } = await programs(['kubectl'], silent);
    const watch = spawn(kubectl, ['get', 'db', 'mysql-dev', '-w', '-o', 'jsonpath={.status.phase} {.status.conditions[0].status}{"\\n"}'], { env: { ...process.env, KUBECONFIG: cluster.kubeconfig }, stdio: ['ignore', 'pipe', 'inherit'] });
    const seen: string[] = [];
    const ended = (async () => {
      for await (const line of lines(watch.stdout)) seen.push(line);
    })();
    const before = await leader();
    const { items } = JSON.parse(await cluster.kubectl('get pods -n example-com-database -o json')) as { items: AnyObject[] };
    // Those from before the Deployment was scaled may still be on their way out.
    const pods = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name);
    expect(pods).toHaveLength(2);
    const leading = pods.find((pod) => before.startsWith(pod))!;
    await cluster.kubectl(`delete pod ${leading} -n example-com-database --wait=false`);
    await waitFor(cluster, { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'example-com-database', name: 'example-com-database' }, (lease) => !['', before].includes(lease?.spec.holderIdentity ?? ''), { what: 'another leader', withinMs: 60_000 });
    // The new leader is at work once it has answered a new object.
    await apply('mysql-next', { version: '0.0', size: '1Gi' });
    await becomes('mysql-next', 'an answer', (object) => object?.status?.phase !== undefined);
    watch.kill();
    await ended;
    expect(new Set(seen)).toEqual(new Set(['Running True']));
  }, 200_000);

  it('tells in a condition and in an Event what a deletion waits for, and goes on by itself', async () => {
    const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['sleep', '1000'], volumeMounts: [{ name: 'data', mountPath: '/data' }] }], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-mysql-dev-0' } }] };
    await cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'curious', namespace: 'default' }, spec: { ...pod, terminationGracePeriodSeconds: 0 } });
    await cluster.kubectl('wait pod/curious --for=condition=Ready --timeout=60s');
    await cluster.kubectl('delete db mysql-dev --wait=false');
    const waiting = await becomes('mysql-dev', 'the volume is waited for', (object) => readyOf(object)?.reason === 'VolumeReleasing');
    expect(readyOf(waiting).message).toBe('waits for volume data-mysql-dev-0 to be given back; whatever pod still uses it must go first: kubectl describe pvc data-mysql-dev-0');
    await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: 'mysql-dev-0' }, (object) => object === undefined, { what: 'its end' });
    expect(await cluster.kubectl('get events --field-selector involvedObject.name=mysql-dev,reason=VolumeReleasing')).toContain('must go first');
    await cluster.kubectl('delete pod curious');
    await becomes<undefined>('mysql-dev', 'its end', (object) => object === undefined);
  }, 200_000);
});
