import type { Logger } from 'pino';
import type { Cache } from './cache';
import type { Clock } from './clock';
import type { EventRecorder } from './events';
import type { ClientCalls } from './fence';
import type { Metrics } from './metrics';

/** What a manager gives to each of its controllers for as long as it leads. */
export interface Environment {
  /** Name of the manager: field manager, and value of the label that marks our objects. */
  readonly manager: string;
  /** The client, all of whose calls end when the signal is aborted, and none of which begins once the lead is lost. */
  clientUntil(signal: AbortSignal): ClientCalls;
  readonly cache: Cache;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  /** @default - all */
  readonly namespaces?: readonly string[];
  /** Whether an object of this UID is among those that the manager's controllers look after. */
  alive(uid: string): boolean;
}
