import { backoffDelay, type BackoffOptions, type Random } from './backoff';
import { systemClock, type Clock } from './clock';
import { DelayedKeys } from './delayed-keys';
import { TokenBucket, type RateLimit } from './token-bucket';

export interface QueueOptions {
  /** Delay of a key after its first, second, … failure in a row. @default 5 ms, doubling up to 5 minutes, a tenth of it left to chance */
  readonly backoff?: BackoffOptions;
  /** How often keys are retried, all of them together. @default 10 a second, 100 at once */
  readonly rateLimit?: RateLimit;
  /** Told what happens, for metrics. Must not throw. */
  readonly observer?: QueueObserver;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Sees a queue work. Durations are in milliseconds. */
export interface QueueObserver {
  /** A key was put in that didn't wait yet. */
  added?(depth: number): void;
  /** A worker took a key that had waited so long. */
  taken?(waitedMs: number, depth: number): void;
  /** A worker is done with a key after working on it so long. */
  finished?(workedMs: number): void;
  /** A key failed and will be tried again. */
  retried?(): void;
}

const DEFAULT_BACKOFF: BackoffOptions = { initialMs: 5, maxMs: 300_000, jitter: 0.1 };
const DEFAULT_RATE_LIMIT: RateLimit = { perSecond: 10, burst: 100 };
/** For how long workers may go on without a turn of the event loop. */
const LONGEST_TURN_MS = 10;

/**
 * Keys to be worked on.
 *
 * Guarantees
 * - A key that is added several times before a worker takes it is worked on once.
 * - A key that a worker holds is given to nobody else; added meanwhile, it is given out again after that worker is done.
 * - First come, first served: a key that is added over and over waits behind all others each time, and one that fails over
 *   and over waits longer each time.
 * - Work that never waits, such as passes over a thousand unchanged objects, doesn't keep timers and sockets from their turn: the
 *   lease is renewed and probes are answered meanwhile.
 */
export class Queue {
  /** Keys that wait, in the order of their coming, each with the time of it. A key is never both here and in `again`. */
  private readonly waiting = new Map<string, number>();
  /** Keys in the hands of workers, each with the time it was taken. */
  private readonly taken = new Map<string, number>();
  /** Held keys that were added meanwhile. Always a part of `taken`. */
  private readonly again = new Set<string>();
  /** Workers without a key. Empty whenever a key waits. */
  private readonly idle = new Set<IdleWorker>();
  /** Failures in a row; a key without failures isn't here. */
  private readonly failed = new Map<string, number>();
  /** The turn of the event loop that workers wait for, if they do. */
  private turn: Promise<void> | undefined;
  private turnedAt: number;

  private readonly clock: Clock;
  private readonly delayed: DelayedKeys;
  private readonly bucket: TokenBucket;

  constructor(private readonly options: QueueOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.delayed = new DelayedKeys(this.clock, (key) => this.add(key));
    this.bucket = new TokenBucket(options.rateLimit ?? DEFAULT_RATE_LIMIT, this.clock);
    this.turnedAt = this.clock.monotonic();
  }

  /** Asks for work on a key as soon as a worker is free. */
  add(key: string): void {
    if (this.taken.has(key)) {
      this.again.add(key);
    } else if (!this.waiting.has(key)) {
      this.waiting.set(key, this.clock.monotonic());
      this.options.observer?.added?.(this.waiting.size);
      this.serve();
    }
  }

  /** Asks for work on a key after so many milliseconds; of several such wishes for one key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) this.add(key);
    else this.delayed.add(key, ms);
  }

  /** Work on a key failed: asks for it again after its backoff. @returns the delay in milliseconds */
  retry(key: string): number {
    const failures = this.failures(key) + 1;
    this.failed.set(key, failures);
    const delay = Math.max(backoffDelay(failures, this.options.backoff ?? DEFAULT_BACKOFF, this.options.random), this.bucket.reserve());
    this.options.observer?.retried?.();
    this.addAfter(key, delay);
    return delay;
  }

  /** Work on a key succeeded, or the key is no more: its next failure counts as a first one. */
  forget(key: string): void {
    this.failed.delete(key);
  }

  /** Failures of a key in a row. */
  failures(key: string): number {
    return this.failed.get(key) ?? 0;
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.waiting.size;
  }

  /** Keys that wait for their time. */
  get scheduled(): number {
    return this.delayed.size;
  }

  /** Keys that a worker holds. */
  get held(): number {
    return this.taken.size;
  }

  /** For how long the slowest of the held keys has been worked on, in milliseconds; 0 if none is held. */
  get longestHeldMs(): number {
    // Taken in this order, so the first has been held longest.
    const [first] = this.taken.values();
    return first === undefined ? 0 : this.clock.monotonic() - first;
  }

  /**
   * Runs so many workers until the signal is aborted: each takes a key, calls `work`, and goes on to the next. Once
   * aborted, no key is given out any more; resolves when what was under way is finished.
   *
   * Assumes that `work` doesn't reject: what a failure means (`retry`, `addAfter`, nothing) is decided there. If it does,
   * this call rejects too.
   */
  async work(concurrency: number, work: (key: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    const stop = (): void => {
      for (const worker of this.idle) if (worker.signal === signal) this.hand(worker, undefined);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      await Promise.all(Array.from({ length: concurrency }, () => this.worker(work, signal)));
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  private async worker(work: (key: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let key = await this.take(signal); key !== undefined; key = await this.take(signal)) {
      try {
        await work(key);
      } finally {
        this.finish(key);
      }
      if (this.turn !== undefined || this.clock.monotonic() - this.turnedAt > LONGEST_TURN_MS) await this.nextTurn();
    }
  }

  /** All workers wait for the same turn: as long as one of them goes on, there is none. */
  private nextTurn(): Promise<void> {
    this.turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.turn = undefined;
        this.turnedAt = this.clock.monotonic();
        resolve();
      });
    });
    return this.turn;
  }

  private take(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((receive) => {
      this.idle.add({ receive, signal });
      this.serve();
    });
  }

  /** Gives waiting keys to idle workers. */
  private serve(): void {
    for (const worker of this.idle) {
      const first = this.waiting.entries().next();
      if (first.done === true) return;
      const [key, since] = first.value;
      const now = this.clock.monotonic();
      this.waiting.delete(key);
      this.taken.set(key, now);
      this.options.observer?.taken?.(now - since, this.waiting.size);
      this.hand(worker, key);
    }
  }

  private hand(worker: IdleWorker, key: string | undefined): void {
    this.idle.delete(worker);
    worker.receive(key);
  }

  private finish(key: string): void {
    const since = this.taken.get(key) ?? this.clock.monotonic();
    this.taken.delete(key);
    this.options.observer?.finished?.(this.clock.monotonic() - since);
    if (this.again.delete(key)) this.add(key);
  }
}

interface IdleWorker {
  /** Takes a key, or undefined to go home. */
  readonly receive: (key: string | undefined) => void;
  /** Under which it works. */
  readonly signal: AbortSignal;
}
