import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { RequestRecord } from './client';
import type { Outcome } from './outcome';
import type { QueueObserver } from './queue';

/** How a pass ended, in controller-runtime's words. */
export type PassResult = 'success' | 'requeue_after' | 'error' | 'terminal';

/**
 * What a manager measures, under the names of Go's controller-runtime and client-go, so that dashboards and alerts made for those fit.
 * `registry` is open to further metrics.
 */
export class Metrics {
  readonly registry = new Registry();

  private readonly passes = this.counter('controller_runtime_reconcile_total', 'Passes by controller and result', ['controller', 'result']);
  private readonly errors = this.counter('controller_runtime_reconcile_errors_total', 'Passes that threw', ['controller']);
  private readonly terminal = this.counter('controller_runtime_terminal_reconcile_errors_total', 'Passes that got stuck until a person helps', ['controller']);
  private readonly passTime = this.histogram('controller_runtime_reconcile_time_seconds', 'How long a pass took', ['controller'], [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]);
  private readonly workers = this.gauge('controller_runtime_max_concurrent_reconciles', 'How many passes of a controller may run at once', ['controller']);
  private readonly active = this.gauge('controller_runtime_active_workers', 'How many passes of a controller run now', ['controller']);
  private readonly depth = this.gauge('workqueue_depth', 'Objects that wait for a pass', ['name', 'controller']);
  private readonly adds = this.counter('workqueue_adds_total', 'Objects that were put into the queue', ['name', 'controller']);
  private readonly retries = this.counter('workqueue_retries_total', 'Passes that were asked for again after a failure', ['name', 'controller']);
  private readonly queueTime = this.histogram('workqueue_queue_duration_seconds', 'How long an object waited for its pass', ['name', 'controller'], decades);
  private readonly workTime = this.histogram('workqueue_work_duration_seconds', 'How long a worker held an object', ['name', 'controller'], decades);
  private readonly longest = this.gauge('workqueue_longest_running_processor_seconds', 'How long the slowest running pass has taken so far', ['name', 'controller']);
  private readonly requests = this.counter('rest_client_requests_total', 'Requests to the API server by method and status', ['method', 'code']);
  private readonly leads = this.gauge('leader_election_master_status', 'Whether this process leads (1) or stands by (0)', ['name']);

  private readonly slowest = new Map<string, () => number>();

  constructor() {
    // Its own precision wakes the processor a hundred times a second, for nobody.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 100 });
  }

  /** Counts a request; hand this to the client as `onRequest`. */
  readonly request = ({ method, status }: RequestRecord): void => {
    this.requests.inc({ method, code: status === undefined ? '<error>' : String(status) });
  };

  /** Says whether this process leads. */
  leading(name: string, leads: boolean): void {
    this.leads.set({ name }, leads ? 1 : 0);
  }

  /** What a controller's queue tells. */
  queueObserver(controller: string): QueueObserver {
    const labels = { name: controller, controller };
    return {
      added: (depth) => {
        this.adds.inc(labels);
        this.depth.set(labels, depth);
      },
      taken: (waitedMs, depth) => {
        this.queueTime.observe(labels, waitedMs / 1000);
        this.depth.set(labels, depth);
        this.active.inc({ controller });
      },
      finished: (workedMs) => {
        this.workTime.observe(labels, workedMs / 1000);
        this.active.dec({ controller });
      },
      retried: () => this.retries.inc(labels),
    };
  }

  /**
   * A controller begins its work; its series are there from now on, at zero.
   * @param longestMs tells for how long the slowest running pass has been at it
   */
  started(controller: string, concurrency: number, longestMs: () => number): void {
    this.workers.set({ controller }, concurrency);
    this.errors.inc({ controller }, 0);
    this.terminal.inc({ controller }, 0);
    this.slowest.set(controller, longestMs);
  }

  /** A pass ended. */
  passed(controller: string, result: PassResult, seconds: number): void {
    this.passTime.observe({ controller }, seconds);
    this.passes.inc({ controller, result: result === 'terminal' ? 'error' : result });
    if (result === 'error' || result === 'terminal') this.errors.inc({ controller });
    if (result === 'terminal') this.terminal.inc({ controller });
  }

  /** All metrics in Prometheus' text format. */
  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    for (const [controller, longestMs] of this.slowest) this.longest.set({ name: controller, controller }, longestMs() / 1000);
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge<Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram<Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}

/** The result label of an outcome. */
export function resultOf(outcome: Outcome): PassResult {
  if (outcome.kind === 'stuck') return 'terminal';
  return outcome.after === undefined ? 'success' : 'requeue_after';
}

const decades = [0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000];
