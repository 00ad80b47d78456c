import { FaultProxy } from '../support/fault-proxy';
import { firstUpTimeoutMs, sharedCluster, testOfOwn } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installCrds, startOperator, type RunningOperator } from '../operator/running-operator';
import type { PlanReport } from '../../src/cli/planning';
import { dbop } from './test-io';

const IMAGE = 'cdk8s-database-operator:test';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;
let proxy: FaultProxy;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  proxy = await FaultProxy.start(cluster.api.access);
  operator = await startOperator(cluster, namespace, { image: IMAGE });
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await proxy?.close();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = (name: string, spec: object = {}) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...spec } });
const plan = (object: object, more = '') => dbop(`plan -f - --image ${IMAGE} --operator-namespace '' ${more}`, { stdin: JSON.stringify(object), env: { KUBECONFIG: proxy.kubeconfig } });
const reports = async (object: object) => JSON.parse((await plan(object, '-o json')).out) as PlanReport[];
const actions = (report: PlanReport | undefined) => Object.fromEntries((report?.changes ?? []).filter(({ action }) => action !== 'none').map(({ action, kind, name }) => [`${kind} ${name}`, action]));
const ready = (object: AnyObject | undefined) => object?.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');

/** Applies a Database and waits until the operator has nothing left to do for it on a cluster without nodes. */
async function settled(object: ReturnType<typeof database>): Promise<void> {
  await cluster.apply(object);
  await waitFor(cluster, { apiVersion: 'dbop.dev/v1alpha1', resource: 'databases', namespace, name: object.metadata.name }, (seen) => ready(seen)?.reason === 'PodPending' && ready(seen)?.observedGeneration === seen?.metadata.generation, { what: 'PodPending' });
}

describe('dbop plan', () => {
  it('shows every child of a new Database as to be created, masked, and writes nothing', async () => {
    proxy.forget();
    const { code, out, err } = await plan(database('fresh', { backup: { schedule: '0 2 * * *' } }));
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(out).toMatch(new RegExp(`^${namespace}/fresh: 1[0-9] to create\n`));
    for (const child of ['Database fresh', 'StatefulSet fresh', 'Service fresh', 'Secret fresh-accounts', 'CronJob fresh-backup', 'PersistentVolumeClaim data-fresh-0']) expect(out).toContain(`\n+ ${child}\n`);
    expect(out).toContain('+   root-password: "***"');
    expect(proxy.writes().filter(({ query }) => query.get('dryRun') !== 'All')).toEqual([]);
    expect((await cluster.tryKubectl(`get db fresh -n ${namespace}`)).stderr).toContain('not found');
  }, 60_000);

  it('finds no change in what the operator has just made of the same file', async () => {
    const orders = database('orders', { backup: { schedule: '0 2 * * *' }, parameters: { max_connections: '50' } });
    await settled(orders);
    const { code, out } = await plan(orders);
    expect({ code, out }).toEqual({ code: 0, out: `${namespace}/orders: no changes\n` });
  }, 60_000);

  testOfOwn('foretells exactly what the operator then does', async () => {
    await settled(database('foretold', { backup: { schedule: '0 2 * * *' } }));
    const changed = database('foretold', { resources: { limits: { memory: '768Mi' } } });
    const { code, out } = await plan(changed);
    expect(code).toBe(2);
    expect(out).toMatch(/\n- CronJob foretold-backup\n/);
    expect(out).toMatch(/~ StatefulSet foretold\n(.*\n)*? +- +memory: 512Mi\n(.*\n)*? +\+ +memory: 768Mi\n/);
    expect(out).toContain('* pod foretold-0 is restarted\n');
    const [before] = await reports(changed);
    expect(actions(before)).toMatchObject({ 'Database foretold': 'change', 'StatefulSet foretold': 'change', 'CronJob foretold-backup': 'delete' });
    await settled(changed);
    expect((await plan(changed)).out).toBe(`${namespace}/foretold: no changes\n`);
    expect((await cluster.kubectl(`get cronjob -n ${namespace} -l app.kubernetes.io/instance=foretold -o name`)).trim()).toBe('');
  }, 60_000);

  testOfOwn('shows a StatefulSet that has to be made anew as what changes in it, and nothing else', async () => {
    await settled(database('grows'));
    const { code, out } = await plan(database('grows', { size: '2Gi' }));
    expect(code).toBe(2);
    // No claim is bound on a cluster without nodes, and only a bound one can grow: it is left as it is.
    expect(out).not.toContain('PersistentVolumeClaim data-grows-0');
    const [, shown] = /± StatefulSet grows .*\n((  .*\n)*)/.exec(out) ?? [];
    expect(shown?.split('\n').filter((line) => /^  [-+]/.test(line)).map((line) => line.replace(/ +/g, ' ').trim())).toEqual(['- storage: 1Gi', '+ storage: 2Gi']);
  }, 60_000);

  it('says what the operator would refuse, and exits with 1', async () => {
    await settled(database('older'));
    // As if a server had answered from it.
    await cluster.kubectl(`annotate pvc data-older-0 -n ${namespace} dbop.dev/version=9.7`);
    const { code, out } = await plan(database('older', { version: '8.4' }));
    expect(code).toBe(1);
    expect(out).toContain('the operator would refuse this');
    expect(out).toContain('version 9.7 → 8.4 is a downgrade');
  }, 60_000);

  it("says what the API server would refuse in the API server's words", async () => {
    await settled(database('shrinks', { size: '2Gi' }));
    const { code, out, err } = await plan(database('shrinks', { size: '1Gi' }));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^dbop: the API server refused \(422 Invalid\): .*spec\.size/);
  }, 60_000);

  it('sees a child that somebody else has made, and whose it is', async () => {
    await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'taken-config', namespace }, data: { by: 'hand' } });
    const { code, out } = await plan(database('taken'));
    expect(code).toBe(1);
    expect(out).toMatch(/\n! ConfigMap taken-config: ConfigMap '.*\/taken-config' was made by 'kubectl-client-side-apply'; delete it, or hand it over/);
  }, 60_000);

  it('sees drift: what somebody has changed by hand is put back', async () => {
    await settled(database('drift'));
    await operator.stop();
    await cluster.kubectl(`patch service drift -n ${namespace} --type merge -p '{"spec":{"selector":{"app.kubernetes.io/instance":"another"}}}'`);
    const [report] = await reports(database('drift'));
    operator = await startOperator(cluster, namespace, { image: IMAGE });
    expect(actions(report)).toEqual({ 'Service drift': 'change' });
  }, 60_000);

  it('keeps what others have set, as kubectl apply does', async () => {
    await settled(database('merged'));
    await cluster.kubectl(`patch db merged -n ${namespace} --type merge -p '{"spec":{"paused":true}}'`);
    const { code, out } = await plan(database('merged'));
    expect(code).toBe(0);
    expect(out).toContain('paused is set: the operator changes nothing until it is false again');
  }, 60_000);

  it('tells of a Secret that is missing instead of inventing children', async () => {
    const { out } = await plan(database('supplied', { credentials: { secretName: 'mine' } }));
    expect(out).toContain('* the operator waits: Secret mine does not exist; create it with the keys username and password\n');
  }, 60_000);

  it('announces the restore that comes first', async () => {
    const [report] = await reports(database('copy', { restore: { policy: 'Required', from: { database: 'orders' } } }));
    expect(actions(report)).toMatchObject({ 'Job copy-restore': 'create' });
    expect(report?.notes).toContain('before the first start, Job copy-restore looks for a backup and restores it (policy Required)');
  }, 60_000);

  it('says so when the cluster does not know our kinds', async () => {
    const { code, err } = await dbop('plan -f - --group db.nowhere.example', { stdin: JSON.stringify(database('x')).replace('dbop.dev/', 'db.nowhere.example/'), env: { KUBECONFIG: proxy.kubeconfig } });
    expect(code).toBe(1);
    expect(err).toContain("install the operator's CustomResourceDefinitions first, or name your group with --group");
  }, 60_000);
});
