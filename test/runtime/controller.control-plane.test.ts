import { setTimeout as passed } from 'node:timers/promises';
import { builtin, type KubeObject } from '../../src/kind/resource';
import { done, stuck, wait, type Context } from '../../src/runtime';
import type { FaultRule } from '../support/fault';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import type { Manifest } from './children';
import { basket, basketController, basketKind, install, readyOf, Rig, untilReady, type Basket, type BasketKind } from './rig';

jest.setTimeout(60_000);

const kind = basketKind('controller.runtime.test');
let cluster: TestCluster;
let namespace: string;
let rig: Rig | undefined;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  await install(cluster, kind);
}, firstUpTimeoutMs);

beforeEach(async () => {
  namespace = await makeNamespace(cluster);
});

afterEach(async () => {
  await rig?.stop();
  rig = undefined;
  await removeNamespace(cluster, namespace);
});

afterAll(() => cluster.close());

const names = Array.from({ length: 20 }, (_, index) => `basket-${index}`);

async function start(more: Parameters<typeof basketController>[1] = {}): Promise<Rig> {
  rig = await Rig.start(cluster, [basketController(kind, more)], { namespaces: [namespace] });
  return rig;
}

const config = ({ metadata, spec }: Basket): Manifest => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: metadata.name }, data: { comment: spec.comment } });
const baskets = (name: string) => ({ apiVersion: 'controller.runtime.test/v1', resource: 'baskets', namespace, name });
const events = async (): Promise<{ reason: string; type: string; note: string; count: number }[]> => {
  const list = await cluster.api.demand<{ items: { reason: string; type: string; note: string; series?: { count: number } }[] }>('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
  return list.items.map(({ reason, type, note, series }) => ({ reason, type, note, count: series?.count ?? 1 }));
};

/** A reconcile that makes one ConfigMap and counts its passes. */
function counting(): { passes: Map<string, number>; reconcile(context: Context<BasketKind>): Promise<ReturnType<typeof done>> } {
  const passes = new Map<string, number>();
  return {
    passes,
    async reconcile(context) {
      const { name } = context.object.metadata;
      passes.set(name, (passes.get(name) ?? 0) + 1);
      await context.apply([config(context.object)], { set: 'all' });
      return done();
    },
  };
}

test('objects cost nine writes each at first, none at a restart and when idle, and only what differs after a change', async () => {
  await cluster.apply(...names.map((name) => basket(kind, namespace, name)));
  const first = await start();
  await Promise.all(names.map((name) => untilReady(cluster, kind, namespace, name)));
  expect(first.writes()).toHaveLength(names.length * 9);
  await first.stop();

  const second = await start();
  await second.client.get(kind, { namespace, name: 'basket-0' });
  await passed(2_000);
  expect(second.writes()).toEqual([]);

  second.proxy.forget();
  await cluster.apply(...names.map((name) => basket(kind, namespace, name, { comment: 'two' })));
  await Promise.all(names.map((name) => untilReady(cluster, kind, namespace, name)));
  // The comment stands in the Secret, the ConfigMap and the StatefulSet.
  expect(second.writes((request) => request.path.includes('basket-0'))).toEqual(expect.arrayContaining(['PATCH secrets/basket-0', 'PATCH configmaps/basket-0', 'PATCH statefulsets/basket-0', 'PATCH basket-0/status']));
  expect(second.writes()).toHaveLength(names.length * 4);
});

test('an object has one pass: neither the writes of that pass nor changes that do not matter bring another', async () => {
  const { passes, reconcile } = counting();
  await cluster.apply(basket(kind, namespace, 'a'));
  await start({ reconcile, owns: [builtin.ConfigMap] });
  await untilReady(cluster, kind, namespace, 'a');
  await cluster.kubectl(`patch baskets.controller.runtime.test a -n ${namespace} --subresource status --type merge -p '{"status":{"phase":"theirs"}}'`);
  await cluster.apply(basket(kind, namespace, 'b'));
  await untilReady(cluster, kind, namespace, 'b');
  expect(passes.get('a')).toBe(1);
  await cluster.kubectl(`label baskets.controller.runtime.test a -n ${namespace} matters=yes`);
  await cluster.apply(basket(kind, namespace, 'c'));
  await untilReady(cluster, kind, namespace, 'c');
  expect(Object.fromEntries(passes)).toEqual({ a: 2, b: 1, c: 1 });
});

test('a finalizer is set before the first side effect, is removed alone, and the object goes when finalize is done', async () => {
  let mayGo = false;
  await cluster.apply({ ...basket(kind, namespace, 'a'), metadata: { name: 'a', namespace, finalizers: ['example.com/theirs'] } });
  await start({
    owns: [builtin.ConfigMap],
    finalizer: 'example.com/ours',
    reconcile: counting().reconcile,
    async finalize() {
      return mayGo ? done() : wait('Farewell', 'waiting for the test', { after: 50 });
    },
  });
  await untilReady(cluster, kind, namespace, 'a');
  expect(rig?.writes()).toEqual(['PATCH baskets/a', 'PATCH configmaps/a', 'PATCH a/status']);
  await cluster.kubectl(`delete baskets.controller.runtime.test a -n ${namespace} --wait=false`);
  const going = await untilReady(cluster, kind, namespace, 'a', 'False', 'Farewell');
  expect(going.metadata.finalizers).toEqual(['example.com/theirs', 'example.com/ours']);
  mayGo = true;
  const gone = await waitFor(cluster, baskets('a'), (object) => object?.metadata.finalizers?.length === 1, { what: 'released by us' });
  expect(gone.metadata.finalizers).toEqual(['example.com/theirs']);
  await cluster.kubectl(`patch baskets.controller.runtime.test a -n ${namespace} --type json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`);
  await waitFor(cluster, baskets('a'), (object) => object === undefined, { what: 'gone' });
});

test.each<[string, (name: string) => Promise<unknown>, (object: AnyObject) => boolean]>([
  ['a change of the spec', (name) => cluster.apply(basket(kind, namespace, name, { comment: 'two' })), (object) => object.status?.observedGeneration === 2],
  ['a deletion', (name) => cluster.kubectl(`delete baskets.controller.runtime.test ${name} -n ${namespace} --wait=false`), (object) => readyOf(object)?.reason === 'Farewell'],
])('%s that comes while our own status is being written is not passed over with it', async (_what, change, isReconciled) => {
  let mayGo = false;
  const { proxy } = await start({ owns: [], finalizer: 'example.com/ours', reconcile: async () => done(), finalize: async () => (mayGo ? done() : wait('Farewell', 'waiting for the test', { after: 50 })) });
  const written = new Promise<void>((resolve) => {
    const isStatus = ({ path }: { path: string }): boolean => path.endsWith('/status') && (resolve(), true);
    proxy.inject({ method: 'PATCH', when: isStatus, times: 1, fault: { kind: 'delay', ms: 3_000 } });
  });
  await cluster.apply(basket(kind, namespace, 'a'));
  await written;
  await change('a');
  await waitFor(cluster, baskets('a'), (object) => object !== undefined && isReconciled(object), { what: 'reconciled' });
  mayGo = true;
  await cluster.kubectl(`delete baskets.controller.runtime.test a -n ${namespace} --ignore-not-found`);
});

test.each([
  [true, 'Warning'],
  [false, 'Normal'],
])('what is waited for is told by an Event, a warning if the controller says so: %s', async (warning, type) => {
  await cluster.apply(basket(kind, namespace, 'a'));
  await start({ owns: [], reconcile: async () => wait('NoApples', 'the shop is closed', { warning }) });
  await untilReady(cluster, kind, namespace, 'a', 'False', 'NoApples');
  await rig?.stop();
  rig = undefined;
  expect(await events()).toEqual([{ reason: 'NoApples', type, note: 'the shop is closed', count: 1 }]);
});

test('a deletion that is stuck says why in the condition and by an Event', async () => {
  await cluster.apply(basket(kind, namespace, 'a'));
  await start({ owns: [], finalizer: 'example.com/ours', reconcile: async () => done(), finalize: async () => stuck('NoBackup', 'the final backup failed; delete it with policy Delete') });
  await untilReady(cluster, kind, namespace, 'a');
  await cluster.kubectl(`delete baskets.controller.runtime.test a -n ${namespace} --wait=false`);
  await untilReady(cluster, kind, namespace, 'a', 'False', 'NoBackup');
  await rig?.stop();
  rig = undefined;
  expect(await events()).toEqual([{ reason: 'NoBackup', type: 'Warning', note: 'the final backup failed; delete it with policy Delete', count: 1 }]);
  await cluster.kubectl(`patch baskets.controller.runtime.test a -n ${namespace} --type json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`);
});

test('a change of a watched object reaches those that it wakes, and no others', async () => {
  const passes: string[] = [];
  await cluster.apply(basket(kind, namespace, 'a', { comment: 'source' }), basket(kind, namespace, 'b', { comment: 'another' }));
  await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'source', namespace }, stringData: { a: 'one' } });
  await start({
    owns: [builtin.ConfigMap],
    watches: [builtin.Secret],
    wakes: (secret, read) => read<Basket>(kind).list(secret.metadata.namespace).filter(({ spec }) => spec.comment === secret.metadata.name).map(({ metadata }) => metadata),
    async reconcile(context) {
      const source = context.read<KubeObject & { data: Record<string, string> }>(builtin.Secret).get(context.object.spec.comment);
      passes.push(`${context.object.metadata.name} ${source?.data.a}`);
      return done({ phase: source?.data.a });
    },
  });
  await waitFor(cluster, baskets('a'), (object) => object?.status?.phase === 'b25l', { what: 'copied' });
  await untilReady(cluster, kind, namespace, 'b');
  passes.length = 0;
  await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'source', namespace }, stringData: { a: 'two' } });
  await waitFor(cluster, baskets('a'), (object) => object?.status?.phase === 'dHdv', { what: 'copied' });
  expect(passes).toEqual(['a dHdv']);
});

test('of 1,000 objects, one that always throws harms no other, is retried ever more slowly, and says so once', async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `b${index}`);
  const { passes, reconcile } = counting();
  const running = await start({
    owns: [builtin.ConfigMap],
    concurrency: 16,
    async reconcile(context) {
      if (context.object.metadata.name !== 'b13') return reconcile(context);
      throw new Error('the thirteenth fails');
    },
  });
  await Promise.all(many.map((name) => running.client.create(kind, basket(kind, namespace, name) as KubeObject)));
  const broken = await untilReady(cluster, kind, namespace, 'b13', 'False', 'ReconcileFailed');
  const statuses = (): number => running.proxy.writes().filter(({ path, status }) => path.endsWith('/status') && status === 200).length;
  while (statuses() < 1_000) await passed(100);
  const { items } = await running.client.list<Basket>(kind, { namespace });
  expect(items.filter((item) => readyOf(item)?.status === 'True')).toHaveLength(999);
  expect(readyOf(broken)?.message).toBe('the thirteenth fails; trying again');
  expect(passes.size).toBe(999);
  expect([...passes.values()].every((count) => count === 1)).toBe(true);
  const failures = running.lines.filter((line) => line.name === 'b13' && String(line.msg).startsWith('pass failed'));
  expect(failures.map((line) => line.failures)).toEqual(failures.map((_, index) => index + 1));
  expect(failures[0]).toMatchObject({ kind: 'Basket', namespace, generation: 1, reconcileID: expect.any(String) as string, level: 'error' });
  await running.stop();
  rig = undefined;
  expect(await events()).toEqual([{ reason: 'ReconcileFailed', type: 'Warning', note: 'the thirteenth fails; trying again', count: 1 }]);
}, 240_000);

test.each<[string, FaultRule]>([
  ['are done though the answer is lost', { method: 'PATCH', times: 12, after: 5, fault: { kind: 'reset', when: 'after' } }],
  ['never arrive', { method: 'PATCH', times: 12, after: 5, fault: { kind: 'reset', when: 'before' } }],
  ['are answered with 409', { method: 'PATCH', times: 12, after: 5, fault: { kind: 'status', status: 409, reason: 'Conflict' } }],
  ['are answered with 429', { method: 'PATCH', times: 12, after: 5, fault: { kind: 'status', status: 429, retryAfterSeconds: 1 } }],
  ['are answered with 500', { method: 'PATCH', times: 12, after: 5, fault: { kind: 'status', status: 500 } }],
])('when writes %s, all objects get there, none twice, and a restart finds nothing to do', async (_what, rule) => {
  const { proxy } = await start({ finalizer: 'example.com/ours', finalize: async () => done() });
  proxy.inject(rule);
  const some = names.slice(0, 5);
  await cluster.apply(...some.map((name) => basket(kind, namespace, name)));
  const objects = await Promise.all(some.map((name) => untilReady(cluster, kind, namespace, name)));
  expect(objects.map(({ metadata }) => metadata.finalizers)).toEqual(some.map(() => ['example.com/ours']));
  await rig?.stop();
  const second = await start({ finalizer: 'example.com/ours', finalize: async () => done() });
  await passed(1_000);
  expect(second.writes()).toEqual([]);
  await Promise.all(some.map((name) => cluster.kubectl(`delete baskets.controller.runtime.test ${name} -n ${namespace}`)));
});

test('an outcome moves the Ready condition and its time only when it must, and sends one Event for each change', async () => {
  const say: Record<string, ReturnType<typeof done>> = {
    one: wait('Starting', 'waiting for the server'),
    two: wait('Starting', 'waiting for the server'),
    three: done(),
  };
  await start({ owns: [], reconcile: async ({ object }) => say[object.spec.comment] ?? done() });
  const times: (string | undefined)[] = [];
  for (const comment of ['one', 'two', 'three']) {
    await cluster.apply(basket(kind, namespace, 'a', { comment }));
    const object = await waitFor(cluster, baskets('a'), (there) => there?.spec?.comment === comment && there.status?.observedGeneration === there.metadata.generation, { what: comment });
    times.push(readyOf(object)?.lastTransitionTime);
    await passed(1_100);
  }
  expect(times[0]).toBe(times[1]);
  expect(times[2]).not.toBe(times[1]);
  await rig?.stop();
  rig = undefined;
  expect((await events()).map(({ reason, type, count }) => ({ reason, type, count }))).toEqual(
    expect.arrayContaining([{ reason: 'Starting', type: 'Normal', count: 1 }, { reason: 'Ready', type: 'Normal', count: 1 }]),
  );
  expect(await events()).toHaveLength(2);
});
