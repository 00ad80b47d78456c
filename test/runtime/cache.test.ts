import { builtin, keyOf, type KubeObject } from '../../src/kind/resource';
import { Cache, type CacheProblem } from '../../src/runtime/cache';
import { byLabel, indexes, type Informer } from '../../src/runtime/informer';
import { ManualClock } from '../../src/runtime/manual-clock';
import { configMap, modified, page, ScriptedSource } from './scripted-source';

const running: AbortController[] = [];
afterEach(() => running.splice(0).forEach((stop) => stop.abort()));

/** A running cache with one informer of all ConfigMaps. */
async function setUp(source: ScriptedSource, onProblem?: (problem: CacheProblem) => void): Promise<{ cache: Cache; informer: Informer<KubeObject>; clock: ManualClock; stop: AbortController; ended: Promise<void> }> {
  const clock = new ManualClock();
  const cache = new Cache(source, { clock, random: () => 0, onProblem });
  const informer = cache.informer(builtin.ConfigMap);
  const stop = new AbortController();
  running.push(stop);
  const ended = cache.run(stop.signal);
  await clock.advance(0);
  return { cache, informer, clock, stop, ended };
}

const write = (informer: Informer<KubeObject>, object: KubeObject): Promise<KubeObject> => informer.write(keyOf(object), 'us', () => Promise.resolve(object));

test('those who ask for the same selection share one informer, whatever the order of namespaces', () => {
  const cache = new Cache(new ScriptedSource([], []));
  expect(cache.informer(builtin.Secret)).toBe(cache.informer(builtin.Secret, {}));
  expect(cache.informer(builtin.Secret, { namespaces: ['a', 'b'] })).toBe(cache.informer(builtin.Secret, { namespaces: ['b', 'a', 'b'] }));
  expect(cache.informer(builtin.Secret, { labelSelector: 'a=b' })).not.toBe(cache.informer(builtin.Secret));
  expect(cache.informer(builtin.ConfigMap)).not.toBe(cache.informer(builtin.Secret));
});

test('an informer that is asked for while the cache runs is started at once', async () => {
  const source = new ScriptedSource([[page(10)], [page(10, configMap('a', 1))]], []);
  const { cache, clock } = await setUp(source);
  const late = cache.informer(builtin.Secret);
  expect(cache.synced).toBe(false);
  await clock.advance(0);
  expect([cache.synced, late.size]).toEqual([true, 1]);
});

test('the cache is synced when every namespace of every informer has been listed', async () => {
  const clock = new ManualClock();
  const source = new ScriptedSource([[page(10, configMap('a', 1, 'x'))], new Error('not yet'), [page(20, configMap('b', 2, 'y'))]], []);
  const cache = new Cache(source, { clock, random: () => 0 });
  const informer = cache.informer(builtin.ConfigMap, { namespaces: ['x', 'y'] });
  const stop = new AbortController();
  running.push(stop);
  void cache.run(stop.signal);
  let isSynced = false;
  void cache.waitForSync().then(() => (isSynced = true));
  await clock.advance(0);
  expect([isSynced, informer.size]).toEqual([false, 1]);
  await clock.advance(800);
  expect([isSynced, informer.size]).toEqual([true, 2]);
  expect(informer.list('y').map(({ metadata }) => metadata.name)).toEqual(['b']);
});

test('namespaces of a cluster-scoped kind, and an empty list of them, are refused', () => {
  const cache = new Cache(new ScriptedSource([], []));
  expect(() => cache.informer(builtin.Node, { namespaces: ['a'] })).toThrow("Node (v1) is cluster-scoped and can't be watched in namespaces (a); leave them out");
  expect(() => cache.informer(builtin.Secret, { namespaces: [] })).toThrow("Secret (v1) can't be watched in an empty list of namespaces; leave the list out to watch all");
});

test('a handler hears of all that is there, then of what happens, until it no longer wants to', async () => {
  const { informer, clock } = await setUp(new ScriptedSource([[page(10, configMap('a', 1))]], []));
  const heard: string[] = [];
  const stop = informer.onEvent(({ type, object }) => heard.push(`${type} ${object.metadata.resourceVersion}`));
  await write(informer, configMap('a', 11));
  stop();
  await write(informer, configMap('a', 12));
  await clock.advance(0);
  expect(heard).toEqual(['added 1', 'updated 11']);
});

test('a handler that throws is reported, and keeps neither the others nor the watch', async () => {
  const problems: CacheProblem[] = [];
  const { informer } = await setUp(new ScriptedSource([[page(10)]], []), (problem) => problems.push(problem));
  const heard: string[] = [];
  informer.onEvent(() => {
    throw new Error('bug in a handler');
  });
  informer.onEvent(({ type }) => heard.push(type));
  await write(informer, configMap('a', 11));
  expect(heard).toEqual(['added']);
  expect(problems).toEqual([{ type: builtin.ConfigMap, namespace: 'shop', error: new Error('bug in a handler'), retryInMs: undefined }]);
});

test('a handler that asked for it is reminded of everything from time to time, and only that one', async () => {
  const { informer, clock } = await setUp(new ScriptedSource([[page(10, configMap('a', 1), configMap('b', 2))]], []));
  const heard: string[] = [];
  const silent: string[] = [];
  const stop = informer.onEvent(({ type, object }) => heard.push(`${type} ${object.metadata.name}`), { resyncMs: 60_000 });
  informer.onEvent(({ type }) => silent.push(type));
  await clock.advance(120_000);
  stop();
  await clock.advance(120_000);
  expect(heard).toEqual(['added a', 'added b', 'resynced a', 'resynced b', 'resynced a', 'resynced b']);
  expect(silent).toEqual(['added', 'added']);
});

test('objects are found by owner and by label', async () => {
  const owned = configMap('a', 1);
  owned.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'uid-x' }];
  owned.metadata.labels = { team: 'red' };
  const { informer } = await setUp(new ScriptedSource([[page(10, owned, configMap('b', 2))]], []));
  informer.addIndex('team', byLabel('team'));
  expect(informer.byIndex(indexes.owner, 'uid-x')).toEqual([owned]);
  expect(informer.byIndex('team', 'red')).toEqual([owned]);
});

test('a written version is waited for until the watch has brought it or something later', async () => {
  const source = new ScriptedSource([[page(10)]], [[]]);
  const { informer, clock } = await setUp(source);
  let isSeen = false;
  const seen = informer.seen(configMap('a', 12)).then(() => (isSeen = true));
  await clock.advance(0);
  expect(isSeen).toBe(false);
  source.watches.push([modified('other', 13), 'hang']);
  await clock.advance(800);
  await seen;
});

test('waiting for a version ends with the signal', async () => {
  const { informer } = await setUp(new ScriptedSource([[page(10)]], []));
  const impatient = new AbortController();
  const seen = informer.seen(configMap('a', 12), impatient.signal);
  impatient.abort(new Error('enough'));
  await expect(seen).rejects.toThrow('enough');
});

test('what one wrote oneself is seen at once', async () => {
  const { informer } = await setUp(new ScriptedSource([[page(10)]], []));
  const written = await informer.write({ namespace: 'shop', name: 'a' }, 'us', () => Promise.resolve(configMap('a', 12)));
  await informer.seen(written);
  expect(informer.get({ namespace: 'shop', name: 'a' })).toEqual(written);
});

test('a write that fails fails for its writer too', async () => {
  const { informer } = await setUp(new ScriptedSource([[page(10)]], []));
  await expect(informer.write({ namespace: 'shop', name: 'a' }, 'us', () => Promise.reject(new Error('forbidden')))).rejects.toThrow('forbidden');
});

test('waiting for a version in a namespace that is not watched is refused rather than endless', async () => {
  const informer = new Cache(new ScriptedSource([], [])).informer(builtin.ConfigMap, { namespaces: ['other'] });
  await expect(informer.seen(configMap('a', 1))).rejects.toThrow('cannot wait for ConfigMap (v1) shop/a: this informer watches only other');
});

test('an informer narrowed by fields takes in no new object of our own, because only the API server knows whether it belongs', async () => {
  const clock = new ManualClock();
  const cache = new Cache(new ScriptedSource([[page(10, configMap('known', 1))]], []), { clock });
  const informer = cache.informer(builtin.ConfigMap, { fieldSelector: 'metadata.name=known' });
  const stop = new AbortController();
  running.push(stop);
  void cache.run(stop.signal);
  await clock.advance(0);
  await write(informer, configMap('new', 11));
  await write(informer, configMap('known', 12));
  expect(informer.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)).toEqual(['known@12']);
});

test('the cache has stopped when all of its informers have', async () => {
  const { ended, stop, cache, clock } = await setUp(new ScriptedSource([[page(10)]], []));
  cache.informer(builtin.Secret);
  stop.abort();
  await ended;
  expect(clock.nextIn).toBeUndefined();
});
