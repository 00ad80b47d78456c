import { setTimeout as passed } from 'node:timers/promises';
import type { TestCluster } from '../support/testCluster';
import { firstUpTimeoutMs, sharedCluster } from '../support/sharedCluster';
import { makeNamespace, removeNamespace } from '../support/testNamespace';
import { basket, basketController, basketKind, install, Rig, untilReady } from './rig';

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

async function start(...args: Parameters<typeof basketController> extends [unknown, ...infer Rest] ? Rest : never): Promise<Rig> {
  rig = await Rig.start(cluster, [basketController(kind, ...args)], { namespaces: [namespace] });
  return rig;
}

test('objects cost nine writes each at first, none at a restart and when idle, and only what differs after a change', async () => {
  await cluster.apply(...names.map((name) => basket(kind, namespace, name)));
  const first = await start();
  await Promise.all(names.map((name) => untilReady(cluster, kind, namespace, name)));
  expect(first.writes()).toHaveLength(names.length * 9);
  await first.stop();

  const second = await start({ reconcile: basketController(kind).reconcile });
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
