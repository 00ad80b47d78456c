import type { CancelTimer, Clock } from './clock';

/**
 * A clock that stands still until it is told to move: for tests of anything that waits.
 *
 * Guarantees: timers fire in the order of their due times, each with `now()` standing exactly at its own, and whatever a
 * timer's callback sets off is given the chance to run (and to set further timers) before time moves on.
 */
export class ManualClock implements Clock {
  private readonly timers = new Set<{ readonly due: number; readonly callback: () => void }>();
  private elapsed = 0;

  /** @param start wall-clock time to begin at, in milliseconds since 1970. @default 2026-01-01T00:00:00Z */
  constructor(private readonly start = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.start + this.elapsed;
  }

  monotonic(): number {
    return this.elapsed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const cancel = this.setTimer(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      const abort = (): void => {
        cancel();
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  setTimer(ms: number, callback: () => void): CancelTimer {
    const timer = { due: this.elapsed + Math.max(0, ms), callback };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  /** How many milliseconds from now the next timer is due; undefined if nothing waits. */
  get nextIn(): number | undefined {
    const next = this.next();
    return next === undefined ? undefined : next.due - this.elapsed;
  }

  /** Moves time on by so many milliseconds, firing what falls due on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.elapsed + ms;
    await settle();
    for (let timer = this.next(); timer !== undefined && timer.due <= end; timer = this.next()) {
      this.elapsed = timer.due;
      this.timers.delete(timer);
      timer.callback();
      await settle();
    }
    this.elapsed = end;
  }

  private next(): { readonly due: number; readonly callback: () => void } | undefined {
    let next: { readonly due: number; readonly callback: () => void } | undefined;
    for (const timer of this.timers) if (next === undefined || timer.due < next.due) next = timer;
    return next;
  }
}

/** Lets every promise that is ready to continue do so. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
