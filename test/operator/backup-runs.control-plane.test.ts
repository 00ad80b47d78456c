import { Metrics, systemClock, type Clock } from '../../src/runtime';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { deletionJob, endPod, wellDone } from './pretended-pod';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;
let metrics: Metrics;
/** How far the operator's clock is ahead of everybody else's. */
let aheadMs = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  metrics = new Metrics();
  operator = await startOperator(cluster, namespace, { clock, metrics });
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const at = (resource: string, name: string, apiVersion = 'dbop.dev/v1alpha1') => ({ apiVersion, resource, namespace, name });
const database = (name: string, spec: object = {}) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', restore: { policy: 'Never' }, backup: { schedule: '30 3 * * *', timeZone: 'Etc/UTC' }, ...spec } });
const health = (object: AnyObject | undefined) => object?.status?.conditions?.find(({ type }: { type: string }) => type === 'BackupsHealthy');
const becomes = (name: string, reason: string) => waitFor(cluster, at('databases', name), (seen) => health(seen)?.reason === reason, { what: reason });
const settled = (name: string) => waitFor(cluster, at('databasebackups', name), (seen) => ['Succeeded', 'Failed'].includes(seen?.status?.phase), { what: 'the end of the backup' });
const metric = async (name: string) => (await metrics.text()).body.split('\n').filter((line) => line.startsWith(name));

/** A run of the schedule, begun by hand: its pod ends with this word. */
async function run(name: string, word = wellDone.stored(name)): Promise<AnyObject> {
  await cluster.kubectl(`create job ${name} --from=cronjob/orders-backup -n ${namespace}`);
  await endPod(cluster, namespace, name, word);
  return settled(name);
}

describeOfOwn('the runs of a schedule, on a cluster that runs no pods', () => {
  it('tell of one that failed in a condition, an Event and a metric, keep it, and go on', async () => {
    await cluster.apply(database('orders'));
    await waitFor(cluster, at('cronjobs', 'orders-backup', 'batch/v1'), (seen) => seen?.spec.suspend === false, { what: 'the schedule' });
    const failed = await run('night-1', { outcome: 'failed', reason: 'TargetFailed', message: 'no space left on device' });
    expect(failed.status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('no space left on device; see kubectl logs job/night-1') as string });
    const told = await becomes('orders', 'BackupFailed');
    expect(health(told)).toMatchObject({ status: 'False', message: expect.stringContaining('backup night-1 failed: no space left on device') as string });
    expect(await metric('dbop_database_backup_failed')).toEqual([`dbop_database_backup_failed{namespace="${namespace}",name="orders"} 1`]);
    const events = await cluster.kubectl(`get events -n ${namespace} --field-selector involvedObject.kind=Database,involvedObject.name=orders,reason=BackupFailed -o jsonpath={.items[*].type}`);
    expect(events).toBe('Warning');

    expect((await run('night-2')).status).toMatchObject({ phase: 'Succeeded', verified: true });
    await becomes('orders', 'OnSchedule');
    expect(await metric('dbop_database_backup_failed')).toEqual([`dbop_database_backup_failed{namespace="${namespace}",name="orders"} 0`]);
    expect(await cluster.kubectl(`get job night-1 -n ${namespace} -o name`)).toContain('night-1');
    expect(await cluster.kubectl(`get pod -l batch.kubernetes.io/job-name=night-1 -n ${namespace} -o name`)).toContain('night-1');
  }, 120_000);

  it('let go of the records of backups that one of them has pruned', async () => {
    await run('night-3', wellDone.stored('night-3', ['night-2']));
    const deletion = await deletionJob(cluster, namespace, 'night-2');
    await endPod(cluster, namespace, deletion, wellDone.deleted('night-2'));
    await waitFor(cluster, at('databasebackups', 'night-2'), (seen) => seen === undefined, { what: 'the end of the record' });
    expect((await cluster.kubectl(`get dbb,job -n ${namespace} -o name`)).trim().split('\n').sort()).toEqual(['databasebackup.dbop.dev/night-1', 'databasebackup.dbop.dev/night-3', 'job.batch/night-1', `job.batch/${deletion}`, 'job.batch/night-3']);
  }, 60_000);

  it('that failed are forgotten with their Jobs, of which the schedule keeps three', async () => {
    expect(await cluster.kubectl(`get cronjob orders-backup -n ${namespace} -o jsonpath={.spec.failedJobsHistoryLimit}`)).toBe('3');
    await cluster.kubectl(`delete job night-1 -n ${namespace}`);
    await endPod(cluster, namespace, await deletionJob(cluster, namespace, 'night-1'), wellDone.deleted('night-1'));
    await waitFor(cluster, at('databasebackups', 'night-1'), (seen) => seen === undefined, { what: 'the end of the record' });
  }, 60_000);

  it('are missed when the clock says so: in a condition, an Event and a metric, without anything else happening', async () => {
    await becomes('orders', 'OnSchedule');
    aheadMs = 2 * 24 * 3_600_000;
    // Any change brings the pass that a timer of an hour would bring.
    await cluster.kubectl(`annotate db orders -n ${namespace} looked=at`);
    const told = await becomes('orders', 'BackupOverdue');
    expect(health(told).message).toMatch(/^the backup that was due at \S+T03:30:00.000Z was not begun/);
    expect(await metric('dbop_database_backup_overdue')).toEqual([`dbop_database_backup_overdue{namespace="${namespace}",name="orders"} 1`]);
    aheadMs = 0;
    await cluster.kubectl(`annotate db orders -n ${namespace} looked=again --overwrite`);
    await becomes('orders', 'OnSchedule');
  }, 60_000);

  it('that are asked for while a change is refused use the version that runs', async () => {
    await cluster.apply(database('kept'));
    await waitFor(cluster, at('persistentvolumeclaims', 'data-kept-0', 'v1'), (seen) => seen !== undefined, { what: 'its volume' });
    // As if a server had answered from it.
    await cluster.kubectl(`annotate pvc data-kept-0 -n ${namespace} dbop.dev/version=9.7`);
    await cluster.apply(database('kept', { version: '8.4' }));
    await waitFor(cluster, at('databases', 'kept'), (seen) => seen?.status?.conditions?.some(({ reason }: { reason: string }) => reason === 'ChangeRefused'), { what: 'the refusal' });
    await cluster.apply({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'kept-1', namespace }, spec: { database: 'kept' } });
    const job = await waitFor(cluster, at('jobs', 'kept-1', 'batch/v1'), (seen) => seen !== undefined, { what: 'the Job' });
    expect(job.spec.template.spec.containers.map(({ image }: { image: string }) => image)).toContain('mysql:9.7');
    await cluster.apply(database('kept', { version: '8.4', image: 'registry.example.com/mysql:8.4' }), { apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'kept-2', namespace }, spec: { database: 'kept' } });
    const waits = await waitFor(cluster, at('databasebackups', 'kept-2'), (seen) => seen?.status?.phase === 'Pending', { what: 'the wait for a decision' });
    expect(waits.status.message).toContain('version 9.7 → 8.4 is a downgrade');
  }, 60_000);

  it('are nothing to wait for while the database sleeps', async () => {
    await cluster.kubectl(`patch db orders -n ${namespace} --type merge -p '{"spec":{"hibernated":true}}'`);
    await becomes('orders', 'Suspended');
    await cluster.kubectl(`patch db orders -n ${namespace} --type merge -p '{"spec":{"hibernated":false}}'`);
    await becomes('orders', 'OnSchedule');
  }, 60_000);

  it('that asks for a bucket whose Secret is missing says so, on demand as well', async () => {
    const s3 = { endpoint: 'http://127.0.0.1:9', bucket: 'backups', credentialsSecretName: 'bucket' };
    await cluster.apply(database('far', { backup: { s3 } }), { apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'far-1', namespace }, spec: { database: 'far' } });
    expect(health(await becomes('far', 'SecretMissing')).message).toBe('no backup can be taken: Secret bucket of the bucket does not exist; create it with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
    const backup = await waitFor(cluster, at('databasebackups', 'far-1'), (seen) => seen?.status?.phase === 'Pending', { what: 'the wait for the Secret' });
    expect(backup.status.message).toContain('Secret bucket of the bucket does not exist');
    expect(await cluster.kubectl(`get job far-1 -n ${namespace} --ignore-not-found -o name`)).toBe('');
  }, 60_000);

  it('end with their database as failed, when nobody can know any more how they went', async () => {
    await cluster.kubectl(`create job night-4 --from=cronjob/orders-backup -n ${namespace}`);
    await waitFor(cluster, at('databasebackups', 'night-4'), (seen) => seen?.status?.phase === 'Running', { what: 'the record' });
    await cluster.kubectl(`delete db orders -n ${namespace} --timeout=60s`);
    await waitFor(cluster, at('jobs', 'night-4', 'batch/v1'), (seen) => seen === undefined, { what: 'the end of the Job' });
    expect((await settled('night-4')).status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('are gone') as string });
  }, 120_000);
});
