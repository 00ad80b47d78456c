import type { Context } from '../runtime/context';
import type { Facts, KnownPasswords } from './facts';
import type { DatabasePlan, LifePhase } from './plan';
import type { JobProgress } from './job-progress';
import type { ServerProbe } from './sql/server-probe';
import type { SuppliedSecrets } from './supplied-secrets';

/** What the life of databases needs from outside. */
export interface LifeTools {
  readonly probe: ServerProbe;
  readonly supplied: SuppliedSecrets;
  readonly progress: JobProgress;
  /** Image of the containers that speak to the backup target: the operator's own. */
  readonly storeImage: string;
  /** A new password of letters and digits, so that it needs no quoting anywhere. */
  readonly newPassword: () => string;
  /** What each database's server has, by UID: a Secret that somebody deletes comes back with the same passwords. */
  readonly remembered: Map<string, KnownPasswords>;
}

/** One pass over one database. */
export interface Pass {
  readonly context: Context;
  readonly plan: DatabasePlan;
  readonly facts: Facts;
  readonly tools: LifeTools;
}

/** How a step ended: what becomes the outcome and the story. */
export interface Telling {
  readonly kind: 'done' | 'wait' | 'stuck';
  readonly phase: LifePhase;
  readonly reason: string;
  readonly message: string;
  /** Milliseconds until the next pass, for what no event announces. */
  readonly after?: number;
  /** What the spec asks for and never gets, of a step that is done. @default everything is as the spec asks */
  readonly but?: string;
  /** What is waited for may never come by itself. @default in phase Failed */
  readonly warning?: boolean;
  /** What this pass has settled about the volume. @default what the facts say */
  readonly origin?: string;
}
