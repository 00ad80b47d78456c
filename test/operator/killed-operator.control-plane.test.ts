import { FaultProxy } from '../support/fault-proxy';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { deletionJob, endPod, wellDone } from './pretended-pod';
import { installCrds, startOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
}, firstUpTimeoutMs);

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const at = (resource: string, name: string, apiVersion = 'dbop.dev/v1alpha1') => ({ apiVersion, resource, namespace, name });
const object = (kind: string, name: string, spec: object) => ({ apiVersion: 'dbop.dev/v1alpha1', kind, metadata: { name, namespace }, spec });
const database = (name: string, spec: object = {}) => object('Database', name, { engine: 'mysql', version: '9.7', size: '1Gi', ...spec });
const names = async (resources: string, selector = '') => (await cluster.kubectl(`get ${resources} -n ${namespace} ${selector} -o name`)).trim().split('\n').filter(Boolean).sort();

/** Something that an operator brings about, together with a cluster whose pods the test ends. */
interface Errand {
  /** What is there before it begins. @returns when it is */
  prepare?(name: string): Promise<void>;
  /** Asks for it, and ends the pods on the way; resolves when it has come about. */
  run(name: string): Promise<void>;
  /** What must be true in the end, whatever happened in between. */
  check(name: string): Promise<void>;
}

/**
 * Runs an errand by an operator that is killed once its n-th write has been carried out, before it can hear so, and by a second one after it.
 * @returns whether there was such a write
 */
async function killedAfter(n: number, errand: Errand): Promise<boolean> {
  const name = `e${n}`;
  await errand.prepare?.(name);
  const proxy = await FaultProxy.start(cluster.api.access);
  let writes = 0;
  const killed = new Promise<true>((resolve) => {
    proxy.inject({ isWrite: true, when: ({ path }) => isOf(name, path) && (writes += 1) === n && (resolve(true), true), fault: { kind: 'reset', when: 'after' } });
    proxy.inject({ when: () => writes >= n, fault: { kind: 'reset', when: 'before' } });
  });
  const first = await startOperator(cluster, namespace, { kubeconfig: proxy.kubeconfig });
  const errandDone = errand.run(name);
  const wasKilled = await Promise.race([killed, errandDone.then(() => false)]);
  await first.stop();
  await proxy.close();
  const second = await startOperator(cluster, namespace);
  try {
    await errandDone;
    await errand.check(name);
  } finally {
    await second.stop();
  }
  return wasKilled;
}

/** Events are told by the way: to lose one changes nothing. */
function isOf(name: string, path: string): boolean {
  return path.split('/').some((part) => new RegExp(`^([a-z]+-)?${name}(-.*)?$`).test(part)) && !path.includes('/events');
}

/** Runs an errand again and again, killed after its first, second, … write, until it comes to its end before. */
async function killedAfterEach(errand: Errand): Promise<number> {
  for (let n = 1; ; n += 1) if (!(await killedAfter(n, errand))) return n - 1;
}

describeOfOwn('an operator that is killed after each of its writes, on a cluster whose pods the test ends', () => {
  it('takes a backup all the same, with one Job, and tells what that said', async () => {
    await cluster.apply(database('orders', { paused: false, restore: { policy: 'Never' } }));
    const writes = await killedAfterEach({
      run: async (name) => {
        await cluster.apply(object('DatabaseBackup', name, { database: 'orders' }));
        await endPod(cluster, namespace, name, wellDone.stored(name));
        await waitFor(cluster, at('databasebackups', name), (seen) => seen?.status?.phase === 'Succeeded', { what: 'the backup' });
      },
      check: async (name) => {
        expect((await names('jobs')).filter((job) => job.startsWith(`job.batch/${name}`))).toEqual([`job.batch/${name}`]);
        const events = await cluster.kubectl(`get events -n ${namespace} --field-selector involvedObject.kind=Job,involvedObject.name=${name},reason=SuccessfulCreate -o name`);
        expect(events.trim().split('\n')).toHaveLength(1);
      },
    });
    expect(writes).toBeGreaterThanOrEqual(4);
  }, 300_000);

  it('deletes a backup all the same, and the artifact before the object', async () => {
    const writes = await killedAfterEach({
      prepare: async (name) => {
        const operator = await startOperator(cluster, namespace);
        await cluster.apply(object('DatabaseBackup', `${name}-old`, { database: 'orders' }));
        await endPod(cluster, namespace, `${name}-old`, wellDone.stored(`${name}-old`));
        await waitFor(cluster, at('databasebackups', `${name}-old`), (seen) => seen?.status?.phase === 'Succeeded', { what: 'a backup to delete' });
        await operator.stop();
      },
      run: async (name) => {
        await cluster.kubectl(`delete dbb ${name}-old -n ${namespace} --wait=false`);
        await endPod(cluster, namespace, await deletionJob(cluster, namespace, `${name}-old`), wellDone.deleted(`${name}-old`));
        await waitFor(cluster, at('databasebackups', `${name}-old`), (seen) => seen === undefined, { what: 'the end of the record' });
      },
      check: async (name) => expect((await names('jobs')).filter((job) => job.startsWith(`job.batch/${name}-old`))).toEqual([expect.stringMatching(`^job.batch/${name}-old-delete-`)]),
    });
    expect(writes).toBeGreaterThanOrEqual(3);
  }, 300_000);

  it('restores all the same, starts no server before the Job has told that the volume is whole, and restores once', async () => {
    const workload = (name: string) => at('statefulsets', name, 'apps/v1');
    const claim = (name: string) => at('persistentvolumeclaims', `data-${name}-0`, 'v1');
    const origin = (seen: AnyObject | undefined) => seen?.metadata.annotations?.['dbop.dev/origin'];
    const writes = await killedAfterEach({
      run: async (name) => {
        await cluster.apply(database(name, { restore: { policy: 'Required', from: { database: 'orders' } } }));
        const asleep = await waitFor(cluster, workload(name), (seen) => seen !== undefined, { what: 'the workload' });
        expect(asleep.spec.replicas).toBe(0);
        expect(origin(await waitFor(cluster, claim(name), (seen) => seen !== undefined, { what: 'the volume' }))).toBeUndefined();
        const job = await endPod(cluster, namespace, `${name}-restore`, wellDone.restored('before'));
        await waitFor(cluster, workload(name), (seen) => seen?.spec.replicas === 1, { what: 'the start of the server' });
        expect(origin(await waitFor(cluster, claim(name), (seen) => seen !== undefined, { what: 'the volume' }))).toBe('before');
        expect((await waitFor(cluster, at('jobs', `${name}-restore`, 'batch/v1'), (seen) => seen !== undefined, { what: 'the Job' })).metadata.uid).toBe(job.metadata.uid);
      },
      check: async (name) => {
        const told = await waitFor(cluster, at('databases', name), (seen) => seen?.status?.restored?.from === 'before', { what: 'the word of what it was filled with' });
        expect(told.status.phase).toBe('Creating');
        await cluster.kubectl(`delete db ${name} -n ${namespace} --wait=false`);
      },
    });
    expect(writes).toBeGreaterThanOrEqual(12);
  }, 600_000);
});
