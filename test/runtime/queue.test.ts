import { ManualClock } from '../../src/runtime/manual-clock';
import { Queue, type QueueOptions } from '../../src/runtime/queue';

/** A queue whose workers do as the test says: work on a key lasts until the test finishes it. */
function setUp(options: QueueOptions = {}): {
  clock: ManualClock;
  queue: Queue;
  started: string[];
  finish: (key: string) => Promise<void>;
  start: (concurrency: number) => Promise<void>;
  stop: AbortController;
} {
  const clock = new ManualClock();
  const queue = new Queue({ clock, random: () => 0, ...options });
  const started: string[] = [];
  const open = new Map<string, () => void>();
  const stop = new AbortController();
  return {
    clock,
    queue,
    started,
    stop,
    start: (concurrency) =>
      queue.work(
        concurrency,
        (key) => {
          started.push(key);
          if (open.has(key)) throw new Error(`${key} is in two hands`);
          return new Promise((resolve) => open.set(key, resolve));
        },
        stop.signal,
      ),
    finish: async (key) => {
      const end = open.get(key);
      open.delete(key);
      end?.();
      await clock.advance(0);
    },
  };
}

test('a key that is added several times before a worker takes it is worked on once', async () => {
  const { queue, started, start, clock } = setUp();
  queue.add('a');
  queue.add('a');
  queue.add('b');
  queue.add('a');
  void start(3);
  await clock.advance(0);
  expect(started).toEqual(['a', 'b']);
});

test('a key is never in two hands: added while it is worked on, it is given out again afterwards, once', async () => {
  const { queue, started, start, finish, clock } = setUp();
  void start(4);
  queue.add('a');
  await clock.advance(0);
  queue.add('a');
  queue.add('a');
  await clock.advance(0);
  expect(started).toEqual(['a']);
  await finish('a');
  expect(started).toEqual(['a', 'a']);
  await finish('a');
  expect(started).toEqual(['a', 'a']);
});

test('a noisy key waits behind all others each time', async () => {
  const { queue, started, start, finish, clock } = setUp();
  void start(1);
  queue.add('noisy');
  await clock.advance(0);
  for (const key of ['b', 'noisy', 'c', 'noisy']) queue.add(key);
  await finish('noisy');
  queue.add('noisy');
  await finish('b');
  queue.add('noisy');
  await finish('c');
  expect(started).toEqual(['noisy', 'b', 'c', 'noisy']);
});

test('no more keys are worked on at once than there are workers', async () => {
  const { queue, started, start, finish, clock } = setUp();
  void start(2);
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await clock.advance(0);
  expect(started).toEqual(['a', 'b']);
  expect([queue.held, queue.depth]).toEqual([2, 1]);
  await finish('b');
  expect(started).toEqual(['a', 'b', 'c']);
});

test('a delayed key comes at its time, and of several wishes the earliest counts', async () => {
  const { queue, started, start, clock } = setUp();
  void start(1);
  queue.addAfter('a', 5000);
  queue.addAfter('a', 1000);
  queue.addAfter('a', 3000);
  expect(queue.scheduled).toBe(1);
  await clock.advance(999);
  expect(started).toEqual([]);
  await clock.advance(1);
  expect(started).toEqual(['a']);
  await clock.advance(10_000);
  expect([started, queue.held, queue.scheduled]).toEqual([['a'], 1, 0]);
});

test('of several delayed keys each comes at its own time', async () => {
  const { queue, started, start, clock } = setUp();
  void start(3);
  queue.addAfter('late', 300);
  queue.addAfter('early', 100);
  queue.addAfter('middle', 200);
  await clock.advance(150);
  expect(started).toEqual(['early']);
  await clock.advance(100);
  expect(started).toEqual(['early', 'middle']);
  await clock.advance(100);
  expect(started).toEqual(['early', 'middle', 'late']);
});

test('a key that keeps failing waits longer each time, up to the cap, and others are not held up', () => {
  const { queue } = setUp({ backoff: { initialMs: 5, maxMs: 60 } });
  expect([1, 2, 3, 4, 5, 6].map(() => queue.retry('a'))).toEqual([5, 10, 20, 40, 60, 60]);
  expect(queue.failures('a')).toBe(6);
  expect(queue.retry('b')).toBe(5);
});

test('after a success the next failure of a key is a first one again', () => {
  const { queue } = setUp({ backoff: { initialMs: 5, maxMs: 60 } });
  queue.retry('a');
  queue.retry('a');
  queue.forget('a');
  expect(queue.retry('a')).toBe(5);
});

test('retries of all keys together are limited', () => {
  const { queue } = setUp({ backoff: { initialMs: 5, maxMs: 60 }, rateLimit: { perSecond: 10, burst: 2 } });
  expect(['a', 'b', 'c', 'd'].map((key) => queue.retry(key))).toEqual([5, 5, 100, 200]);
});

test('a first attempt is not limited: only failures are slowed down', async () => {
  const { queue, started, start, clock } = setUp({ rateLimit: { perSecond: 1, burst: 1 } });
  void start(1000);
  for (let i = 0; i < 1000; i++) queue.add(`key-${i}`);
  await clock.advance(0);
  expect(started).toHaveLength(1000);
});

test('when stopped, no key is given out any more, and what is under way is finished first', async () => {
  const { queue, started, start, finish, clock, stop } = setUp();
  let isOver = false;
  const working = start(2).then(() => (isOver = true));
  queue.add('a');
  await clock.advance(0);
  stop.abort();
  queue.add('b');
  await clock.advance(0);
  expect([started, isOver]).toEqual([['a'], false]);
  await finish('a');
  await working;
  expect(started).toEqual(['a']);
});

test('work that rejects ends the workers loudly instead of losing a key silently', async () => {
  const queue = new Queue();
  queue.add('a');
  await expect(queue.work(1, () => Promise.reject(new Error('bug')), new AbortController().signal)).rejects.toThrow('bug');
});

test('metrics see every addition, the time waited, the time worked and every retry', async () => {
  const seen: unknown[] = [];
  const clock = new ManualClock();
  const { queue, start, finish } = setUp({
    clock,
    observer: {
      added: (depth) => seen.push(['added', depth]),
      taken: (waitedMs, depth) => seen.push(['taken', waitedMs, depth]),
      finished: (workedMs) => seen.push(['finished', workedMs]),
      retried: () => seen.push(['retried']),
    },
  });
  queue.add('a');
  await clock.advance(30);
  void start(1);
  await clock.advance(70);
  expect(queue.longestHeldMs).toBe(70);
  queue.retry('a');
  await finish('a');
  expect(queue.longestHeldMs).toBe(0);
  expect(seen).toEqual([['added', 1], ['taken', 30, 0], ['retried'], ['finished', 70]]);
});

test('workers that never have to wait let the event loop turn all the same', async () => {
  const clock = new ManualClock();
  let elapsed = 0;
  const queue = new Queue({ clock: Object.assign(clock, { monotonic: () => elapsed }) });
  const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
  for (const key of keys) queue.add(key);
  const stop = new AbortController();
  let worked = 0;
  let workedByFirstTurn: number | undefined;
  setImmediate(() => (workedByFirstTurn = worked));
  await queue.work(
    4,
    async () => {
      elapsed += 4;
      worked += 1;
      if (worked === keys.length) stop.abort();
    },
    stop.signal,
  );
  expect(worked).toBe(100);
  expect(workedByFirstTurn).toBeLessThan(10);
});
