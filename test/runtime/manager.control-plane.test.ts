import { builtin, type KubeObject } from '../../src/kind/resource';
import { done, type Context, type Controller, type ManagerOptions } from '../../src/runtime';
import { FaultProxy } from '../support/fault-proxy';
import { firstUpTimeoutMs, ownCluster, sharedCluster, testOfOwn } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';
import { basket, basketController, basketKind, install, Rig, untilReady, type BasketKind } from './rig';

jest.setTimeout(60_000);

const kind = basketKind('manager.runtime.test');
let cluster: TestCluster;
let namespace: string;
let rigs: Rig[] = [];

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  await install(cluster, kind);
}, firstUpTimeoutMs);

beforeEach(async () => {
  namespace = await makeNamespace(cluster);
});

afterEach(async () => {
  await Promise.all(rigs.map((rig) => rig.stop()));
  rigs = [];
  await removeNamespace(cluster, namespace);
});

afterAll(() => cluster.close());

async function start(controllers: Controller[], options: Partial<ManagerOptions> & { proxy?: FaultProxy } = {}): Promise<Rig> {
  const rig = await Rig.start(cluster, controllers, { namespaces: [namespace], ...options });
  rigs.push(rig);
  return rig;
}

async function stop(rig: Rig): Promise<void> {
  rigs = rigs.filter((other) => other !== rig);
  await rig.stop();
}

const election = (identity: string) => ({ lease: { namespace, name: 'rig' }, identity, durationMs: 6_000, renewDeadlineMs: 4_000, retryMs: 300 });
const lease = (holder: string) => waitFor(cluster, { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace, name: 'rig' }, (object) => object?.spec?.holderIdentity === holder, { what: `held by ${holder}` });

/** A controller that never rests: each pass writes, and asks for the next one. */
function restless(): Controller<BasketKind> {
  let count = 0;
  return basketController(kind, {
    owns: [builtin.ConfigMap],
    async reconcile(context: Context<BasketKind>) {
      count += 1;
      await context.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: context.object.metadata.name }, data: { count: String(count) } } as KubeObject]);
      return done({}, { after: 10 });
    },
  });
}

/** When writes of children were sent, through this proxy. */
function timesOfWrites(proxy: FaultProxy): number[] {
  const times: number[] = [];
  const listen = ({ isWrite, path }: { isWrite: boolean; path: string }): boolean => {
    if (isWrite && path.includes('/configmaps/')) times.push(Date.now());
    return false;
  };
  proxy.inject({ when: listen, fault: { kind: 'hang' } });
  return times;
}

test('a leader that can still write but no longer renew falls silent before another begins', async () => {
  await cluster.apply(basket(kind, namespace, 'a'));
  const [proxyA, proxyB] = [await FaultProxy.start(cluster.api.access), await FaultProxy.start(cluster.api.access)];
  const [writesA, writesB] = [timesOfWrites(proxyA), timesOfWrites(proxyB)];
  const a = await start([restless()], { proxy: proxyA, election: election('a') });
  await lease('a');
  await untilReady(cluster, kind, namespace, 'a');
  const b = await start([restless()], { proxy: proxyB, election: election('b') });
  await waitFor(cluster, { apiVersion: 'v1', resource: 'configmaps', namespace, name: 'a' }, (object) => Number(object?.data?.count) > 20, { what: 'written often' });
  expect(writesB).toEqual([]);
  const cutAt = Date.now();
  proxyA.inject({ path: /\/leases/, fault: { kind: 'hang' } });
  await lease('b');
  await waitFor(cluster, { apiVersion: 'v1', resource: 'configmaps', namespace, name: 'a' }, (object) => Number(object?.data?.count) < 20, { what: 'written by the other' });
  const lastOfA = Math.max(...writesA);
  expect(lastOfA).toBeGreaterThan(cutAt);
  expect(Math.min(...writesB) - lastOfA).toBeGreaterThan(500);
  proxyA.mend();
  await Promise.all([stop(a), stop(b)]);
  await Promise.all([proxyA.close(), proxyB.close()]);
});

test('a leader that is stopped lets its passes end, then hands over at once', async () => {
  await cluster.apply(basket(kind, namespace, 'a'));
  let begun: () => void;
  const beginning = new Promise<void>((resolve) => (begun = resolve));
  const slow = basketController(kind, {
    owns: [builtin.ConfigMap],
    async reconcile(context) {
      begun();
      await context.clock.sleep(700, context.signal);
      await context.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } }]);
      return done();
    },
  });
  const a = await start([slow], { election: { ...election('a'), durationMs: 30_000, renewDeadlineMs: 20_000 } });
  await beginning;
  await start([basketController(kind)], { election: { ...election('b'), durationMs: 30_000, renewDeadlineMs: 20_000 } });
  await stop(a);
  await lease('b');
  await waitFor(cluster, { apiVersion: 'v1', resource: 'configmaps', namespace, name: 'late' }, (object) => object !== undefined, { what: 'finished' });
});

test('at a restart a child stays with the object that it was made for, though objects of that kind are listed late', async () => {
  const other = basketKind('other.manager.runtime.test');
  await install(cluster, other);
  const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' } } as KubeObject;
  const reconcile = async (context: Context<BasketKind>) => {
    await context.apply([child], { own: 'label' });
    return done();
  };
  const controllers = [basketController(kind, { owns: [builtin.ConfigMap], reconcile }), basketController(other, { name: 'other', owns: [builtin.ConfigMap], reconcile })];
  const first = await start(controllers);
  await cluster.apply(basket(kind, namespace, 'a'));
  const { metadata: owner } = await untilReady(cluster, kind, namespace, 'a');
  await stop(first);

  await cluster.apply(basket(other, namespace, 'b'));
  const proxy = await FaultProxy.start(cluster.api.access);
  proxy.inject({ method: 'GET', path: /\/apis\/manager\.runtime\.test\//, times: 1, fault: { kind: 'delay', ms: 3_000 } });
  const second = await start(controllers, { proxy });
  try {
    await untilReady(cluster, other, namespace, 'b', 'False', 'NotOurs');
    const shared = await second.client.get<KubeObject>(builtin.ConfigMap, { namespace, name: 'shared' });
    expect(shared.metadata.labels?.['dbop.dev/owner']).toBe(owner.uid);
  } finally {
    await stop(second);
    await proxy.close();
  }
});

test('a pass that does not end within the grace period is ended', async () => {
  await cluster.apply(basket(kind, namespace, 'a'));
  let begun: () => void;
  const beginning = new Promise<void>((resolve) => (begun = resolve));
  const endless = basketController(kind, {
    owns: [],
    async reconcile({ clock, signal }) {
      begun();
      await clock.sleep(3_600_000, signal);
      return done();
    },
  });
  const rig = await start([endless], { gracePeriodMs: 300 });
  await beginning;
  await stop(rig);
  expect(rig.lines.map(({ msg }) => msg)).toContain('pass ended early: the manager stops or no longer leads');
});

test('a process is ready once its caches are full, and tells what it does in the words of controller-runtime', async () => {
  await cluster.apply(basket(kind, namespace, 'a'));
  const proxy = await FaultProxy.start(cluster.api.access);
  const release = proxy.inject({ path: /\/secrets$/, fault: { kind: 'status', status: 503 } });
  const rig = await start([basketController(kind)], { proxy, health: { port: 0, host: '127.0.0.1' }, election: election('a') });
  await lease('a');
  const ask = async (path: string): Promise<{ status: number; body: string }> => {
    const response = await fetch(`http://127.0.0.1:${rig.manager.port}${path}`);
    return { status: response.status, body: await response.text() };
  };
  expect(await ask('/readyz')).toEqual({ status: 503, body: 'caches are not yet full\n' });
  expect(await ask('/healthz')).toEqual({ status: 200, body: 'ok\n' });
  expect(rig.writes(({ path }) => !path.includes('leases'))).toEqual([]);
  release();
  await untilReady(cluster, kind, namespace, 'a');
  expect(await ask('/readyz')).toEqual({ status: 200, body: 'ok\n' });
  const { body } = await ask('/metrics');
  expect(body).toMatch(/^controller_runtime_reconcile_total\{controller="basket",result="success"\} \d+$/m);
  expect(body).toMatch(/^controller_runtime_reconcile_errors_total\{controller="basket"\} 0$/m);
  expect(body).toMatch(/^controller_runtime_reconcile_time_seconds_count\{controller="basket"\} \d+$/m);
  expect(body).toMatch(/^workqueue_depth\{name="basket",controller="basket"\} 0$/m);
  expect(body).toMatch(/^leader_election_master_status\{name="rig"\} 1$/m);
  await stop(rig);
  await proxy.close();
});

testOfOwn('an API server that restarts in mid-work costs time, but no object and no child', async () => {
  const own = await ownCluster({ nodes: 0 });
  try {
    await install(own, kind);
    const rig = await Rig.start(own, [basketController(kind)], {});
    const names = Array.from({ length: 60 }, (_, index) => `b${index}`);
    await Promise.all(names.map((name) => rig.client.create(kind, basket(kind, 'default', name) as KubeObject)));
    await untilReady(own, kind, 'default', 'b0');
    await own.restartApiServer(500);
    for (const name of names) await untilReady(own, kind, 'default', name);
    await rig.stop();
    const children = await own.kubectl('get secrets,configmaps,services,statefulsets,cronjobs,poddisruptionbudgets,networkpolicies -n default -l app.kubernetes.io/managed-by=rig -o name');
    expect(children.trim().split('\n')).toHaveLength(names.length * 8);
  } finally {
    await own.remove();
  }
}, firstUpTimeoutMs);
