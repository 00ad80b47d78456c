/**
 * Time as the runtime sees it. Everything that waits or asks for the time takes a clock, so that a test can turn an hour
 * into an instant and never sleeps itself.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970: for timestamps that people and other programs read. */
  now(): number;
  /** Milliseconds since some fixed moment, never going back: for deadlines, which a corrected wall clock must not move. */
  monotonic(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once after so many milliseconds, unless the returned function is called before. */
  setTimer(ms: number, callback: () => void): CancelTimer;
}

/** Cancels a timer; calling it late or twice does nothing. */
export type CancelTimer = () => void;

/** The longest delay that Node's timers can hold; beyond it they would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. Its timers keep no process alive that has nothing else to do, but its sleeps do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const cancel = startTimer(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      const abort = (): void => {
        cancel();
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  },
  setTimer: (ms, callback) => startTimer(ms, callback, true),
};

function startTimer(ms: number, callback: () => void, background = false): CancelTimer {
  let timer: NodeJS.Timeout;
  const start = (left: number): void => {
    const slice = Math.min(left, LONGEST_TIMER_MS);
    timer = setTimeout(() => (left > slice ? start(left - slice) : callback()), slice);
    if (background) timer.unref();
  };
  start(Math.max(0, ms));
  return () => clearTimeout(timer);
}
