import { systemClock } from '../../src/runtime/clock';
import { ManualClock } from '../../src/runtime/manual-clock';

describe('the system clock', () => {
  test('a sleep ends at once with the reason of its signal', async () => {
    const stop = new AbortController();
    const sleep = systemClock.sleep(3_600_000, stop.signal);
    stop.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
  });

  test('a sleep with an aborted signal never begins', async () => {
    await expect(systemClock.sleep(3_600_000, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  });

  test('a timer beyond the 24.8 days that Node can hold does not fire at once', async () => {
    let fired = false;
    const cancel = systemClock.setTimer(2 ** 31 + 5, () => (fired = true));
    await systemClock.sleep(5);
    cancel();
    expect(fired).toBe(false);
  });
});

describe('the manual clock', () => {
  test('fires timers in the order of their times, each at its own', async () => {
    const clock = new ManualClock(0);
    const fired: [string, number][] = [];
    clock.setTimer(20, () => fired.push(['later', clock.now()]));
    clock.setTimer(10, () => fired.push(['sooner', clock.now()]));
    await clock.advance(15);
    expect(fired).toEqual([['sooner', 10]]);
    await clock.advance(5);
    expect(fired).toEqual([['sooner', 10], ['later', 20]]);
  });

  test('what a sleeper does next is timed from its own awakening', async () => {
    const clock = new ManualClock(0);
    const times: number[] = [];
    const loop = (async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(10);
        times.push(clock.now());
      }
    })();
    await clock.advance(100);
    await loop;
    expect(times).toEqual([10, 20, 30]);
  });

  test('a cancelled timer does not fire, and a sleep ends with the reason of its signal', async () => {
    const clock = new ManualClock();
    const cancel = clock.setTimer(10, () => {
      throw new Error('fired');
    });
    const stop = new AbortController();
    const sleep = expect(clock.sleep(10, stop.signal)).rejects.toThrow('enough');
    cancel();
    stop.abort(new Error('enough'));
    await sleep;
    expect(clock.nextIn).toBeUndefined();
    await clock.advance(20);
  });
});
