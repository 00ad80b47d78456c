import { FaultProxy } from '../support/fault-proxy';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { endPod } from './pretended-pod';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;
let proxy: FaultProxy;
let operator: RunningOperator;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  proxy = await FaultProxy.start(cluster.api.access);
  operator = await startOperator(cluster, namespace, { kubeconfig: proxy.kubeconfig });
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await proxy?.close();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = (name: string, spec: object = {}) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...spec } });
const at = (resource: string, name: string, apiVersion = 'v1') => ({ apiVersion, resource, namespace, name });
const db = (name: string) => at('databases', name, 'dbop.dev/v1alpha1');
const ready = (object: AnyObject | undefined) => object?.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');

describeOfOwn('a Database on a cluster that runs no pods', () => {
  it('becomes its children, and says what it waits for', async () => {
    await cluster.apply(database('orders'));
    const object = await waitFor(cluster, db('orders'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'the wait for the scheduler' });
    expect(object.status).toMatchObject({ phase: 'Creating', secretName: 'orders-app', endpoint: { host: `orders.${namespace}.svc`, port: 3306 } });
    const children = await cluster.kubectl(`get statefulset,service,configmap,secret,serviceaccount,networkpolicy,pvc -n ${namespace} -l app.kubernetes.io/instance=orders -o name`);
    expect(children.trim().split('\n').sort()).toEqual([
      'configmap/orders-config',
      'networkpolicy.networking.k8s.io/orders',
      'persistentvolumeclaim/data-orders-0',
      'persistentvolumeclaim/orders-backups',
      'secret/orders-accounts',
      'secret/orders-app',
      'secret/orders-ca',
      'secret/orders-tls',
      'service/orders',
      'service/orders-pods',
      'serviceaccount/orders',
      'statefulset.apps/orders',
    ]);
  }, 60_000);

  it('sends nothing when nothing has changed, whatever wakes it', async () => {
    await cluster.apply(database('calm'));
    await waitFor(cluster, db('calm'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'calm' });
    proxy.forget();
    await cluster.kubectl(`annotate db calm -n ${namespace} woken=up`);
    await cluster.kubectl(`annotate service calm -n ${namespace} woken=up`);
    await cluster.apply(database('later'));
    await waitFor(cluster, db('later'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'later' });
    expect(proxy.writes().filter(({ path }) => path.includes('calm'))).toEqual([]);
  }, 60_000);

  it('brings back a child that was deleted, with the same passwords, and one that was edited', async () => {
    await cluster.apply(database('drift'));
    await waitFor(cluster, db('drift'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'drift' });
    const before = await cluster.kubectl(`get secret drift-accounts -n ${namespace} -o jsonpath={.data}`);
    const uid = await cluster.kubectl(`get secret drift-accounts -n ${namespace} -o jsonpath={.metadata.uid}`);
    await cluster.kubectl(`delete secret/drift-accounts service/drift -n ${namespace}`);
    await waitFor(cluster, at('secrets', 'drift-accounts'), (seen) => seen !== undefined && seen.metadata.uid !== uid, { what: 'a new Secret' });
    await waitFor(cluster, at('services', 'drift'), (seen) => seen !== undefined, { what: 'a new Service' });
    expect(await cluster.kubectl(`get secret drift-accounts -n ${namespace} -o jsonpath={.data}`)).toBe(before);
    await cluster.kubectl(`patch service drift -n ${namespace} -p '{"spec":{"selector":{"app.kubernetes.io/instance":"another"}}}'`);
    await cluster.kubectl(`set image statefulset/drift server=busybox -n ${namespace}`);
    await waitFor(cluster, at('services', 'drift'), (seen) => seen?.spec.selector['app.kubernetes.io/instance'] === 'drift', { what: 'its own selector' });
    await waitFor(cluster, at('statefulsets', 'drift', 'apps/v1'), (seen) => seen?.spec.template.spec.containers[0].image === 'mysql:9.7', { what: 'its own image' });
    await cluster.kubectl(`patch secret drift-app -n ${namespace} -p '{"data":{"password":""}}'`);
    await waitFor(cluster, at('secrets', 'drift-app'), (seen) => (seen?.data?.['password'] ?? '') !== '', { what: 'the password that works' });
  }, 60_000);

  it('takes an older version in place of one that no server has run yet', async () => {
    await cluster.apply(database('versions', { version: '9.99' }));
    await waitFor(cluster, db('versions'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'versions' });
    await cluster.apply(database('versions', { version: '8.4' }));
    await waitFor(cluster, at('statefulsets', 'versions', 'apps/v1'), (seen) => seen?.spec.template.spec.containers[0].image === 'mysql:8.4', { what: 'the older version' });
  }, 60_000);

  it('keeps its hands off while paused', async () => {
    await cluster.apply(database('paused', { paused: true }));
    await waitFor(cluster, db('paused'), (seen) => ready(seen)?.reason === 'Paused', { what: 'the pause' });
    expect(await cluster.kubectl(`get statefulset -n ${namespace} -l app.kubernetes.io/instance=paused -o name`)).toBe('');
  }, 60_000);

  it('grows without being held up by a volume that is not bound yet', async () => {
    await cluster.apply(database('grows'));
    await waitFor(cluster, db('grows'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'grows' });
    await cluster.apply(database('grows', { size: '2Gi', podLabels: { team: 'shop' } }));
    const workload = await waitFor(cluster, at('statefulsets', 'grows', 'apps/v1'), (seen) => seen?.spec.template.metadata.labels.team === 'shop', { what: 'the change of everything else' });
    expect(workload.spec.volumeClaimTemplates[0].spec.resources.requests.storage).toBe('2Gi');
    expect(await cluster.kubectl(`get pvc grows-backups -n ${namespace} -o jsonpath={.spec.resources.requests.storage}`)).toBe('1Gi');
    await waitFor(cluster, db('grows'), (seen) => ready(seen)?.reason === 'PodPending' && ready(seen)?.observedGeneration === 2, { what: 'calm after the change' });
  }, 60_000);

  it('goes without a trace but its backup volume when no server ever answered', async () => {
    await cluster.apply(database('short'));
    await waitFor(cluster, db('short'), (seen) => ready(seen)?.reason === 'PodPending', { what: 'short' });
    await cluster.kubectl(`delete db short -n ${namespace} --wait=false`);
    // Nobody but the kubelet ends a pod that is bound to a node; this one is bound to none, so the garbage collector takes it, which stands still for half a minute after a definition was removed.
    await waitFor(cluster, db('short'), (seen) => seen === undefined, { what: 'the end', withinMs: 120_000 });
    const left = await cluster.kubectl(`get statefulset,service,configmap,secret,serviceaccount,networkpolicy,pvc -n ${namespace} -l app.kubernetes.io/instance=short -o name`);
    expect(left.trim()).toBe('persistentvolumeclaim/short-backups');
  }, 180_000);
});

describeOfOwn('a restore that found no backup', () => {
  it('says nothing about another that is asked for in its place: that is looked for at once', async () => {
    const asks = (backup: string) => database('picky', { restore: { policy: 'Required', from: { backup } } });
    await cluster.apply(asks('nosuch'));
    const former = await endPod(cluster, namespace, 'picky-restore', { outcome: 'failed', reason: 'NoBackup', message: 'there is no backup nosuch' });
    const waits = await waitFor(cluster, db('picky'), (seen) => ready(seen)?.reason === 'BackupAwaited', { what: 'the wait for a backup' });
    expect(ready(waits).message).toContain('there is no backup of nosuch yet');
    await cluster.apply(asks('other'));
    const heard = await waitFor(cluster, db('picky'), (seen) => ready(seen)?.observedGeneration === 2, { what: 'the new wish' });
    expect(ready(heard)).toMatchObject({ reason: 'Restoring' });
    await waitFor(cluster, at('jobs', 'picky-restore', 'batch/v1'), (seen) => seen !== undefined && seen.metadata.uid !== former.metadata.uid, { what: 'another Job', withinMs: 10_000 });
  }, 60_000);
});
