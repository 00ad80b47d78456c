import type { BackoffOptions, Random } from './backoff';
import type { Clock } from './clock';

export interface QueueOptions {
  /** Delay of a key after its first, second, … failure in a row. @default 5 ms, doubling up to 1000 s */
  readonly backoff?: BackoffOptions;
  /** Retries of all keys together: so many a second, and so many at once. @default 10 a second, 100 at once */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number };
  readonly clock?: Clock;
  readonly random?: Random;
  /** Told what happens, for metrics. Must not throw. */
  readonly observer?: QueueObserver;
}

/** Sees a queue work. Durations are in milliseconds. */
export interface QueueObserver {
  /** A key was put in that wasn't there. */
  added?(depth: number): void;
  /** A worker took a key that had waited so long. */
  taken?(waitedMs: number, depth: number): void;
  /** A worker put a key back after working on it so long. */
  finished?(workedMs: number): void;
  retried?(): void;
}

/**
 * Keys to be worked on.
 *
 * Guarantees
 * - A key that is added several times before a worker takes it is worked on once.
 * - A key that a worker holds is given to nobody else; added meanwhile, it is given out again when that worker is done.
 * - First come, first served: a key that is added over and over waits behind all others each time.
 */
export class Queue {
  constructor(readonly options: QueueOptions = {}) {}

  /** Asks for work on a key as soon as a worker is free. */
  add(_key: string): void {
    throw new Error('unfinished');
  }

  /** Asks for work on a key after so many milliseconds; of several such wishes for one key, the earliest counts. */
  addAfter(_key: string, _ms: number): void {
    throw new Error('unfinished');
  }

  /** Work on a key failed: asks for it again after its backoff. @returns the delay in milliseconds */
  retry(_key: string): number {
    throw new Error('unfinished');
  }

  /** Work on a key succeeded: its next failure counts as a first one. */
  forget(_key: string): void {
    throw new Error('unfinished');
  }

  /** Failures of a key in a row. */
  failures(_key: string): number {
    throw new Error('unfinished');
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    throw new Error('unfinished');
  }

  /** Keys that a worker holds. */
  get held(): number {
    throw new Error('unfinished');
  }

  /** For how long the slowest of the held keys has been worked on, in milliseconds. */
  get longestHeldMs(): number {
    throw new Error('unfinished');
  }

  /**
   * Runs so many workers until the signal is aborted: each takes a key, calls `work` and goes on. Once aborted, no key is
   * given out any more and what is under way is waited for.
   *
   * Assumes `work` doesn't reject: what a failure means is decided there (`retry`, `addAfter` or nothing).
   */
  work(_concurrency: number, _work: (key: string) => Promise<void>, _signal: AbortSignal): Promise<void> {
    throw new Error('unfinished');
  }
}
