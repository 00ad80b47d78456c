/** A source of randomness like `Math.random`: from 0 up to but not including 1. */
export type Random = () => number;

/** How delays grow from one failure to the next. */
export interface BackoffOptions {
  /** Delay after the first failure, in milliseconds, before jitter. */
  readonly initialMs: number;
  /** No delay is longer than this, jitter included. */
  readonly maxMs: number;
  /** By how much each delay is longer than the one before. @default 2 */
  readonly factor?: number;
  /**
   * By which share of itself a delay may be longer, left to chance, so that many who failed together don't come back
   * together: 0.5 gives between the delay and one and a half times it. @default 0
   */
  readonly jitter?: number;
}

/** The delay after so many failures in a row (1 for the first), in milliseconds. */
export function backoffDelay(failures: number, options: BackoffOptions, random: Random = Math.random): number {
  const { initialMs, maxMs, factor = 2, jitter = 0 } = options;
  // The cap leaves room for chance: otherwise those who have failed for long would all come back in step.
  const base = Math.min(maxMs / (1 + jitter), initialMs * factor ** (failures - 1));
  return base * (1 + jitter * random());
}

/** Counts failures in a row and says how long to wait after each. */
export class Backoff {
  private failures = 0;

  constructor(
    private readonly options: BackoffOptions,
    private readonly random: Random = Math.random,
  ) {}

  /** Counts one more failure and returns how long to wait, in milliseconds. */
  next(): number {
    this.failures += 1;
    return backoffDelay(this.failures, this.options, this.random);
  }

  /** Something succeeded: the next failure is a first one again. */
  reset(): void {
    this.failures = 0;
  }
}
