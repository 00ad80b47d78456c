import type { ConditionUpdate } from './conditions';

/** What a pass says about the status: the fields that it names are set, `undefined` removes one, all others stay as they are. */
export type StatusUpdate<Status> = { readonly [Field in keyof Status]?: Field extends 'conditions' ? readonly ConditionUpdate[] : Status[Field] };

/**
 * How a pass over one object ended. There is no fourth way except to throw, which means "try again, with backoff".
 *
 * - `done`: nothing is missing; Ready becomes True.
 * - `wait`: all that can be done now has been done; Ready is False and says what is waited for. An event of a child or of a watched object,
 *   or the time `after`, brings the next pass.
 * - `stuck`: only a person can help; Ready is False, a warning Event is sent, and nothing happens until something changes.
 */
export type Outcome<Status = object> =
  | { readonly kind: 'done'; readonly status?: StatusUpdate<Status>; readonly after?: number; readonly message?: string }
  | { readonly kind: 'wait'; readonly reason: string; readonly message: string; readonly after?: number; readonly warning?: boolean; readonly status?: StatusUpdate<Status> }
  | { readonly kind: 'stuck'; readonly reason: string; readonly message: string; readonly status?: StatusUpdate<Status> };

/** Options of {@link done}. */
export interface DoneOptions {
  /**
   * Milliseconds until the next pass, for what no event announces.
   * @default - the next event
   */
  readonly after?: number;
  /**
   * What the Ready condition says beside being True.
   * @default - everything is as the spec asks
   */
  readonly message?: string;
}

/** Options of {@link wait}. */
export interface WaitOptions<Status> {
  /**
   * Milliseconds until the next pass, for what no event announces.
   * @default - the next event
   */
  readonly after?: number;
  /**
   * Whether the Event is a warning: what is waited for may never come unless somebody looks after it.
   * @default false
   */
  readonly warning?: boolean;
  /**
   * Status fields to set.
   * @default - status stays, but for the Ready condition
   */
  readonly status?: StatusUpdate<Status>;
}

/** Options of {@link stuck}. */
export interface StuckOptions<Status> {
  /**
   * Status fields to set.
   * @default - status stays, but for the Ready condition
   */
  readonly status?: StatusUpdate<Status>;
}

/** The object is as its spec wants it. */
export function done<Status>(status?: StatusUpdate<Status>, options: DoneOptions = {}): Outcome<Status> {
  return { kind: 'done', status, ...options };
}

/** Something else must happen first: `reason` in CamelCase is API, `message` tells people what is waited for. */
export function wait<Status>(reason: string, message: string, options: WaitOptions<Status> = {}): Outcome<Status> {
  return { kind: 'wait', reason, message, ...options };
}

/** Nothing more can be done until a person changes something: `message` tells what. */
export function stuck<Status>(reason: string, message: string, options: StuckOptions<Status> = {}): Outcome<Status> {
  return { kind: 'stuck', reason, message, ...options };
}

/**
 * Thrown where a pass can't go on and trying again won't help, deep inside a call that has no outcome to return:
 * the controller turns it into {@link stuck} with the same reason and message.
 */
export class Terminal extends Error {
  override readonly name = 'Terminal';

  constructor(readonly reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}
