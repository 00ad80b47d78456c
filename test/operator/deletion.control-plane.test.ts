import { randomBytes } from 'node:crypto';
import { DeletionProtection } from '../../src/constructs/deletion-protection';
import { render } from '../../src/runtime';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { endPod } from './pretended-pod';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

/** A group of this test's own: it deletes the definitions. */
const group = `farewell-${randomBytes(4).toString('hex')}.test`;
const resource = `databases.${group}`;
const policies = render((chart) => new DeletionProtection(chart, 'protection', { group }));

let cluster: TestCluster;
/** One that stays, and three that are deleted with what they hold. */
let home: string;
let unprotected: string;
let shielded: string;
let retaining: string;
let operator: RunningOperator;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  [home, unprotected, shielded, retaining] = await Promise.all([makeNamespace(cluster), makeNamespace(cluster), makeNamespace(cluster), makeNamespace(cluster)]);
  await installCrds(cluster, group);
  await cluster.apply(...policies);
  operator = await startOperator(cluster, [home, unprotected, shielded, retaining], { group });
}, firstUpTimeoutMs);

afterAll(async () => {
  await cluster.tryKubectl(`annotate crd ${resource} databasebackups.${group} dbop.dev/deletion=allowed`);
  await cluster.tryKubectl(`delete crd ${resource} databasebackups.${group} --timeout=60s`);
  await operator?.stop();
  await cluster.tryKubectl('delete --ignore-not-found -f -', policies.map((policy) => JSON.stringify(policy)).join('\n---\n'));
  await removeNamespace(cluster, home);
  cluster.close();
}, 120_000);

const database = (name: string, namespace: string, spec: object = {}) => ({ apiVersion: `${group}/v1alpha1`, kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...spec } });
const db = (name: string, namespace: string) => ({ apiVersion: `${group}/v1alpha1`, resource: 'databases', namespace, name });
const core = (plural: string, name: string, namespace?: string) => ({ apiVersion: 'v1', resource: plural, namespace, name });
const change = (name: string, namespace: string, spec: object) => cluster.kubectl(`patch ${resource} ${name} -n ${namespace} --type merge -p '${JSON.stringify({ spec })}'`);
const condition = (object: AnyObject | undefined, type: string) => object?.status?.conditions?.find((candidate: { type: string }) => candidate.type === type);
const says = (name: string, namespace: string, reason: string, withinMs?: number) => waitFor(cluster, db(name, namespace), (seen) => condition(seen, 'Ready')?.reason === reason, { what: reason, withinMs });
const isGone = (target: Parameters<typeof waitFor>[1], withinMs = 90_000) => waitFor<undefined>(cluster, target, (seen) => seen === undefined, { what: 'its end', withinMs });

/** A database whose volume bears the mark of one that a server has answered from: here no pod ever runs. */
async function withData(name: string, namespace: string, spec: object = {}): Promise<void> {
  await cluster.apply(database(name, namespace, spec));
  await says(name, namespace, 'PodPending');
  await cluster.kubectl(`annotate pvc data-${name}-0 -n ${namespace} dbop.dev/holds-data=true`);
}

/** The API server takes up a new policy within a second or so; a dry run asks whether it has. */
async function policyGuards(what: string, namespace: string): Promise<string> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const { code, stderr } = await cluster.tryKubectl(`delete ${what} -n ${namespace} --dry-run=server`);
    if (code !== 0) return stderr;
    if (Date.now() > deadline) throw new Error(`${what} could be deleted after 30 s`);
  }
}

describeOfOwn('the deletion of a namespace', () => {
  // All three at once: the namespace controller takes its time between two looks.
  beforeAll(async () => {
    await Promise.all([
      withData('orders', unprotected),
      withData('orders', retaining, { deletionPolicy: 'Retain' }),
      cluster.apply(database('orders', shielded, { deletionProtection: true })).then(() => says('orders', shielded, 'PodPending')),
    ]);
    await policyGuards(`${resource} orders`, shielded);
    await policyGuards('pvc data-orders-0', unprotected);
    // A backup whose artifact lies elsewhere: no Job can delete it, and none must be waited for.
    const target = JSON.stringify({ s3: { bucket: 'b', credentialsSecret: 's' } });
    await cluster.apply({ apiVersion: `${group}/v1alpha1`, kind: 'DatabaseBackup', metadata: { name: 'old', namespace: unprotected, annotations: { 'dbop.dev/target': target }, finalizers: ['dbop.dev/backup'] }, spec: { database: 'orders' } });
    await cluster.kubectl(`patch databasebackups.${group} old -n ${unprotected} --subresource status --type merge -p '{"status":{"phase":"Succeeded"}}'`);
    await cluster.kubectl(`delete namespace ${unprotected} ${shielded} ${retaining} --wait=false`);
  }, 90_000);

  const refusal = (namespace: string, text: string) =>
    waitFor(cluster, core('namespaces', namespace), (seen) => condition(seen, 'NamespaceDeletionContentFailure')?.message.includes(text), { what: 'the word of the policy', withinMs: 60_000 });
  const isUntouched = async (claim: string, namespace: string) => expect(await cluster.kubectl(`get pvc ${claim} -n ${namespace} -o jsonpath={.metadata.deletionTimestamp}`)).toBe('');

  it('stops at a database that has no last backup, and says why and what to do in its condition, in an Event and in the namespace', async () => {
    const { message } = condition(await says('orders', unprotected, 'NamespaceTerminating'), 'Ready');
    expect(message).toContain(`namespace ${unprotected} is being deleted`);
    expect(message).toContain('set spec.deletionPolicy to Delete');
    const events = await cluster.kubectl(`get events.events.k8s.io -n default -o jsonpath='{range .items[?(@.regarding.name=="${unprotected}")]}{.reason}: {.note}{"\\n"}{end}'`);
    expect(events).toContain('NamespaceTerminating: Database orders: namespace');
    await refusal(unprotected, 'belongs to a database');
    for (const claim of ['data-orders-0', 'orders-backups']) await isUntouched(claim, unprotected);
  }, 90_000);

  it('stops at a protected database without touching it, and repeats the way out', async () => {
    await refusal(shielded, `kubectl patch ${resource} orders -n ${shielded}`);
    const stopped = await says('orders', shielded, 'NamespaceTerminating');
    expect(stopped.metadata.deletionTimestamp).toBeUndefined();
    expect(condition(stopped, 'Ready').message).toContain('set spec.deletionProtection to false');
    await isUntouched('data-orders-0', shielded);
  }, 90_000);

  it('takes no volume that is to be retained: there is nothing left to retain it in', async () => {
    await says('orders', retaining, 'NamespaceTerminating');
    await refusal(retaining, 'belongs to a database');
    await isUntouched('data-orders-0', retaining);
  }, 90_000);

  it('goes on when the policy is Delete, or the protection of a database without data is lifted', async () => {
    await Promise.all([change('orders', unprotected, { deletionPolicy: 'Delete' }), change('orders', retaining, { deletionPolicy: 'Delete' }), change('orders', shielded, { deletionProtection: false })]);
    await Promise.all([unprotected, shielded, retaining].map((namespace) => isGone(core('namespaces', namespace), 150_000)));
  }, 180_000);
});

describeOfOwn('a deletion', () => {
  it.each(['foreground', 'orphan'])('by --cascade=%s takes and leaves behind nothing by the way: the last backup comes first, then all goes', async (cascade) => {
    await withData(cascade, home);
    await cluster.kubectl(`delete ${resource} ${cascade} -n ${home} --cascade=${cascade} --wait=false`);
    const object = await waitFor(cluster, db(cascade, home), (seen) => condition(seen, 'Ready')?.reason === 'Closing' && seen?.metadata.finalizers?.length === 1, { what: 'the closing, and the end of the garbage collector’s work' });
    expect(condition(object, 'Ready').message).toContain('To delete without that backup, set spec.deletionPolicy to Delete.');
    const children = (await cluster.kubectl(`get statefulset,service,secret,pvc -n ${home} -l app.kubernetes.io/instance=${cascade} -o name`)).trim().split('\n');
    expect(children).toEqual(expect.arrayContaining([`statefulset.apps/${cascade}`, `service/${cascade}`, `secret/${cascade}-accounts`, `persistentvolumeclaim/data-${cascade}-0`]));
    expect(await cluster.kubectl(`get statefulset ${cascade} -n ${home} -o jsonpath={.spec.template.spec.containers[0].command}`)).toContain('"closed"');
    await change(cascade, home, { deletionPolicy: 'Delete' });
    await isGone(db(cascade, home));
    expect((await cluster.kubectl(`get statefulset,service,secret,pvc -n ${home} -l app.kubernetes.io/instance=${cascade} -o name`)).trim()).toBe(`persistentvolumeclaim/${cascade}-backups`);
  }, 120_000);

  it('does not wait for ever for a pod whose StatefulSet went without it', async () => {
    await cluster.apply(database('orphaned', home));
    await says('orphaned', home, 'PodPending');
    // While the operator looks on: it would have the StatefulSet adopt its pod again.
    await change('orphaned', home, { paused: true });
    await says('orphaned', home, 'Paused');
    await cluster.kubectl(`delete statefulset orphaned -n ${home} --cascade=orphan`);
    await waitFor(cluster, core('pods', 'orphaned-0', home), (seen) => seen !== undefined && seen.metadata.ownerReferences === undefined, { what: 'a pod that is nobody’s', withinMs: 90_000 });
    await cluster.kubectl(`delete ${resource} orphaned -n ${home} --wait=false`);
    await change('orphaned', home, { paused: false });
    await isGone(db('orphaned', home));
    expect((await cluster.kubectl(`get pods -n ${home} -l app.kubernetes.io/instance=orphaned -o name`)).trim()).toBe('');
  }, 200_000);

  it('retains the volume also of a database whose newest spec was refused', async () => {
    await withData('stubborn', home, { deletionPolicy: 'Retain' });
    await change('stubborn', home, { parameters: { server_id: '7' } });
    await says('stubborn', home, 'ChangeRefused');
    await cluster.kubectl(`delete ${resource} stubborn -n ${home} --wait=false`);
    await isGone(db('stubborn', home));
    const claim = await waitFor(cluster, core('persistentvolumeclaims', 'data-stubborn-0', home), (seen) => seen !== undefined, { what: 'the volume' });
    expect(claim.metadata).toMatchObject({ annotations: { 'dbop.dev/holds-data': 'true' } });
    expect(claim.metadata.labels).not.toHaveProperty(['dbop.dev/owner']);
  }, 120_000);

  it('shuts nobody out for a last backup that a quota forbids, and says so', async () => {
    await withData('poor', home);
    await cluster.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'no-jobs', namespace: home }, spec: { hard: { 'count/jobs.batch': '0' } } });
    await waitFor(cluster, core('resourcequotas', 'no-jobs', home), (seen) => seen?.status?.hard !== undefined, { what: 'the quota' });
    await cluster.kubectl(`delete ${resource} poor -n ${home} --wait=false`);
    const { message } = condition(await says('poor', home, 'FinalBackupBlocked'), 'Ready');
    expect(message).toContain('exceeded quota: no-jobs');
    expect(await cluster.kubectl(`get statefulset poor -n ${home} -o jsonpath={.spec.template.spec.containers[0].command}`)).not.toContain('closed');
    await cluster.kubectl(`delete resourcequota no-jobs -n ${home}`);
    await says('poor', home, 'Closing');
    await change('poor', home, { deletionPolicy: 'Delete' });
    await isGone(db('poor', home));
  }, 120_000);

  it('takes along the Job of a restore that failed: its pod would hold the volume for ever', async () => {
    await cluster.apply(database('unrestored', home, { restore: { policy: 'Required' } }));
    await says('unrestored', home, 'Restoring');
    await endPod(cluster, home, 'unrestored-restore', { outcome: 'failed', reason: 'OtherEngine', message: 'it is the backup of a postgres' });
    await says('unrestored', home, 'RestoreFailed');
    await cluster.kubectl(`delete ${resource} unrestored -n ${home} --wait=false`);
    await isGone(db('unrestored', home));
    expect((await cluster.tryKubectl(`get job unrestored-restore -n ${home}`)).stderr).toContain('not found');
  }, 120_000);

  it('says why its last backup does not begin and how to go without, and leaves no Job of it at work when told so', async () => {
    await withData('waiting', home);
    const { metadata } = await waitFor(cluster, db('waiting', home), (seen) => seen !== undefined, { what: 'it' });
    const job = `waiting-final-${String(metadata.uid).slice(0, 8)}`;
    // As the operator makes it, once a server has said that it is closed: here none does.
    const labels = { 'app.kubernetes.io/managed-by': 'dbop', 'dbop.dev/owner': metadata.uid, 'app.kubernetes.io/instance': 'waiting', 'app.kubernetes.io/component': 'backup' };
    await cluster.apply({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: job, namespace: home, labels }, spec: { template: { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [{ name: 'store', image: 'x' }] } } } });
    await cluster.kubectl(`delete ${resource} waiting -n ${home} --wait=false`);
    await says('waiting', home, 'FinalBackup');
    const pod = (await cluster.kubectl(`get pods -n ${home} -l batch.kubernetes.io/job-name=${job} -o name`)).trim();
    await cluster.kubectl(`patch ${pod} -n ${home} --subresource status --type merge -p '${JSON.stringify({ status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'pod has unbound immediate PersistentVolumeClaims' }] } })}'`);
    const { message } = condition(await says('waiting', home, 'FinalBackupBlocked'), 'Ready');
    expect(message).toContain('pod has unbound immediate PersistentVolumeClaims');
    expect(message).toContain('set spec.deletionPolicy to Delete');
    await change('waiting', home, { deletionPolicy: 'Delete' });
    await isGone(db('waiting', home));
    await isGone({ apiVersion: 'batch/v1', resource: 'jobs', namespace: home, name: job });
    // Its record stays for what it may have stored, which no pod deletes here; a volume that is gone has taken that along.
    await cluster.kubectl(`delete pvc waiting-backups -n ${home}`);
  }, 120_000);

  it('that can’t go on for want of its passwords says so in its phase and message, with the way out', async () => {
    await withData('locked', home);
    await operator.stop();
    await cluster.kubectl(`delete secret locked-accounts -n ${home}`);
    operator = await startOperator(cluster, [home], { group });
    const running = await says('locked', home, 'AccountsLost');
    expect(running.status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('Bring the Secret back') as string });
    await cluster.kubectl(`delete ${resource} locked -n ${home} --wait=false`);
    const deleting = await waitFor(cluster, db('locked', home), (seen) => seen?.status?.phase === 'Deleting', { what: 'Deleting' });
    expect(condition(deleting, 'Ready')).toMatchObject({ reason: 'AccountsLost', message: expect.stringContaining('set spec.deletionPolicy to Delete') as string });
    await change('locked', home, { deletionPolicy: 'Delete' });
    await isGone(db('locked', home));
  }, 120_000);

  it('of the volumes alone is refused while their database is there, and no longer when it has let them go', async () => {
    await withData('volumes', home);
    for (const claim of ['data-volumes-0', 'volumes-backups']) expect(await policyGuards(`pvc ${claim}`, home)).toContain(`claim ${home}/${claim} belongs to a database`);
    await change('volumes', home, { deletionPolicy: 'Retain' });
    await cluster.kubectl(`delete ${resource} volumes -n ${home} --timeout=60s`);
    for (const claim of ['data-volumes-0', 'volumes-backups']) await cluster.kubectl(`delete pvc ${claim} -n ${home} --wait=false`);
  }, 120_000);
});

describeOfOwn('the deletion of the definitions', () => {
  const crd = (name: string) => ({ apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions', name: `${name}.${group}` });
  const deletion = 'delete --wait=false crd';

  it('is refused with what it would delete, until a person allows it', async () => {
    const { code, stderr } = await cluster.tryKubectl(`${deletion} ${resource}`);
    expect(code).not.toBe(0);
    expect(stderr).toContain('every Database of the cluster would be deleted');
    expect(stderr).toContain(`kubectl annotate crd ${resource} dbop.dev/deletion=allowed`);
  });

  it('then deletes each database as its policy says, and waits for the last backup of one with data', async () => {
    await withData('last', home);
    for (const plural of [resource, `databasebackups.${group}`]) await cluster.kubectl(`annotate crd ${plural} dbop.dev/deletion=allowed`);
    await cluster.kubectl(`${deletion} ${resource} databasebackups.${group}`);
    const object = await says('last', home, 'Closing');
    expect(object.metadata.deletionTimestamp).toBeDefined();
    await change('last', home, { deletionPolicy: 'Delete' });
    await isGone(crd('databases'));
    await isGone(crd('databasebackups'));
    expect(await cluster.kubectl(`get statefulset -n ${home} -o name`)).toBe('');
  }, 120_000);

  it('is no end for the operator: it looks after databases again when the definitions are back', async () => {
    await installCrds(cluster, group);
    await cluster.apply(database('again', home));
    await says('again', home, 'PodPending', 60_000);
  }, 90_000);
});
