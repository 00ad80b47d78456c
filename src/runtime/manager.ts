import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { keyText, type ObjectKey } from '../kind/resource';
import { Cache } from './cache';
import { Client } from './client';
import { systemClock, type Clock } from './clock';
import { nameOf, type Controller } from './controller';
import { ControllerRun } from './controller-run';
import { EventRecorder } from './events';
import { fenced, type ClientCalls } from './fence';
import { HealthServer, type HealthOptions } from './health';
import { LeaderLease, LeadershipLost, type LeaseTiming } from './lease';
import { createLog } from './log';
import { Metrics } from './metrics';
import { Views } from './views';

/** Leader election of a manager. */
export interface ElectionOptions extends LeaseTiming {
  /** The Lease that the processes of one manager share. */
  readonly lease: ObjectKey;
  /**
   * Who we are; no two processes may share it.
   * @default - the host's name and something random
   */
  readonly identity?: string;
}

/** Options of a {@link Manager}. */
export interface ManagerOptions {
  /** Marks all that this manager makes: field manager and value of the label `app.kubernetes.io/managed-by`. Must not change later. */
  readonly name: string;
  readonly client: Client;
  readonly controllers: readonly Controller[];
  /**
   * Namespaces to look after.
   * @default - all
   */
  readonly namespaces?: readonly string[];
  /**
   * Lets one of several processes lead, while the others keep their caches warm.
   * @default - this process works at once, and must be the only one
   */
  readonly election?: ElectionOptions;
  /**
   * Where /healthz, /readyz and /metrics are served.
   * @default - nowhere
   */
  readonly health?: HealthOptions;
  /**
   * How long passes under way may take to end after a stop, in milliseconds; keep it below the pod's grace period.
   * @default 20000
   */
  readonly gracePeriodMs?: number;
  /** @default - a new one; give the one whose `request` the client reports to */
  readonly metrics?: Metrics;
  /** @default - JSON to standard output, or text for people if that is a terminal */
  readonly log?: Logger;
  /** @default - the machine's */
  readonly clock?: Clock;
}

/**
 * Runs controllers: with shared caches, under one lease, until told to stop.
 *
 * Guarantees: nothing is written before the lead is won and the caches are full, nor after the lead might have expired; the lead is given up as soon as the
 * last pass has ended.
 */
export class Manager {
  readonly metrics: Metrics;
  private readonly log: Logger;
  private readonly clock: Clock;
  private readonly cache: Cache;
  private readonly lease: LeaderLease | undefined;
  private readonly views: Views[];
  private leaseClient: Client | undefined;
  private health: HealthServer | undefined;

  constructor(private readonly options: ManagerOptions) {
    if (!/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(options.name)) {
      throw new Error(`manager name '${options.name}' can't be the value of a label; write at most 63 letters, digits, '-', '_' and '.'`);
    }
    refuseTwins(options.controllers);
    this.metrics = options.metrics ?? new Metrics();
    this.log = (options.log ?? createLog()).child({ manager: options.name });
    this.clock = options.clock ?? systemClock;
    this.cache = new Cache(options.client, {
      fieldManager: options.name,
      clock: this.clock,
      onProblem: ({ type, namespace, error, retryInMs }) => this.log.warn({ err: error, resource: type.plural, namespace, retryInMs }, 'cannot list or watch; trying again'),
    });
    this.views = options.controllers.map((controller) => new Views(controller, { cache: this.cache, manager: options.name, namespaces: options.namespaces }));
    this.lease = options.election && this.leaseOf(options.election);
  }

  /** The port of /healthz, /readyz and /metrics while they are served. */
  get port(): number | undefined {
    return this.health?.port;
  }

  /** Works until the signal is aborted; resolves when everything has ended. */
  async run(stop: AbortSignal): Promise<void> {
    const ended = new AbortController();
    if (this.options.health !== undefined) this.health = await HealthServer.start({ alive: () => undefined, ready: () => this.notReady() }, this.metrics, this.options.health);
    const caching = this.cache.run(ended.signal);
    try {
      this.log.info({ controllers: this.options.controllers.map(nameOf), namespaces: this.options.namespaces ?? 'all' }, 'manager starts');
      if (this.lease === undefined) await this.work(new AbortController().signal, stop);
      else await this.lease.lead((lost) => this.work(lost, stop), stop);
    } finally {
      ended.abort();
      await caching;
      await this.leaseClient?.close();
      await this.health?.stop();
      this.health = undefined;
      this.log.info('manager has stopped');
    }
  }

  /** What controllers do while this process leads. */
  private async work(lost: AbortSignal, stop: AbortSignal): Promise<void> {
    const [fence, queueing] = [new AbortController(), new AbortController()];
    // Every informer of every controller waits on them: that is no leak.
    setMaxListeners(0, fence.signal, queueing.signal);
    const cut = (): void => {
      fence.abort(lost.reason);
      queueing.abort(lost.reason);
    };
    lost.addEventListener('abort', cut, { once: true });
    const cancelGrace = whenAborted(stop, () => {
      queueing.abort(stop.reason);
      return this.clock.setTimer(this.options.gracePeriodMs ?? 20_000, () => fence.abort(new Error('the grace period is over')));
    });
    const clientUntil = (signal: AbortSignal): ClientCalls => fenced(this.options.client, signal, () => this.demandLead());
    const events = new EventRecorder(clientUntil(fence.signal), { controller: this.options.name, clock: this.clock, log: this.log });
    const environment = {
      manager: this.options.name,
      namespaces: this.options.namespaces,
      clientUntil,
      cache: this.cache,
      events,
      metrics: this.metrics,
      log: this.log,
      clock: this.clock,
      // What is not known yet may well be alive.
      alive: (uid: string) => this.views.some((view) => !view.objects.synced || view.keyOfUid(uid) !== undefined),
    };
    try {
      await Promise.all(this.options.controllers.map((controller) => new ControllerRun(controller, environment).run(queueing.signal, fence.signal)));
      await events.idle();
    } finally {
      cancelGrace();
      lost.removeEventListener('abort', cut);
      fence.abort(new LeadershipLost('the work has ended'));
    }
  }

  private demandLead(): void {
    if (this.lease !== undefined && !this.lease.leads) throw new LeadershipLost('the lead is lost: the last renewal was too long ago');
  }

  private notReady(): string | undefined {
    if (!this.cache.synced) return 'caches are not yet full';
    if (this.lease !== undefined && this.lease.holder === undefined) return 'nobody is known to lead';
    return undefined;
  }

  private leaseOf({ lease, identity, ...timing }: ElectionOptions): LeaderLease {
    const { access } = this.options.client;
    // Requests of controllers must not make a renewal wait.
    const client = new Client(access, { connections: 1, onRequest: this.metrics.request });
    this.leaseClient = client;
    const log = this.log.child({ lease: keyText(lease) });
    const self = identity ?? `${hostname()}_${randomBytes(4).toString('hex')}`;
    return new LeaderLease(client, {
      ...timing,
      key: lease,
      identity: self,
      clock: this.clock,
      onLeader: (holder) => {
        this.metrics.leading(lease.name, holder === self);
        log.info({ holder, identity: self }, holder === self ? 'this process leads' : holder === undefined ? 'nobody leads' : 'another process leads');
      },
      onProblem: (error) => log.warn({ err: error }, 'cannot look at or renew the lease'),
    });
  }
}

/** Runs `then` once the signal is aborted; returns a way to undo it and what it started. */
function whenAborted(signal: AbortSignal, then: () => () => void): () => void {
  let undo: () => void = () => undefined;
  const run = (): void => {
    undo = then();
  };
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
  return () => {
    signal.removeEventListener('abort', run);
    undo();
  };
}

function refuseTwins(controllers: readonly Controller[]): void {
  const names = new Set<string>();
  for (const controller of controllers) {
    const name = nameOf(controller);
    if (names.has(name)) throw new Error(`two controllers are called '${name}'; give one of them another 'name'`);
    names.add(name);
  }
}
