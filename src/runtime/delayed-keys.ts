import type { CancelTimer, Clock } from './clock';

/** Keys that are due later: each at most once, at its earliest time; one timer for all of them. */
export class DelayedKeys {
  private readonly due = new Map<string, number>();
  private timer?: { readonly at: number; readonly cancel: CancelTimer };

  constructor(
    private readonly clock: Clock,
    private readonly onDue: (key: string) => void,
  ) {}

  /** How many keys wait. */
  get size(): number {
    return this.due.size;
  }

  add(key: string, ms: number): void {
    const at = this.clock.monotonic() + ms;
    const known = this.due.get(key);
    if (known !== undefined && known <= at) return;
    this.due.set(key, at);
    this.wakeAt(at);
  }

  private wakeAt(at: number): void {
    if (this.timer !== undefined && this.timer.at <= at) return;
    this.timer?.cancel();
    this.timer = { at, cancel: this.clock.setTimer(at - this.clock.monotonic(), () => this.release()) };
  }

  private release(): void {
    // Timers may fire a fraction of a millisecond early; what they were set for counts as due.
    const now = Math.max(this.clock.monotonic(), this.timer?.at ?? 0);
    this.timer = undefined;
    let next = Infinity;
    for (const [key, at] of this.due) {
      if (at <= now) {
        this.due.delete(key);
        this.onDue(key);
      } else if (at < next) next = at;
    }
    if (next < Infinity) this.wakeAt(next);
  }
}
