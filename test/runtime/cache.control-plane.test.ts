import { builtin, keyOf, type KubeObject } from '../../src/kind/resource';
import { Cache, type CacheOptions, type CacheProblem } from '../../src/runtime/cache';
import { Client } from '../../src/runtime/client';
import { findCluster } from '../../src/runtime/find-cluster';
import { indexes, type Informer, type InformerEvent, type InformerSelection } from '../../src/runtime/informer';
import { ManualClock } from '../../src/runtime/manual-clock';
import { FaultProxy } from '../support/fault-proxy';
import { firstUpTimeoutMs, ownCluster, sharedCluster, testOfOwn } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';

// Real requests on a machine that may be busy with other tests.
jest.setTimeout(60_000);

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

let cluster: TestCluster;
let namespace: string;
/** Writes as somebody else would, past the proxy. */
let somebody: Client;
let proxy: FaultProxy;
let endings: (() => Promise<void>)[] = [];

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  somebody = new Client(await findCluster({ kubeconfig: cluster.kubeconfig }));
}, firstUpTimeoutMs);

beforeEach(async () => {
  namespace = await makeNamespace(cluster);
  proxy = await FaultProxy.start(cluster.api.access);
});

afterEach(async () => {
  await Promise.all(endings.map((end) => end()));
  endings = [];
  await proxy.close();
  await removeNamespace(cluster, namespace);
});

afterAll(async () => {
  await somebody.close();
  cluster.close();
});

const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = { test: 'yes' }, within = namespace): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: within, labels }, data });
const put = (name: string, data?: Record<string, string>, labels?: Record<string, string>): Promise<ConfigMap> => somebody.apply<ConfigMap>(builtin.ConfigMap, configMap(name, data, labels), { fieldManager: 'somebody', force: true });
const remove = (name: string): Promise<unknown> => somebody.delete(builtin.ConfigMap, { namespace, name });

interface Watched {
  informer: Informer<ConfigMap>;
  client: Client;
  events: InformerEvent<ConfigMap>[];
  problems: CacheProblem[];
  /** Resolves once it is so, looking again after every event. */
  until: (isSo: (informer: Informer<ConfigMap>) => boolean) => Promise<void>;
}

/** A synced informer of this test's ConfigMaps, through the proxy. */
async function watch(selection: InformerSelection = { namespaces: [namespace], labelSelector: 'test=yes' }, options: CacheOptions = {}, through = proxy): Promise<Watched> {
  const client = new Client(await findCluster({ kubeconfig: through.kubeconfig }));
  const problems: CacheProblem[] = [];
  const cache = new Cache(client, { ...options, onProblem: (problem) => problems.push(problem) });
  const informer = cache.informer<ConfigMap>(builtin.ConfigMap, selection);
  const events: InformerEvent<ConfigMap>[] = [];
  const waiting = new Set<() => void>();
  informer.onEvent((event) => {
    events.push(event);
    for (const look of waiting) look();
  });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  endings.push(async () => {
    stop.abort(new Error('the test is over'));
    await running;
    await client.close();
  });
  await cache.waitForSync();
  const until: Watched['until'] = (isSo) =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!isSo(informer)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { informer, client, events, problems, until };
}

const text = ({ type, object, origin }: InformerEvent<ConfigMap>): string => `${type} ${object.metadata.name}${origin === undefined ? '' : ` by ${String(origin)}`}`;
const has = (name: string, value?: string) => (informer: Informer<ConfigMap>): boolean => {
  const found = informer.get({ namespace, name });
  return value === undefined ? found !== undefined : found?.data?.v === value;
};
const lists = (): number => proxy.requests(({ isWatch, method }) => method === 'GET' && !isWatch).length;
const watches = (): (string | null)[] => proxy.requests(({ isWatch }) => isWatch).map(({ query }) => query.get('resourceVersion'));

describe('in quiet times', () => {
  test('what was there before and what comes after is held, trimmed to what our manager owns', async () => {
    await cluster.apply(configMap('before', { a: '1' }));
    const { informer, until, events } = await watch(undefined, { fieldManager: 'somebody' });
    await put('after');
    await until(has('after'));
    expect(events.map(text)).toEqual(['added before', 'added after']);
    expect(informer.get({ namespace, name: 'before' })?.metadata).not.toHaveProperty('managedFields');
    expect(informer.get({ namespace, name: 'before' })?.metadata.annotations ?? {}).toEqual({});
    expect(informer.get({ namespace, name: 'after' })?.metadata.managedFields).toEqual([expect.objectContaining({ manager: 'somebody' })]);
  });

  test('an object that loses the label is told as gone, and one that gains it as new', async () => {
    await put('moving');
    const { until, events } = await watch();
    await put('moving', {}, { test: 'no' });
    await until((informer) => informer.size === 0);
    await put('moving', {}, { test: 'yes' });
    await until(has('moving'));
    expect(events.map(text)).toEqual(['added moving', 'deleted moving', 'added moving']);
  });

  test('several namespaces are one cache, and others stay out of it', async () => {
    const second = await makeNamespace(cluster);
    const third = await makeNamespace(cluster);
    await Promise.all([namespace, second, third].map((within) => somebody.create(builtin.ConfigMap, configMap('one', {}, { test: 'yes' }, within))));
    const { informer } = await watch({ namespaces: [namespace, second], labelSelector: 'test=yes' });
    expect(informer.list().map(({ metadata }) => metadata.namespace).sort()).toEqual([namespace, second].sort());
    expect(informer.list(second)).toHaveLength(1);
    await Promise.all([second, third].map((within) => removeNamespace(cluster, within)));
  });

  test('a field selector narrows at the API server', async () => {
    await Promise.all([put('wanted'), put('unwanted')]);
    const { informer } = await watch({ namespaces: [namespace], fieldSelector: 'metadata.name=wanted' });
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['wanted']);
  });

  test('children are found by their owner', async () => {
    const owner = await put('owner');
    const child = configMap('child');
    child.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid as string }];
    await somebody.create(builtin.ConfigMap, child);
    const { informer } = await watch();
    expect(informer.byIndex(indexes.owner, owner.metadata.uid as string).map(({ metadata }) => metadata.name)).toEqual(['child']);
  });

  test('more objects than a page holds are all held', async () => {
    await Promise.all(Array.from({ length: 620 }, (_, i) => somebody.create(builtin.ConfigMap, configMap(`many-${i}`))));
    const { informer } = await watch();
    expect(informer.size).toBe(620);
    expect(lists()).toBe(2);
  });
});

describe('writes of our own', () => {
  test('are read back at once and told once, whether the answer or the watch is faster', async () => {
    const { informer, client, events } = await watch();
    for (let i = 0; i < 100; i++) {
      const wanted = configMap('own', { v: String(i) });
      const written = await informer.write(keyOf(wanted), 'us', () => client.apply<ConfigMap>(builtin.ConfigMap, wanted, { fieldManager: 'us' }));
      expect(informer.get(keyOf(wanted))?.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
    }
    const last = await put('end');
    await informer.seen(last);
    expect(events.map(text)).toEqual(['added own by us', ...Array.from({ length: 99 }, () => 'updated own by us'), 'added end']);
  });

  test("never hide somebody else's change of the same object", async () => {
    const { informer, client, events } = await watch();
    const key = { namespace, name: 'shared' };
    await put('shared', { theirs: '0' });
    for (let i = 1; i <= 50; i++) {
      const ours = informer.write(key, 'us', () => client.apply<ConfigMap>(builtin.ConfigMap, configMap('shared', { ours: String(i) }), { fieldManager: 'us' }));
      const theirs = put('shared', { theirs: String(i) });
      await informer.seen(await theirs);
      await ours;
      // What a controller does that passes over its own: it must have heard of the state that it now reads.
      await informer.seen(await put('mark', { v: String(i) }));
      const heard = events.filter(({ object, origin }) => object.metadata.name === 'shared' && origin === undefined).at(-1);
      expect((heard?.object as ConfigMap).data?.theirs).toBe(String(i));
    }
  });

  test('do not bring back what somebody has deleted meanwhile', async () => {
    const { informer, client, until } = await watch();
    for (let i = 0; i < 30; i++) {
      const wanted = configMap(`brief-${i}`);
      await informer.write(keyOf(wanted), 'us', async () => {
        const written = await client.create(builtin.ConfigMap, wanted);
        await remove(wanted.metadata.name);
        return written;
      });
    }
    await informer.seen(await put('end'));
    await until((held) => held.size === 1);
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['end']);
  });

  test('can be waited for without having been put in', async () => {
    const { informer } = await watch();
    const written = await put('foreign', { v: '1' });
    await informer.seen(written);
    expect(informer.get(keyOf(written))?.data).toEqual({ v: '1' });
  });
});

describe('in bad times', () => {
  test('a watch that is cut is resumed where it was, without a list and without a gap', async () => {
    proxy.inject({ isWatch: true, times: 1, fault: { kind: 'cutWatch', afterEvents: 1, how: 'reset' } });
    const { until, events } = await watch();
    await put('first');
    await put('second');
    await until(has('second'));
    expect(events.map(text)).toEqual(['added first', 'added second']);
    expect([lists(), watches().length]).toEqual([1, 2]);
  });

  test('a history that expires in mid-watch is replaced by a list, and what vanished in the gap is told as gone', async () => {
    await put('doomed');
    proxy.inject({ isWatch: true, times: 1, fault: { kind: 'staleWatch', afterEvents: 1 } });
    const clock = new ManualClock();
    const { until, events } = await watch(undefined, { clock, random: () => 0 });
    await put('seen');
    await until(has('seen'));
    await remove('doomed');
    await put('unseen');
    proxy.inject({ isWatch: true, times: 1, fault: { kind: 'status', status: 410, reason: 'Expired' } });
    await clock.advance(255_000);
    await until((informer) => has('unseen')(informer) && !has('doomed')(informer));
    expect(events.map(text)).toEqual(['added doomed', 'added seen', 'added unseen', 'deleted doomed']);
    expect(lists()).toBe(2);
  });

  test('an ERROR event with 410 in the stream leads to a list at once', async () => {
    proxy.inject({ isWatch: true, times: 1, fault: { kind: 'expireWatch', afterEvents: 1 } });
    const { until, events, problems } = await watch();
    await put('first');
    await until(has('first'));
    await put('second');
    await until(has('second'));
    expect(events.map(text)).toEqual(['added first', 'added second']);
    expect([lists(), problems]).toEqual([2, []]);
  });

  test('a watch that hangs silently is cut after its time and misses nothing', async () => {
    proxy.inject({ isWatch: true, times: 1, fault: { kind: 'staleWatch', afterEvents: 0 } });
    const clock = new ManualClock();
    const { until, events, problems } = await watch(undefined, { clock, random: () => 0 });
    await put('unseen');
    await clock.advance(254_000);
    expect(events).toEqual([]);
    await clock.advance(1_000);
    await until(has('unseen'));
    expect(lists()).toBe(1);
    expect(String(problems[0]?.error)).toContain('the API server should have ended the watch after 240 s');
  });

  test('events that come several times are told once', async () => {
    proxy.inject({ isWatch: true, fault: { kind: 'repeatEvents', times: 3 } });
    const { until, events } = await watch();
    await put('a', { v: '1' });
    await put('a', { v: '2' });
    await put('b');
    await remove('a');
    await put('end');
    await until(has('end'));
    expect(events.map(text)).toEqual(['added a', 'updated a', 'added b', 'deleted a', 'added end']);
  });

  test('a watch that ends over and over is resumed after its last event each time, and misses nothing', async () => {
    proxy.inject({ isWatch: true, times: 10, fault: { kind: 'cutWatch', afterEvents: 1, how: 'end' } });
    const { until, events } = await watch();
    const versions: (string | undefined)[] = [];
    for (let i = 0; i < 20; i++) versions.push((await put(`each-${i}`)).metadata.resourceVersion);
    await until((informer) => informer.size === 20);
    expect(events.map(text)).toEqual(Array.from({ length: 20 }, (_, i) => `added each-${i}`));
    expect(lists()).toBe(1);
    expect(watches().slice(1)).toEqual(versions.slice(0, 10));
  });

  test('a list that is refused for a while comes through in the end', async () => {
    await put('there');
    proxy.inject({ method: 'GET', isWatch: false, times: 2, fault: { kind: 'status', status: 500, reason: 'InternalError' } });
    const { informer, problems } = await watch();
    expect(informer.size).toBe(1);
    expect(problems.map(({ retryInMs }) => retryInMs)).toEqual([expect.any(Number), expect.any(Number)]);
    for (const { retryInMs } of problems) expect(retryInMs).toBeGreaterThanOrEqual(800);
  });

  test('a network that was gone for a while leaves no trace', async () => {
    await put('doomed');
    const { until, events } = await watch();
    proxy.cut();
    await remove('doomed');
    await put('meanwhile');
    proxy.mend();
    await until((informer) => has('meanwhile')(informer) && !has('doomed')(informer));
    expect(events.map(text).sort()).toEqual(['added doomed', 'added meanwhile', 'deleted doomed']);
  });
});

testOfOwn('an API server that is killed and comes back is followed again, and nothing is missed or told twice', async () => {
  const own = await ownCluster({ nodes: 0 });
  const ownProxy = await FaultProxy.start(own.api.access);
  endings.push(async () => {
    await ownProxy.close();
    await own.remove();
  });
  const direct = new Client(await findCluster({ kubeconfig: own.kubeconfig }));
  endings.push(() => direct.close());
  const write = (name: string, data: Record<string, string> = {}): Promise<unknown> => direct.apply(builtin.ConfigMap, configMap(name, data, { test: 'yes' }, 'default'), { fieldManager: 'somebody' });
  await write('before');
  await write('doomed');
  const { until, events, problems } = await watch({ labelSelector: 'test=yes' }, {}, ownProxy);
  await own.restartApiServer(500);
  await direct.delete(builtin.ConfigMap, { namespace: 'default', name: 'doomed' });
  await write('before', { v: 'changed' });
  await write('after');
  // A new list tells what is there before it tells what no longer is.
  const there = (name: string) => (informer: Informer<ConfigMap>) => informer.get({ namespace: 'default', name }) !== undefined;
  await until((informer) => there('after')(informer) && !there('doomed')(informer));
  expect(events.map(text).sort()).toEqual(['added after', 'added before', 'added doomed', 'deleted doomed', 'updated before']);
  expect(problems.length).toBeGreaterThan(0);
}, 120_000);
