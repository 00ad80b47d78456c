import { encoded } from '../../src/operator/accounts';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  operator = await startOperator(cluster, namespace);
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = (name: string, spec: object = {}) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...spec } });
const at = (resource: string, name: string, apiVersion = 'v1') => ({ apiVersion, resource, namespace, name });
const db = (name: string) => at('databases', name, 'dbop.dev/v1alpha1');
const ready = (object: AnyObject | undefined) => object?.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');
const becomes = (name: string, reason: string) => waitFor(cluster, db(name), (seen) => ready(seen)?.reason === reason, { what: reason });
const claimOf = (name: string, isSo: (claim: AnyObject) => boolean = () => true) => waitFor(cluster, at('persistentvolumeclaims', `data-${name}-0`), (seen) => seen !== undefined && isSo(seen), { what: 'the volume' });
const change = (name: string, spec: object) => cluster.kubectl(`patch db ${name} -n ${namespace} --type merge -p '${JSON.stringify({ spec })}'`);
const eventsOf = (name: string, reason: string) => cluster.kubectl(`get events -n ${namespace} --field-selector involvedObject.name=${name},reason=${reason} -o jsonpath={.items[*].message}`);

/** A pod goes by the garbage collector, which stands still for half a minute after a definition was removed. */
async function remove(name: string): Promise<void> {
  await cluster.kubectl(`delete db ${name} -n ${namespace} --wait=false`);
  await waitFor(cluster, db(name), (seen) => seen === undefined, { what: 'the end', withinMs: 120_000 });
}

/** Here no pod ever runs: the marks of a server that has answered are put on by hand. */
async function bornWithData(name: string, spec: object): Promise<void> {
  await cluster.apply(database(name, spec));
  await becomes(name, 'PodPending');
  await cluster.kubectl(`annotate pvc data-${name}-0 -n ${namespace} dbop.dev/holds-data=true dbop.dev/version=9.7`);
}

/** A volume of a former life as its end has left it. */
function leftVolume(name: string, owner?: string): object {
  const labels = { 'app.kubernetes.io/managed-by': 'dbop', 'app.kubernetes.io/instance': name, ...(owner && { 'dbop.dev/owner': owner }) };
  const annotations = { 'dbop.dev/origin': 'empty', 'dbop.dev/holds-data': 'true', 'dbop.dev/version': '9.7', 'dbop.dev/engine': 'mysql' };
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: `data-${name}-0`, namespace, labels, annotations }, spec };
}

/** The passwords that open it. */
function leftAccounts(name: string): object {
  const data = Object.fromEntries(['root', 'operator', 'backup', 'app'].map((account) => [`${account}-password`, encoded('secret')]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${name}-accounts`, namespace, labels: { 'app.kubernetes.io/managed-by': 'dbop' } }, data };
}

describeOfOwn('a volume that holds the data of another engine', () => {
  it('is refused to a database of its name, and stays as it was found whatever becomes of that', async () => {
    await bornWithData('changeling', { deletionPolicy: 'Retain' });
    await remove('changeling');
    const found = await claimOf('changeling');
    expect(found.metadata.annotations).toMatchObject({ 'dbop.dev/engine': 'mysql', 'dbop.dev/version': '9.7' });
    const accounts = await cluster.kubectl(`get secret changeling-accounts -n ${namespace} -o jsonpath={.data}`);
    for (const deletionPolicy of ['Backup', 'Retain', 'Delete']) {
      await cluster.apply(database('changeling', { engine: 'postgres', version: '17', deletionPolicy }));
      const { message } = ready(await becomes('changeling', 'ChangeRefused'));
      expect(message).toContain('volume data-changeling-0 holds the data of a mysql');
      expect(message).toContain('make the database again with engine mysql, or choose another name');
      await remove('changeling');
      const left = await claimOf('changeling');
      expect(left.metadata).toMatchObject({ uid: found.metadata.uid, labels: found.metadata.labels, annotations: found.metadata.annotations });
      expect(left.metadata.deletionTimestamp).toBeUndefined();
    }
    expect(await cluster.kubectl(`get secret changeling-accounts -n ${namespace} -o jsonpath={.data}`)).toBe(accounts);
    const made = await cluster.kubectl(`get events -n ${namespace} -o jsonpath='{range .items[?(@.reason=="SuccessfulCreate")]}{.involvedObject.kind}/{.involvedObject.name}{"\\n"}{end}'`);
    expect(made.trim().split('\n').filter((line) => line.includes('/changeling'))).toEqual(['StatefulSet/changeling']);
    expect(await eventsOf('changeling', 'VolumeLeft')).toContain('volume data-changeling-0 was left as it was found: it holds the data of a mysql');
    await cluster.apply(database('changeling'));
    await becomes('changeling', 'PodPending');
  }, 300_000);

  it('is not backed up as if it were its own', async () => {
    await cluster.apply(leftVolume('alien'), database('alien', { engine: 'postgres', version: '17' }));
    await becomes('alien', 'ChangeRefused');
    await cluster.apply({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'of-alien', namespace }, spec: { database: 'alien' } });
    const refused = await waitFor(cluster, at('databasebackups', 'of-alien', 'dbop.dev/v1alpha1'), (seen) => ready(seen)?.reason === 'ChangeRefused', { what: 'the refusal' });
    expect(ready(refused).message).toContain('volume data-alien-0 holds the data of a mysql');
    expect(await cluster.kubectl(`get jobs -n ${namespace} -o name`)).not.toContain('of-alien');
  }, 60_000);
});

describeOfOwn('a volume whose passwords are lost', () => {
  it('is let go of by a database that retains it', async () => {
    await bornWithData('forgetful', { deletionPolicy: 'Retain' });
    await change('forgetful', { paused: true });
    await becomes('forgetful', 'Paused');
    await cluster.kubectl(`delete secret forgetful-accounts -n ${namespace}`);
    await cluster.kubectl(`delete db forgetful -n ${namespace} --wait=false`);
    await change('forgetful', { paused: false });
    await waitFor(cluster, db('forgetful'), (seen) => seen === undefined, { what: 'the end', withinMs: 120_000 });
    const { metadata } = await claimOf('forgetful');
    expect(metadata.annotations).toMatchObject({ 'dbop.dev/holds-data': 'true', 'dbop.dev/version': '9.7' });
    expect(metadata.labels).not.toHaveProperty(['dbop.dev/owner']);
    expect(metadata.labels).not.toHaveProperty(['dbop.dev/protected']);
  }, 180_000);

  it('is let go of by a database that could not take it up, whatever else that asked for', async () => {
    await cluster.apply(leftVolume('heir', 'somebody-before'), database('heir', { deletionPolicy: 'Retain', storageClassName: 'other' }));
    await becomes('heir', 'AccountsLost');
    await remove('heir');
    const { metadata } = await claimOf('heir');
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect(metadata.labels).not.toHaveProperty(['dbop.dev/owner']);
  }, 120_000);

  it('is not deleted with a database that never took it up, which is told', async () => {
    await cluster.apply(leftVolume('stranger', 'somebody-before'), database('stranger', { deletionPolicy: 'Delete' }));
    await becomes('stranger', 'AccountsLost');
    await remove('stranger');
    expect((await claimOf('stranger')).metadata.deletionTimestamp).toBeUndefined();
    const told = await eventsOf('stranger', 'VolumeLeft');
    expect(told).toContain('volume data-stranger-0 was left as it was found: a database before this one made it, and this one never took it up');
    expect(told).toContain(`kubectl delete pvc data-stranger-0 -n ${namespace}`);
  }, 120_000);
});

describeOfOwn('a restore that is asked for on a volume with data', () => {
  it('is not done, and that is told: in the status, and once in an Event', async () => {
    await cluster.apply(leftVolume('full'), leftAccounts('full'), database('full', { restore: { policy: 'Required', from: { backup: 'nosuch' } } }));
    const { status, metadata } = await waitFor(cluster, db('full'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'a server that starts' });
    expect(status.restored).toEqual({ from: 'kept', at: (metadata as { creationTimestamp?: string }).creationTimestamp });
    expect((await claimOf('full')).metadata.annotations).toMatchObject({ 'dbop.dev/origin': 'kept', 'dbop.dev/holds-data': 'true', 'dbop.dev/version': '9.7' });
    expect(await cluster.kubectl(`get jobs -n ${namespace} -o name`)).not.toContain('full-restore');
    const event = await eventsOf('full', 'RestoreSkipped');
    expect(event).toBe('volume data-full-0 held data already, so nothing was restored: a restore never goes over data. To have that backup, make another database with this restore; if this data is what you want, remove restore from the spec.');
    await change('full', { podLabels: { team: 'shop' } });
    await waitFor(cluster, at('statefulsets', 'full', 'apps/v1'), (seen) => seen?.spec.template.metadata.labels.team === 'shop', { what: 'another pass' });
    expect(await eventsOf('full', 'RestoreSkipped')).toBe(event);
  }, 60_000);

  it('goes without a word where the data came from that very backup', async () => {
    const volume = leftVolume('same') as { metadata: { annotations: Record<string, string> } };
    Object.assign(volume.metadata.annotations, { 'dbop.dev/origin': 'friday', 'dbop.dev/origin-at': '2026-01-01T00:00:00Z' });
    await cluster.apply(volume, leftAccounts('same'), database('same', { restore: { policy: 'Required', from: { backup: 'friday' } } }));
    const { status } = await becomes('same', 'PodPending');
    expect(status.restored).toEqual({ from: 'friday', at: '2026-01-01T00:00:00Z' });
    expect(await eventsOf('same', 'RestoreSkipped')).toBe('');
  }, 60_000);

  it('is not told of where nobody asked for one', async () => {
    await cluster.apply(leftVolume('plain'), leftAccounts('plain'), database('plain'));
    const { status } = await becomes('plain', 'PodPending');
    expect(status.restored).toBeUndefined();
    expect((await claimOf('plain')).metadata.annotations).toMatchObject({ 'dbop.dev/origin': 'empty' });
  }, 60_000);
});
