import { systemClock } from '../../src/runtime';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { deletionJob, endPod, podsOfJob, wellDone } from './pretended-pod';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  operator = await startOperator(cluster, namespace);
  await cluster.apply(database('orders', { restore: { policy: 'Never' } }));
  await waitFor(cluster, at('persistentvolumeclaims', 'orders-backups', 'v1'), (seen) => seen !== undefined, { what: 'the place of the backups' });
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const at = (resource: string, name: string, apiVersion = 'dbop.dev/v1alpha1') => ({ apiVersion, resource, namespace, name });
const object = (kind: string, name: string, spec: object) => ({ apiVersion: 'dbop.dev/v1alpha1', kind, metadata: { name, namespace }, spec });
const database = (name: string, spec: object = {}) => object('Database', name, { engine: 'mysql', version: '9.7', size: '1Gi', ...spec });
const ask = (name: string, of = 'orders') => cluster.apply(object('DatabaseBackup', name, { database: of }));
const ready = (seen: AnyObject | undefined) => seen?.status?.conditions?.find(({ type }: { type: string }) => type === 'Ready');
const job = (name: string) => waitFor(cluster, at('jobs', name, 'batch/v1'), (seen) => seen !== undefined, { what: 'the Job' });
const backup = (name: string, is: (seen: AnyObject) => boolean, what: string) => waitFor(cluster, at('databasebackups', name), (seen) => seen !== undefined && is(seen), { what });
const says = (name: string, reason: string) => backup(name, (seen) => ready(seen)?.reason === reason, reason);
const isGone = (name: string) => waitFor(cluster, at('databasebackups', name), (seen) => seen === undefined, { what: 'the end of the object' });
const remove = (name: string) => cluster.kubectl(`delete dbb ${name} -n ${namespace} --wait=false`);

async function take(name: string): Promise<void> {
  await ask(name);
  await endPod(cluster, namespace, name, wellDone.stored(name));
  await backup(name, ({ status }) => status?.phase === 'Succeeded', 'the backup');
}

describeOfOwn('the Job of a backup, on a cluster that runs no pods', () => {
  it('is not taken for the one that deletes the artifact of another', async () => {
    await take('foo');
    await take('foo-delete');
    const { uid } = (await job('foo-delete')).metadata;
    await remove('foo');
    await endPod(cluster, namespace, await deletionJob(cluster, namespace, 'foo'), wellDone.deleted('foo'));
    await isGone('foo');
    expect((await job('foo-delete')).metadata.uid).toBe(uid);
  }, 60_000);

  it('is its own also where a backup was deleted just now whose deletion has a similar name, or the same', async () => {
    const first = await deletionJob(cluster, namespace, 'foo-delete');
    await remove('foo-delete');
    await endPod(cluster, namespace, first, wellDone.deleted('foo-delete'));
    await isGone('foo-delete');
    await take('foo-delete');
    await remove('foo-delete');
    const second = await deletionJob(cluster, namespace, 'foo-delete');
    expect(second).not.toBe(first);
    await endPod(cluster, namespace, second, wellDone.deleted('foo-delete'));
    await isGone('foo-delete');
  }, 60_000);

  it('has a deletion beside it for the longest name that a backup may have', async () => {
    const name = `${'n'.repeat(46)}-${'m'.repeat(9)}`;
    await take(name);
    await remove(name);
    await endPod(cluster, namespace, await deletionJob(cluster, namespace, name), wellDone.deleted(name));
    await isGone(name);
  }, 60_000);

  it('is not the one of a restore: that is told, never read and never deleted, and the backup begins when it is gone', async () => {
    await cluster.apply(database('p1', { restore: { policy: 'Required', from: { database: 'orders' } } }));
    const { uid } = (await job('p1-restore')).metadata;
    await ask('p1-restore', 'p1');
    const told = await says('p1-restore', 'NotOurs');
    expect(told.status).toMatchObject({ phase: 'Pending', message: 'Job p1-restore was made for something else (restore of p1) and is left alone; ask for the backup by another name. This one begins when that Job is gone.' });
    await endPod(cluster, namespace, 'p1-restore', wellDone.restored('before'));
    await waitFor(cluster, at('databases', 'p1'), (seen) => seen?.status?.restored?.from === 'before', { what: 'the word of the restore' });
    await remove('p1-restore');
    await isGone('p1-restore');
    expect((await job('p1-restore')).metadata).toMatchObject({ uid });
    await ask('p1-restore', 'p1');
    await says('p1-restore', 'NotOurs');
    await cluster.kubectl(`delete job p1-restore -n ${namespace}`);
    await endPod(cluster, namespace, 'p1-restore', wellDone.stored('p1-restore'));
    await backup('p1-restore', ({ status }) => status?.phase === 'Succeeded', 'the backup');
  }, 90_000);

  it('is not begun while the database is hibernated, and is when it is awake', async () => {
    await cluster.kubectl(`patch db orders -n ${namespace} --type merge -p '{"spec":{"hibernated":true}}'`);
    await ask('asleep');
    const told = await says('asleep', 'Hibernated');
    expect(told.status).toMatchObject({ phase: 'Pending', message: 'Database orders is hibernated, and a backup needs its server; set spec.hibernated to false, and the backup is taken' });
    expect(await cluster.kubectl(`get job asleep -n ${namespace} --ignore-not-found -o name`)).toBe('');
    await cluster.kubectl(`patch db orders -n ${namespace} --type merge -p '{"spec":{"hibernated":false}}'`);
    await endPod(cluster, namespace, 'asleep', wellDone.stored('asleep'));
    await backup('asleep', ({ status }) => status?.phase === 'Succeeded' && status.message === 'stored asleep', 'the backup');
  }, 60_000);

  it('has a deletion that tells what keeps its pod from starting', async () => {
    await take('kept');
    await remove('kept');
    const deletion = await deletionJob(cluster, namespace, 'kept');
    const [pod] = await podsOfJob(cluster, namespace, deletion);
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'pod has unbound immediate PersistentVolumeClaims' };
    await cluster.kubectl(`patch pod ${pod!.metadata.name} -n ${namespace} --subresource status -p '${JSON.stringify({ status: { conditions: [condition] } })}'`);
    const told = await backup('kept', (seen) => ready(seen)?.message.includes("can't"), 'the trouble of the pod');
    expect(ready(told)).toMatchObject({ reason: 'DeletingArtifact', message: `Job ${deletion} can't delete the artifact: pod ${pod!.metadata.name} can't be placed on a node: ${condition.message}` });
    await endPod(cluster, namespace, deletion, wellDone.deleted('kept'));
    await isGone('kept');
  }, 60_000);

  it('says so when it completed and its pod went unread, and what may be a good backup is kept', async () => {
    await ask('unread');
    await backup('unread', ({ status }) => status?.phase === 'Running', 'the Job');
    await operator.stop();
    await endPod(cluster, namespace, 'unread', wellDone.stored('unread'));
    await waitFor(cluster, at('jobs', 'unread', 'batch/v1'), (seen) => seen?.status?.completionTime !== undefined, { what: 'the end of the Job' });
    await cluster.kubectl(`delete pod -l batch.kubernetes.io/job-name=unread -n ${namespace}`);
    operator = await startOperator(cluster, namespace, { clock: { ...systemClock, now: () => systemClock.now() + 120_000 } });
    const { status } = await says('unread', 'BackupFailed');
    expect(status).toMatchObject({ phase: 'Failed', message: 'Job unread completed, but its pod was deleted before its result could be read. The backup may be there, but nobody knows whether it is good: take another one' });
    // Without a time of its end no retention of records takes it, nor the artifact with it.
    expect(status.completedAt).toBeUndefined();
  }, 60_000);
});
