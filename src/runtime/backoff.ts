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
   * Share of the delay that is left to chance: 0.5 gives between half of the delay and the whole of it, so that many who
   * failed together don't come back together. @default 0
   */
  readonly jitter?: number;
}

/** The delay after so many failures in a row (1 for the first), in milliseconds. */
export function backoffDelay(failures: number, options: BackoffOptions, random: Random = Math.random): number {
  const { initialMs, maxMs, factor = 2, jitter = 0 } = options;
  const full = Math.min(maxMs, initialMs * factor ** (failures - 1));
  return full * (1 - jitter * random());
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
