import { ManualClock } from '../../src/runtime/manual-clock';
import { TokenBucket } from '../../src/runtime/token-bucket';

test('a burst passes at once, and what comes after is spread evenly', () => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 3 }, new ManualClock());
  expect([1, 2, 3, 4, 5, 6].map(() => bucket.reserve())).toEqual([0, 0, 0, 100, 200, 300]);
});

test('a quiet time fills the bucket again, but never beyond the burst', async () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, clock);
  bucket.reserve();
  bucket.reserve();
  await clock.advance(3_600_000);
  expect([1, 2, 3].map(() => bucket.reserve())).toEqual([0, 0, 100]);
});
