import { FaultProxy } from '../support/fault-proxy';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installCrds, startOperator } from './running-operator';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  await installCrds(cluster);
}, firstUpTimeoutMs);

afterAll(() => cluster.close());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const healthy = numbers(15).map((number) => `healthy-${String(number).padStart(2, '0')}`);

/** What ails the sick: how it is asked for or comes about, and how it is told. */
const sick: Readonly<Record<string, { readonly reason: string; readonly spec?: object; readonly pod?: object }>> = {
  'sick-0': { reason: 'ChangeRefused', spec: { parameters: { server_id: '7' } } },
  'sick-1': { reason: 'SecretMissing', spec: { credentials: { secretName: 'nowhere' } } },
  'sick-2': { reason: 'ImagePullBackOff', pod: { conditions: [scheduled('True')], containerStatuses: [{ name: 'server', ready: false, restartCount: 0, image: 'x', imageID: '', state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } } }] } },
  'sick-3': { reason: 'Unschedulable', pod: { conditions: [{ ...scheduled('False'), reason: 'Unschedulable', message: '0/3 nodes are available: 3 Insufficient cpu.' }] } },
  'sick-4': { reason: 'CrashLoopBackOff', pod: { conditions: [scheduled('True')], containerStatuses: [{ name: 'server', ready: false, restartCount: 9, image: 'x', imageID: '', state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 1, message: 'unknown variable' } } }] } },
};

function scheduled(status: string): { type: string; status: string } {
  return { type: 'PodScheduled', status };
}

/**
 * Brings up databases in a namespace of their own.
 * @returns the writes that each healthy one cost, in the order of their kinds
 */
async function work(names: readonly string[]): Promise<Record<string, string[]>> {
  const namespace = await makeNamespace(cluster);
  const proxy = await FaultProxy.start(cluster.api.access);
  const operator = await startOperator(cluster, namespace, { kubeconfig: proxy.kubeconfig });
  const at = (name: string) => ({ apiVersion: 'dbop.dev/v1alpha1', resource: 'databases', namespace, name });
  const becomes = (name: string, reason: string) => waitFor(cluster, at(name), (seen) => readyOf(seen)?.reason === reason, { what: reason });
  const database = (name: string) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...sick[name]?.spec } });
  try {
    await cluster.apply(...names.map(database));
    const ailing = names.filter((name) => sick[name] !== undefined);
    await Promise.all(
      ailing.map(async (name) => {
        const { pod, reason } = sick[name]!;
        if (pod !== undefined) {
          await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name: `${name}-0` }, (seen) => seen !== undefined, { what: 'a pod' });
          await cluster.kubectl(`patch pod ${name}-0 -n ${namespace} --subresource status --type merge -p '${JSON.stringify({ status: pod })}'`);
        }
        await becomes(name, reason);
      }),
    );
    await Promise.all(healthy.map((name) => becomes(name, 'PodPending')));
    return Object.fromEntries(healthy.map((name) => [name, writesTo(proxy, name)]));
  } finally {
    await operator.stop();
    await proxy.close();
    await removeNamespace(cluster, namespace);
  }
}

const readyOf = (object: AnyObject | undefined) => object?.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');

/** Writes for one database; Events don't count, because they are summed up by the clock. */
function writesTo(proxy: FaultProxy, name: string): string[] {
  return proxy
    .writes()
    .filter(({ path }) => !path.includes('/events') && path.split('/').some((part) => part === name || part.startsWith(`${name}-`) || part === `data-${name}-0`))
    .map(({ method, path }) => `${method} ${path.replace(/.*\/namespaces\/[^/]+\//, '').replaceAll(name, 'NAME')}`)
    .sort();
}

describeOfOwn('twenty databases of which five can’t start', () => {
  it('cost each of the other fifteen the same writes as without them', async () => {
    const alone = await work(healthy);
    const beside = await work([...Object.keys(sick), ...healthy]);
    // How many statuses are told on the way is up to the pods: two that come together are one write.
    const kinds = (writes: Record<string, string[]>) => new Set(Object.values(writes).map((each) => each.filter((write) => !write.includes('status')).join('\n')));
    expect([...kinds(alone)]).toHaveLength(1);
    expect(kinds(beside)).toEqual(kinds(alone));
  }, 120_000);
});
