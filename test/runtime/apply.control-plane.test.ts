import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtin, type KubeObject, type ResourceType } from '../../src/kind/resource';
import { done, type ApplyChildrenOptions, type Controller } from '../../src/runtime';
import { prepared } from '../../src/runtime/manifest';
import type { FaultRule } from '../support/fault';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { eightChildren, type Manifest } from './children';
import { basket, basketController, basketKind, install, readyOf, Rig, untilReady, type Basket, type BasketKind } from './rig';

jest.setTimeout(60_000);

const kind = basketKind('apply.runtime.test');
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

/** Reconciles one basket 'a' into what `children` says. */
async function reconciling(children: (comment: string) => Manifest[], options: ApplyChildrenOptions = { set: 'all' }): Promise<Rig> {
  rig = await Rig.start(
    cluster,
    [
      basketController(kind, {
        async reconcile(context) {
          await context.apply(children(context.object.spec.comment), options);
          return done();
        },
      }),
    ],
    { namespaces: [namespace] },
  );
  return rig;
}

const config = (name: string, data: Record<string, string> = { a: 'b' }): Manifest => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const configMap = (name: string) => ({ apiVersion: 'v1', resource: 'configmaps', namespace, name });
const say = (comment: string) => cluster.apply(basket(kind, namespace, 'a', { comment }));

test('the captured objects are what the API server makes of the manifests today', async () => {
  const captured = JSON.parse(readFileSync(join(__dirname, 'fixtures/applied-children.json'), 'utf8')) as KubeObject[];
  rig = await Rig.start(cluster, [], {});
  const owner: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace, uid: '00000000-0000-4000-8000-000000000001' } };
  for (const manifest of eightChildren('orders')) {
    const type = (builtin as Record<string, ResourceType>)[manifest.kind] as ResourceType;
    const wanted = prepared(manifest, type, { manager: 'tester', owner, ownerType: builtin.ConfigMap, own: 'label', set: 'all' });
    const live = await rig.client.apply<KubeObject>(type, wanted, { fieldManager: 'tester', force: true });
    const before = captured.find((object) => object.kind === live.kind && object.metadata.name === live.metadata.name);
    const fields = (object: KubeObject | undefined): unknown => object?.metadata.managedFields?.find(({ operation }) => operation === 'Apply')?.fieldsV1;
    expect(fields(live)).toEqual(fields(before));
    expect(live.metadata.annotations).toEqual(before?.metadata.annotations);
  }
});

test('children carry the manager, the owner and an owner reference', async () => {
  await say('one');
  await reconciling(() => [config('a')]);
  const owner = await untilReady(cluster, kind, namespace, 'a');
  const child = await rig?.client.get<KubeObject>(builtin.ConfigMap, { namespace, name: 'a' });
  expect(child?.metadata.labels).toEqual({ 'app.kubernetes.io/managed-by': 'rig', 'dbop.dev/owner': owner.metadata.uid, 'dbop.dev/set': 'all' });
  expect(child?.metadata.ownerReferences).toEqual([{ apiVersion: 'apply.runtime.test/v1', kind: 'Basket', name: 'a', uid: owner.metadata.uid, controller: true, blockOwnerDeletion: true }]);
});

test('a child that somebody deleted comes back by one write', async () => {
  await say('one');
  const { proxy } = await reconciling(() => [config('a'), config('b')]);
  await untilReady(cluster, kind, namespace, 'a');
  proxy.forget();
  const { metadata } = await waitFor(cluster, configMap('a'), (object) => object !== undefined, { what: 'there' });
  await cluster.kubectl(`delete configmap a -n ${namespace}`);
  await waitFor(cluster, configMap('a'), (object) => object !== undefined && object.metadata.uid !== metadata.uid, { what: 'there again' });
  expect(rig?.writes()).toEqual(['PATCH configmaps/a']);
});

test('what somebody changed of ours is set right by one write, and what they added stays', async () => {
  await say('one');
  const { proxy } = await reconciling(() => [config('a')]);
  await untilReady(cluster, kind, namespace, 'a');
  proxy.forget();
  await cluster.kubectl(`patch configmap a -n ${namespace} --type merge -p '{"data":{"a":"theirs","more":"x"}}'`);
  const { data } = await waitFor(cluster, configMap('a'), (object) => object?.data?.a === 'b', { what: 'set right' });
  expect(data).toEqual({ a: 'b', more: 'x' });
  expect(rig?.writes()).toEqual(['PATCH configmaps/a']);
});

test('a child from which somebody took our label gets it back', async () => {
  await say('one');
  const { proxy } = await reconciling(() => [config('a')]);
  await untilReady(cluster, kind, namespace, 'a');
  proxy.forget();
  await cluster.kubectl(`label configmap a -n ${namespace} app.kubernetes.io/managed-by-`);
  await waitFor(cluster, configMap('a'), (object) => object?.metadata.labels?.['app.kubernetes.io/managed-by'] === 'rig', { what: 'labelled' });
  // The first is the attempt to create it, which finds it there.
  expect(rig?.writes()).toEqual(['PATCH configmaps/a', 'PATCH configmaps/a']);
});

test('a child from which somebody took the label that names its owner gets it back, though nothing else ties it to that', async () => {
  await say('one');
  await reconciling(() => [config('a')], { own: 'label' });
  const owner = await untilReady(cluster, kind, namespace, 'a');
  await cluster.kubectl(`label configmap a -n ${namespace} dbop.dev/owner-`);
  await waitFor(cluster, configMap('a'), (object) => object?.metadata.labels?.['dbop.dev/owner'] === owner.metadata.uid, { what: 'labelled' });
});

test('a child of a deleted predecessor is left to the garbage collector, then made anew', async () => {
  await say('one');
  const held = (): Manifest => ({ ...config('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } });
  await reconciling(() => [held()]);
  await untilReady(cluster, kind, namespace, 'a');
  await cluster.kubectl(`delete baskets.apply.runtime.test a -n ${namespace}`);
  await say('one');
  const object = await untilReady(cluster, kind, namespace, 'a', 'False', 'ReconcileFailed');
  expect(readyOf(object)?.message).toMatch(/ConfigMap '.*\/a' still belongs to the deleted predecessor of .*\/a; waiting until the garbage collector has removed it/);
  await waitFor(cluster, configMap('a'), (there) => there?.metadata.deletionTimestamp !== undefined, { what: 'collected', withinMs: 120_000 });
  await cluster.kubectl(`patch configmap a -n ${namespace} --type json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`);
  await untilReady(cluster, kind, namespace, 'a');
  await cluster.kubectl(`patch configmap a -n ${namespace} --type json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`);
  // The garbage collector stands still for half a minute whenever somebody, such as another test, removes a definition.
}, 180_000);

test('a child of a custom kind, too, is created only where there is none', async () => {
  const crate = basketKind('crate.apply.runtime.test');
  await install(cluster, crate);
  await cluster.apply(basket(crate, namespace, 'theirs', { comment: 'mine' }));
  await say('one');
  const children = [basket(crate, namespace, 'ours'), basket(crate, namespace, 'theirs')] as KubeObject[];
  const reconcile: Controller<BasketKind>['reconcile'] = async (context) => {
    await context.apply(children, { set: 'all' });
    return done();
  };
  rig = await Rig.start(cluster, [basketController(kind, { owns: [crate], reconcile })], { namespaces: [namespace] });
  const object = await untilReady(cluster, kind, namespace, 'a', 'False', 'NotOurs');
  expect(readyOf(object)?.message).toMatch(/^Basket '.*\/theirs' was made by 'kubectl-client-side-apply'/);
  const ours = await rig.client.get<Basket>(crate, { namespace, name: 'ours' });
  const theirs = await rig.client.get<Basket>(crate, { namespace, name: 'theirs' });
  expect(ours.metadata.labels?.['dbop.dev/owner']).toBe(object.metadata.uid);
  expect(theirs.metadata.labels).toBeUndefined();
});

test('what is no longer rendered is pruned; what was applied without a set, or belongs to another, is not', async () => {
  await say('one');
  rig = await Rig.start(
    cluster,
    [
      basketController(kind, {
        async reconcile(context) {
          await context.apply(context.object.spec.comment === 'one' ? [config('a'), config('b')] : [config('a')], { set: 'all' });
          if (context.object.spec.comment === 'one') await context.apply([config('kept')]);
          return done();
        },
      }),
    ],
    { namespaces: [namespace] },
  );
  await untilReady(cluster, kind, namespace, 'a');
  await cluster.apply({ ...config('foreign'), metadata: { name: 'foreign', namespace, labels: { 'app.kubernetes.io/managed-by': 'rig', 'dbop.dev/set': 'all', 'dbop.dev/owner': 'another' } } });
  rig.proxy.forget();
  await say('two');
  await waitFor(cluster, configMap('b'), (object) => object === undefined, { what: 'pruned' });
  await untilReady(cluster, kind, namespace, 'a');
  expect(rig.writes()).toEqual(['DELETE configmaps/b', 'PATCH a/status']);
  expect(await cluster.kubectl(`get configmaps -n ${namespace} -o name`)).toMatch(/foreign[^]*kept/);
});

test.each<[string, object, string]>([
  ['somebody made', { labels: {} }, "ConfigMap '%/a' was made by 'kubectl-client-side-apply'; delete it, or hand it over with: kubectl label configmap a -n % --overwrite app.kubernetes.io/managed-by=rig"],
  ['another tool manages', { labels: { 'app.kubernetes.io/managed-by': 'Helm' } }, "ConfigMap '%/a' was made by 'Helm'; delete it, or hand it over with: kubectl label configmap a -n % --overwrite app.kubernetes.io/managed-by=rig"],
])('an object that %s is left alone, and the condition names its owner', async (_who, metadata, message) => {
  await cluster.apply({ ...config('a', { theirs: 'x' }), metadata: { name: 'a', namespace, ...metadata } });
  const { metadata: before } = await waitFor(cluster, configMap('a'), (object) => object !== undefined, { what: 'there' });
  await say('one');
  await reconciling(() => [config('a'), config('b')]);
  const object = await untilReady(cluster, kind, namespace, 'a', 'False', 'NotOurs');
  expect(readyOf(object)?.message).toBe(message.replaceAll('%', namespace));
  const { metadata: after } = await waitFor(cluster, configMap('a'), (there) => there !== undefined, { what: 'there' });
  expect(after.resourceVersion).toBe(before.resourceVersion);
  await waitFor(cluster, configMap('b'), (there) => there !== undefined, { what: 'applied all the same' });
});

test('an object that another object controls is left alone even when it has our label, and the condition names its owner', async () => {
  await cluster.apply({ ...config('web'), metadata: { name: 'web', namespace } });
  const { metadata: web } = await waitFor(cluster, configMap('web'), (object) => object !== undefined, { what: 'there' });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'web', uid: web.uid, controller: true }];
  await cluster.apply({ ...config('a'), metadata: { name: 'a', namespace, ownerReferences, labels: { 'app.kubernetes.io/managed-by': 'rig' } } });
  await say('one');
  await reconciling(() => [config('a')]);
  const object = await untilReady(cluster, kind, namespace, 'a', 'False', 'NotOurs');
  expect(readyOf(object)?.message).toBe(`ConfigMap '${namespace}/a' is controlled by ConfigMap 'web'; rename one of the two, or delete that ConfigMap`);
  expect(rig?.writes()).toEqual(['PATCH a/status']);
});

test('an object that was handed over is taken', async () => {
  await cluster.apply({ ...config('a', { theirs: 'x' }), metadata: { name: 'a', namespace, labels: { 'app.kubernetes.io/managed-by': 'rig' } } });
  await say('one');
  await reconciling(() => [config('a')]);
  await untilReady(cluster, kind, namespace, 'a');
  const { data } = await waitFor(cluster, configMap('a'), (object) => object?.data?.a === 'b', { what: 'ours' });
  expect(data).toEqual({ a: 'b', theirs: 'x' });
});

test.each<[string, FaultRule[]]>([
  ['is set right', []],
  ['is set right though the pass was cut off midway', [{ method: 'PATCH', when: ({ body }) => body.includes('managedFields'), times: 1, fault: { kind: 'reset', when: 'before' } }]],
])('a port that somebody changed %s, and goes once it is no longer rendered', async (_how, faults) => {
  const service = (...ports: number[]): Manifest => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: ports.map((port) => ({ name: `p${port}`, port })) } });
  const target = { apiVersion: 'v1', resource: 'services', namespace, name: 'a' };
  const portsOf = (object: AnyObject | undefined): string => (object?.spec?.ports as { port: number }[] | undefined)?.map(({ port }) => port).join() ?? '';
  await say('one');
  const { proxy } = await reconciling((comment) => [comment === 'one' ? service(80, 90) : service(80)]);
  faults.forEach((fault) => proxy.inject(fault));
  await untilReady(cluster, kind, namespace, 'a');
  await cluster.kubectl(`patch service a -n ${namespace} --type json -p '[{"op":"replace","path":"/spec/ports/1/port","value":91}]'`);
  await waitFor(cluster, target, (object) => portsOf(object) === '80,90', { what: 'set right' });
  await say('two');
  await waitFor(cluster, target, (object) => portsOf(object) === '80', { what: 'without the port' });
  expect(proxy.requests(({ fault }) => fault !== undefined)).toHaveLength(faults.length);
});

const statefulSet = (serviceName: string): Manifest => {
  const found = eightChildren('a').find((child) => child.kind === 'StatefulSet') as Manifest;
  return { ...found, spec: { ...(found.spec as object), serviceName } };
};

test('an immutable field becomes a condition that says what to do', async () => {
  await say('one');
  await reconciling((comment) => [statefulSet(comment)]);
  await untilReady(cluster, kind, namespace, 'a');
  await say('two');
  const object = await untilReady(cluster, kind, namespace, 'a', 'False', 'ImmutableField');
  expect(readyOf(object)?.message).toMatch(/cannot apply StatefulSet .*\/a: .*; undo the change, or delete the StatefulSet so that it is made anew$/);
});

test('a kind that may be replaced is deleted without its dependents and made anew', async () => {
  await say('one');
  await reconciling((comment) => [statefulSet(comment)], { set: 'all', replaceable: [builtin.StatefulSet] });
  await untilReady(cluster, kind, namespace, 'a');
  rig?.proxy.forget();
  await say('two');
  await waitFor(cluster, { apiVersion: 'apps/v1', resource: 'statefulsets', namespace, name: 'a' }, (object) => object?.spec?.serviceName === 'two', { what: 'made anew' });
  expect(rig?.proxy.requests(({ method }) => method === 'DELETE').map(({ body }) => JSON.parse(body) as object)).toEqual([
    expect.objectContaining({ propagationPolicy: 'Orphan', preconditions: { uid: expect.any(String) as string } }),
  ]);
});

test('a field that no schema knows stops the object, and is not tried again and again', async () => {
  await say('one');
  await reconciling(() => [{ ...config('a'), wrong: 'x' }]);
  const object = await untilReady(cluster, kind, namespace, 'a', 'False', 'Refused');
  expect(readyOf(object)?.message).toMatch(/cannot apply ConfigMap .*\/a: .*field not declared in schema/);
  expect(rig?.writes(({ path }) => path.endsWith('/a'))).toEqual(['PATCH configmaps/a']);
});

test('a kind that the controller does not declare is refused before anything is sent', async () => {
  await say('one');
  await reconciling(() => [config('a'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }]);
  const object = await untilReady(cluster, kind, namespace, 'a', 'False', 'Undeclared');
  expect(readyOf(object)?.message).toMatch(/add it to 'owns'/);
  expect(rig?.writes()).toEqual(['PATCH a/status']);
});

test('a child without an owner reference outlives its owner, and a later owner of that name finds it', async () => {
  await say('one');
  await reconciling(() => [config('a')], { own: 'none' });
  await untilReady(cluster, kind, namespace, 'a');
  const { metadata: before } = await waitFor(cluster, configMap('a'), (object) => object !== undefined, { what: 'there' });
  await cluster.kubectl(`delete baskets.apply.runtime.test a -n ${namespace}`);
  rig?.proxy.forget();
  await say('one');
  await untilReady(cluster, kind, namespace, 'a');
  const { metadata: after } = await waitFor(cluster, configMap('a'), (object) => object !== undefined, { what: 'there' });
  expect(after.resourceVersion).toBe(before.resourceVersion);
  expect(rig?.writes()).toEqual(['PATCH a/status']);
});
