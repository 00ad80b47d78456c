import { builtin, type KubeObject } from '../../src/kind/resource';
import { TransportError } from '../../src/runtime/api-error';
import { ManualClock } from '../../src/runtime/manual-clock';
import { Mirror } from '../../src/runtime/mirror';
import { Reflector } from '../../src/runtime/reflector';
import { bookmark, configMap, modified, page, refusal, ScriptedSource } from './scripted-source';

const broken = new TransportError({ method: 'GET', path: '/x' }, 'the watch broke', 'ECONNRESET');

function run(source: ScriptedSource, clock = new ManualClock()): { clock: ManualClock; told: string[]; problems: [string, number][]; synced: () => boolean; ended: Promise<void>; stop: AbortController } {
  const told: string[] = [];
  const problems: [string, number][] = [];
  let isSynced = false;
  const mirror = new Mirror<KubeObject>({
    belongs: () => true,
    scopeOf: () => undefined,
    emit: ({ type, object }) => told.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`),
  });
  const reflector = new Reflector(source, builtin.ConfigMap, {}, mirror, {
    watchTimeoutSeconds: 240,
    onProblem: (error, retryInMs) => problems.push([(error as Error).message, retryInMs]),
    onProgress: () => {},
    clock,
    random: () => 0,
  });
  const stop = new AbortController();
  const ended = reflector.run(stop.signal, () => (isSynced = true));
  return { clock, told, problems, synced: () => isSynced, ended, stop };
}

test('lists in pages, then watches from where the list was true', async () => {
  const source = new ScriptedSource([[page(10, configMap('a', 1)), page(10, configMap('b', 2))]], [[modified('a', 11), 'hang']]);
  const { clock, told, synced } = run(source);
  await clock.advance(0);
  expect(source.calls).toEqual(['list', 'watch 10']);
  expect(told).toEqual(['added a@1', 'added b@2', 'updated a@11']);
  expect(synced()).toBe(true);
});

test('a watch that ended in good order is followed by one from its last event or bookmark, without a pause', async () => {
  const source = new ScriptedSource([[page(10)]], [[modified('a', 11)], [bookmark(99)], ['hang']]);
  const { clock, problems } = run(source);
  await clock.advance(0);
  expect(source.calls).toEqual(['list', 'watch 10', 'watch 11', 'watch 99']);
  expect(problems).toEqual([]);
});

test('a watch that broke is resumed from its last event after a pause', async () => {
  const source = new ScriptedSource([[page(10)]], [[modified('a', 11), broken], ['hang']]);
  const { clock, problems } = run(source);
  await clock.advance(799);
  expect(source.calls).toEqual(['list', 'watch 10']);
  await clock.advance(1);
  expect(source.calls).toEqual(['list', 'watch 10', 'watch 11']);
  expect(problems).toEqual([['GET /x: the watch broke: ECONNRESET', 800]]);
});

test('a history that is gone is replaced by a list at once, and what vanished meanwhile is told', async () => {
  const source = new ScriptedSource([[page(10, configMap('a', 1), configMap('b', 2))], [page(50, configMap('b', 40))]], [[modified('a', 11), refusal(410)], ['hang']]);
  const { clock, told, problems } = run(source);
  await clock.advance(0);
  expect(source.calls).toEqual(['list', 'watch 10', 'list', 'watch 50']);
  expect(told).toEqual(['added a@1', 'added b@2', 'updated a@11', 'updated b@40', 'deleted a@11']);
  expect(problems).toEqual([]);
});

test('a history that is gone right after the list is no hot loop', async () => {
  const source = new ScriptedSource([[page(10)], [page(20)], [page(30)]], [[refusal(410)], [refusal(410)], ['hang']]);
  const { clock, problems } = run(source);
  await clock.advance(3000);
  expect(source.calls).toEqual(['list', 'watch 10', 'list', 'watch 20', 'list', 'watch 30']);
  expect(problems.map(([, ms]) => ms)).toEqual([800, 1600]);
});

test('a list whose next page has expired begins anew', async () => {
  const half = async function* (): AsyncGenerator<never> {
    yield page(10, configMap('a', 1)) as never;
    throw refusal(410);
  };
  const source = new ScriptedSource([[page(20, configMap('b', 2))]], []);
  jest.spyOn(source, 'pages').mockImplementationOnce(half);
  const { clock, told } = run(source);
  await clock.advance(800);
  expect(told).toEqual(['added a@1', 'added b@2', 'deleted a@1']);
  expect(source.calls).toEqual(['list', 'watch 20']);
});

test('failures are retried for as long as it takes, from 0.8 s up to 30 s apart', async () => {
  const source = new ScriptedSource([...Array.from({ length: 100 }, () => refusal(503)), [page(10)]], [['hang']]);
  const { clock, problems, synced } = run(source);
  await clock.advance(800 + 1600 + 3200 + 6400 + 12_800 + 95 * 20_000);
  expect(synced()).toBe(true);
  expect(problems).toHaveLength(100);
  expect(problems.slice(0, 6).map(([, ms]) => ms)).toEqual([800, 1600, 3200, 6400, 12_800, 20_000]);
  expect(Math.max(...problems.map(([, ms]) => ms))).toBeLessThanOrEqual(30_000);
});

test('the API server is left alone for as long as it asks', async () => {
  const source = new ScriptedSource([refusal(429, 17), [page(10)]], [['hang']]);
  const { clock, problems } = run(source);
  await clock.advance(16_999);
  expect(source.calls).toEqual(['list']);
  await clock.advance(1);
  expect(source.calls).toEqual(['list', 'list', 'watch 10']);
  expect(problems[0]?.[1]).toBe(17_000);
});

test('after a time of health the first failure is a first one again', async () => {
  const source = new ScriptedSource([refusal(500), refusal(500), refusal(500), [page(10)]], [[modified('a', 11), broken], ['hang']]);
  const { clock, problems } = run(source);
  await clock.advance(60_000);
  expect(problems.map(([, ms]) => ms)).toEqual([800, 1600, 3200, 800]);
});

test('watches that each held for long and then broke are failures each for itself', async () => {
  const clock = new ManualClock();
  const minute = (): Promise<void> => clock.sleep(60_000);
  const source = new ScriptedSource([[page(10)]], [[modified('a', 11), minute, broken], [modified('a', 12), minute, broken], [minute, broken], [minute, broken]]);
  const { problems } = run(source, clock);
  await clock.advance(300_000);
  expect(problems.map(([, ms]) => ms)).toEqual([800, 800, 800, 800]);
});

test('watches that each broke after a short while are tried ever more slowly', async () => {
  const clock = new ManualClock();
  const moment = (): Promise<void> => clock.sleep(5_000);
  const source = new ScriptedSource([[page(10)]], [[modified('a', 11), moment, broken], [modified('a', 12), moment, broken], [modified('a', 13), moment, broken]]);
  const { problems } = run(source, clock);
  await clock.advance(60_000);
  expect(problems.map(([, ms]) => ms)).toEqual([800, 1600, 3200]);
});

test('a watch that hangs silently is cut soon after the API server should have ended it, and resumed', async () => {
  const source = new ScriptedSource([[page(10)]], [[modified('a', 11), 'hang'], ['hang']]);
  const { clock, problems } = run(source);
  await clock.advance(254_999);
  expect(source.calls).toEqual(['list', 'watch 10']);
  await clock.advance(1);
  expect(source.calls).toEqual(['list', 'watch 10', 'watch 11']);
  expect(source.timeouts).toEqual([240, 240]);
  expect(problems).toEqual([['the API server should have ended the watch after 240 s and did not: the connection is taken for dead', 0]]);
});

test('a watch that ends as soon as it begins, over and over, is no hot loop', async () => {
  const source = new ScriptedSource([[page(10)]], [[], [], [], ['hang']]);
  const { clock, problems } = run(source);
  await clock.advance(60_000);
  expect(problems.map(([, ms]) => ms)).toEqual([800, 1600, 3200]);
});

test('a kind that is gone for a while is listed again when it is back, not watched from before', async () => {
  const source = new ScriptedSource([[page(10)], refusal(404), [page(5000)]], [[modified('a', 11), refusal(404)], ['hang']]);
  const { clock } = run(source);
  await clock.advance(60_000);
  expect(source.calls).toEqual(['list', 'watch 10', 'list', 'list', 'watch 5000']);
});

test('the end of the signal ends a list, a watch and a pause at once', async () => {
  for (const source of [new ScriptedSource([], []), new ScriptedSource([[page(10)]], []), new ScriptedSource([refusal(500)], [])]) {
    const { clock, ended, problems, stop } = run(source);
    await clock.advance(1);
    const before = problems.length;
    stop.abort(new Error('shutdown'));
    await ended;
    expect(clock.nextIn).toBeUndefined();
    expect(problems).toHaveLength(before);
  }
});
