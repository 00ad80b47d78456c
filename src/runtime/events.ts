import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { builtin, apiVersionOf, keyOf, keyText, type KubeObject } from '../kind/resource';
import { isNamespaceTerminating } from './api-error';
import type { Clock } from './clock';
import type { ClientCalls } from './fence';

/** What an Event says. */
export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase; treated as API. */
  readonly reason: string;
  /** For people; cut at 1024 characters, which is all that the API server takes. */
  readonly message: string;
  /** What was being done, in CamelCase. */
  readonly action: string;
}

/** An Event that was sent, and how often it has happened since. */
interface Series {
  readonly name: string;
  namespace: string;
  readonly firstAt: number;
  count: number;
  /** How often, as far as the API server knows. */
  told: number;
  /** Ends when the last that was sent of it has been answered: an Event must be there before it is counted up. */
  sending: Promise<void>;
}

/** Events that an object may cause at once, and the milliseconds until it may cause another one. */
const BURST = 10;
const REFILL_MS = 60_000;
/** After so long, a repeated Event is a new one; the API server forgets Events after an hour anyway. */
const SERIES_MS = 30 * 60_000;
/** So many objects and Events are remembered; the oldest are forgotten first. */
const REMEMBERED = 2_000;

/**
 * Sends Events (events.k8s.io/v1).
 *
 * Guarantees: the same Event about the same object is counted up instead of sent again; an object that has much to say is cut short, so that
 * nobody's Events drown in another's; no call ever fails or waits: what can't be sent is logged and forgotten. A namespace that is being
 * deleted takes no Events: what there is to say is then said of the namespace itself, in `default`.
 */
export class EventRecorder {
  private readonly series = new Map<string, Series>();
  private readonly allowances = new Map<string, { left: number; since: number }>();
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly client: ClientCalls,
    private readonly options: { readonly controller: string; readonly clock: Clock; readonly log: Logger },
  ) {}

  /** Tells something about an object. */
  send(about: KubeObject, text: EventText): void {
    const key = [about.metadata.uid, text.type, text.reason, text.message].join('\n');
    const now = this.options.clock.now();
    const known = this.series.get(key);
    const repeated = known !== undefined && now - known.firstAt < SERIES_MS;
    if (repeated) known.count += 1;
    if (!this.allowed(about, now)) return;
    const send = (): Promise<void> => (repeated ? this.countUp(known, now) : this.create(about, text, series, now));
    const series = repeated ? known : named(about, now);
    if (!repeated) remember(this.series, key, series);
    series.sending = series.sending.then(send).catch((error: unknown) => {
      this.series.delete(key);
      this.options.log.debug({ err: error, reason: text.reason, object: keyText(keyOf(about)) }, 'cannot send Event');
    });
    const { sending } = series;
    this.underWay.add(sending);
    void sending.finally(() => this.underWay.delete(sending));
  }

  /** Resolves once nothing is under way any more. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async create(about: KubeObject, text: EventText, series: Series, now: number): Promise<void> {
    try {
      await this.client.create(builtin.Event, this.event(about, text, series, now));
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error;
      const around = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: series.namespace } };
      series.namespace = 'default';
      await this.client.create(builtin.Event, this.event(around, { ...text, message: `${about.kind} ${about.metadata.name}: ${text.message}` }, series, now));
    }
  }

  private event(about: KubeObject, { type, reason, message, action }: EventText, { name, namespace }: Series, now: number): KubeObject {
    return {
      apiVersion: apiVersionOf(builtin.Event),
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: microTime(now),
      type,
      reason,
      action,
      note: message.length > 1024 ? `${message.slice(0, 1021)}…` : message,
      regarding: { apiVersion: about.apiVersion, kind: about.kind, namespace: about.metadata.namespace, name: about.metadata.name, uid: about.metadata.uid, resourceVersion: about.metadata.resourceVersion },
      reportingController: this.options.controller,
      reportingInstance: `${this.options.controller}-${hostname()}`.slice(0, 128),
    } as KubeObject;
  }

  private async countUp(series: Series, now: number): Promise<void> {
    const { name, namespace, count, told } = series;
    if (told === count) return;
    series.told = count;
    await this.client.patch(builtin.Event, { name, namespace }, { series: { count, lastObservedTime: microTime(now) } });
  }

  private allowed(about: KubeObject, now: number): boolean {
    const uid = about.metadata.uid ?? keyText(keyOf(about));
    const allowance = this.allowances.get(uid) ?? { left: BURST, since: now };
    const refilled = Math.floor((now - allowance.since) / REFILL_MS);
    allowance.left = Math.min(BURST, allowance.left + refilled);
    allowance.since += refilled * REFILL_MS;
    remember(this.allowances, uid, allowance);
    if (allowance.left === 0) return false;
    allowance.left -= 1;
    return true;
  }
}

function named(about: KubeObject, now: number): Series {
  const name = `${about.metadata.name.slice(0, 200)}.${randomBytes(8).toString('hex')}`;
  return { name, namespace: about.metadata.namespace ?? 'default', firstAt: now, count: 1, told: 1, sending: Promise.resolve() };
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next().value;
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
}

/** metav1.MicroTime: six digits after the point. */
function microTime(now: number): string {
  return new Date(now).toISOString().replace('Z', '000Z');
}
