import type { Clock } from './clock';

/** How often something may happen. */
export interface RateLimit {
  /** In the long run. */
  readonly perSecond: number;
  /** At once, after a quiet time. */
  readonly burst: number;
}

/** A bucket of tokens that fills steadily; whoever wants to act takes one, on credit if need be. */
export class TokenBucket {
  private tokens: number;
  private filledAt: number;

  constructor(
    private readonly limit: RateLimit,
    private readonly clock: Clock,
  ) {
    this.tokens = limit.burst;
    this.filledAt = clock.monotonic();
  }

  /** Takes a token, and says how many milliseconds to wait until it is really there. */
  reserve(): number {
    const now = this.clock.monotonic();
    this.tokens = Math.min(this.limit.burst, this.tokens + ((now - this.filledAt) / 1000) * this.limit.perSecond);
    this.filledAt = now;
    this.tokens -= 1;
    return this.tokens >= 0 ? 0 : (-this.tokens / this.limit.perSecond) * 1000;
  }
}
