import { Backoff, backoffDelay } from '../../src/runtime/backoff';

const never = (): number => 0;
const always = (): number => 1 - Number.EPSILON;

test('delays double from the first to the cap', () => {
  const backoff = new Backoff({ initialMs: 800, maxMs: 30_000 }, never);
  expect(Array.from({ length: 8 }, () => backoff.next())).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test('after a success the next failure is a first one again', () => {
  const backoff = new Backoff({ initialMs: 100, maxMs: 1000 }, never);
  backoff.next();
  backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(100);
});

test('chance only lengthens a delay, and never beyond the cap', () => {
  const options = { initialMs: 800, maxMs: 30_000, jitter: 0.5 };
  expect(backoffDelay(1, options, never)).toBe(800);
  expect(backoffDelay(1, options, always)).toBeCloseTo(1200);
  expect(backoffDelay(50, options, always)).toBeCloseTo(30_000);
});

test('chance is left even at the cap, so that those who fail for long do not fall into step', () => {
  const options = { initialMs: 800, maxMs: 30_000, jitter: 0.5 };
  expect(backoffDelay(50, options, never)).toBeCloseTo(20_000);
});

test('a thousand failures in a row overflow nothing', () => {
  expect(backoffDelay(5000, { initialMs: 5, maxMs: 300_000 })).toBe(300_000);
});
