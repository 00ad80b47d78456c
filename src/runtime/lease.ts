import { apiVersionOf, builtin, type KubeObject, type ObjectKey } from '../kind/resource';
import { isAlreadyExists, isConflict, isNotFound } from './api-error';
import type { Random } from './backoff';
import type { Clock } from './clock';
import type { ClientCalls } from './fence';

/** How leader election is timed, all in milliseconds. */
export interface LeaseTiming {
  /** For how long a lease holds unless it is renewed; others wait that long before they take it. @default 15000 */
  readonly durationMs?: number;
  /** When a leader gives up that couldn't renew; must be well below the duration, so that its last requests are over by then. @default 10000 */
  readonly renewDeadlineMs?: number;
  /** How often a leader renews and the others look. @default 2000 */
  readonly retryMs?: number;
}

/** Options of a {@link LeaderLease}. */
export interface LeaseOptions extends LeaseTiming {
  /** Which Lease. */
  readonly key: ObjectKey;
  /** Who we are; no two processes may share it. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random?: Random;
  /** Told who leads whenever that changes. */
  readonly onLeader?: (holder: string | undefined) => void;
  /** Told of each attempt that failed. */
  readonly onProblem?: (error: unknown) => void;
}

interface LeaseObject extends KubeObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string; leaseTransitions?: number };
}

/** Why work that needs the lead was ended. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/**
 * Sees to it that one of several processes leads.
 *
 * Guarantees: work under the lead is ended `durationMs - renewDeadlineMs` before anybody else may begin, counted from the moment at which the
 * last successful renewal was *sent*; no clock of another machine is trusted (a lease is expired when we have seen it unchanged for its duration).
 *
 * Assumes: clocks of all machines run at nearly the same speed.
 */
export class LeaderLease {
  private readonly durationMs: number;
  private readonly renewDeadlineMs: number;
  private readonly retryMs: number;
  /** The Lease as last seen, and since when it has been so. */
  private seen: { lease: LeaseObject; at: number } | undefined;
  private leader: string | undefined;
  /** When the last successful renewal was sent. */
  private renewedAt = -Infinity;

  constructor(
    private readonly client: Pick<ClientCalls, 'get' | 'create' | 'patch'>,
    private readonly options: LeaseOptions,
  ) {
    this.durationMs = options.durationMs ?? 15_000;
    this.renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.retryMs = options.retryMs ?? 2_000;
    if (!(this.retryMs < this.renewDeadlineMs && this.renewDeadlineMs < this.durationMs)) {
      throw new Error(`lease: retry (${this.retryMs} ms) must be shorter than the renew deadline (${this.renewDeadlineMs} ms), and that shorter than the duration (${this.durationMs} ms)`);
    }
  }

  /** Who leads, as far as we know. */
  get holder(): string | undefined {
    return this.leader;
  }

  /** Whether we lead at this very moment: also true to time when this process was stopped for a while and its timers are late. */
  get leads(): boolean {
    return this.leader === this.options.identity && this.options.clock.monotonic() < this.renewedAt + this.renewDeadlineMs;
  }

  /**
   * Waits for the lead, then runs `work` under it, and again whenever the lead was lost and won back, until `stop` is aborted and `work` has ended.
   * The lead is given up at the end, so that another process need not wait for it to expire.
   * @param work gets a signal that is aborted when the lead is lost, and must then end soon; it must also end when `stop` is aborted
   */
  async lead(work: (lost: AbortSignal) => Promise<void>, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      if (await this.attempt(stop)) await this.term(work);
      else await this.pause(stop);
    }
  }

  private async term(work: (lost: AbortSignal) => Promise<void>): Promise<void> {
    const term = new AbortController();
    const keeping = this.keep(term);
    try {
      await work(term.signal);
    } finally {
      term.abort(new LeadershipLost('the work under the lead has ended'));
      await keeping;
      if (this.leader === this.options.identity) await this.release();
    }
  }

  /** Renews until the term ends, and ends it itself when that hasn't worked for too long. */
  private async keep(term: AbortController): Promise<void> {
    const { clock } = this.options;
    const deadline = (): (() => void) => clock.setTimer(this.renewedAt + this.renewDeadlineMs - clock.monotonic(), () => term.abort(this.lost(`no renewal for ${this.renewDeadlineMs} ms`)));
    let cancel = deadline();
    while (!term.signal.aborted) {
      await this.pause(term.signal);
      if (term.signal.aborted) break;
      if (await this.attempt(term.signal)) {
        cancel();
        cancel = deadline();
      } else if (this.leader !== undefined && this.leader !== this.options.identity) {
        term.abort(this.lost(`'${this.leader}' leads now`));
      }
    }
    cancel();
  }

  private lost(why: string): LeadershipLost {
    this.tell(this.leader === this.options.identity ? undefined : this.leader);
    return new LeadershipLost(`the lead is lost: ${why}`);
  }

  /** Takes or renews the lease if that is allowed; resolves to whether we hold it. */
  private async attempt(signal: AbortSignal): Promise<boolean> {
    // A request that outlives the next one could bring an old renewal after a new holder.
    const limits = { signal, timeoutMs: this.renewDeadlineMs / 2 };
    try {
      const lease = await this.look(limits);
      // A Lease that was deleted says nothing about its holder, who may still be at work.
      const known = lease ?? this.seen?.lease;
      if (known !== undefined && !this.mayTake(known)) return false;
      const sentAt = this.options.clock.monotonic();
      const taken = await (lease === undefined
        ? this.client.create<LeaseObject>(builtin.Lease, this.fresh(), limits)
        : this.client.patch<LeaseObject>(builtin.Lease, this.options.key, this.claim(lease), limits));
      this.seen = { lease: taken, at: this.options.clock.monotonic() };
      this.renewedAt = sentAt;
      this.tell(this.options.identity);
      return true;
    } catch (error) {
      if (!signal.aborted && !isConflict(error) && !isAlreadyExists(error)) this.options.onProblem?.(error);
      return false;
    }
  }

  private async look(limits: { signal: AbortSignal; timeoutMs: number }): Promise<LeaseObject | undefined> {
    const held = this.seen !== undefined && this.leader === this.options.identity;
    // Who holds it knows its version; a conflict tells if that is no longer true.
    if (held) {
      const { lease } = this.seen as { lease: LeaseObject };
      this.seen = undefined;
      return lease;
    }
    try {
      const lease = await this.client.get<LeaseObject>(builtin.Lease, this.options.key, limits);
      if (this.seen?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) this.seen = { lease, at: this.options.clock.monotonic() };
      this.tell(lease.spec?.holderIdentity === '' ? undefined : lease.spec?.holderIdentity);
      return lease;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  private mayTake(lease: LeaseObject): boolean {
    const { holderIdentity = '', leaseDurationSeconds } = lease.spec ?? {};
    if (holderIdentity === '' || holderIdentity === this.options.identity || this.seen === undefined) return true;
    return this.options.clock.monotonic() - this.seen.at >= (leaseDurationSeconds ?? this.durationMs / 1000) * 1000;
  }

  private fresh(): LeaseObject {
    return { apiVersion: apiVersionOf(builtin.Lease), kind: 'Lease', metadata: { ...this.options.key }, spec: this.spec(undefined) };
  }

  /** Holds only for the version that we looked at. */
  private claim(lease: LeaseObject): Record<string, unknown> {
    return { metadata: { uid: lease.metadata.uid, resourceVersion: lease.metadata.resourceVersion }, spec: this.spec(lease) };
  }

  private spec(before: LeaseObject | undefined): NonNullable<LeaseObject['spec']> {
    const now = new Date(this.options.clock.now()).toISOString().replace('Z', '000Z');
    const renewing = before?.spec?.holderIdentity === this.options.identity;
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.max(1, Math.ceil(this.durationMs / 1000)),
      renewTime: now,
      ...(renewing ? {} : { acquireTime: now, leaseTransitions: before === undefined ? 0 : (before.spec?.leaseTransitions ?? 0) + 1 }),
    };
  }

  /** Gives the lead up at once. If that fails, it expires. */
  private async release(): Promise<void> {
    const lease = this.seen?.lease;
    this.tell(undefined);
    this.seen = undefined;
    try {
      const known = lease ?? (await this.client.get<LeaseObject>(builtin.Lease, this.options.key, { timeoutMs: this.retryMs }));
      if (known.spec?.holderIdentity !== this.options.identity) return;
      const metadata = { uid: known.metadata.uid, resourceVersion: known.metadata.resourceVersion };
      await this.client.patch(builtin.Lease, this.options.key, { metadata, spec: { holderIdentity: '', leaseDurationSeconds: 1 } }, { timeoutMs: this.retryMs });
    } catch (error) {
      this.options.onProblem?.(error);
    }
  }

  private tell(leader: string | undefined): void {
    if (leader === this.leader) return;
    this.leader = leader;
    this.options.onLeader?.(leader);
  }

  /** A little earlier each time, by chance, so that those who wait don't come all at once. */
  private async pause(signal: AbortSignal): Promise<void> {
    const random = this.options.random ?? Math.random;
    await this.options.clock.sleep(this.retryMs * (1 - 0.2 * random()), signal).catch(() => undefined);
  }
}
