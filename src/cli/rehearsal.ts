import pino from 'pino';
import type { Database, DatabaseObject } from '../api/database';
import type { KubeObject, ObjectKey, ResourceType } from '../kind/resource';
import { applyServer } from '../operator/apply-server';
import { databasePlan, type Outside } from '../operator/database-api';
import { withOperator } from '../operator/database-life';
import { decide, type Step } from '../operator/decide';
import type { Facts } from '../operator/facts';
import { JobProgress } from '../operator/job-progress';
import { observe } from '../operator/observe';
import type { DatabasePlan } from '../operator/plan';
import { SqlError } from '../operator/sql/door';
import { ServerProbe } from '../operator/sql/server-probe';
import { SuppliedSecrets } from '../operator/supplied-secrets';
import { systemClock } from '../runtime/clock';
import type { ApplyChildrenOptions, Context, Reader } from '../runtime/context';
import type { ClientCalls } from '../runtime/fence';
import { ownerLabel } from '../runtime/manifest';
import { render } from '../runtime/render';
import type { LiveChildren } from './live-children';
import { MASK } from './masked';
import type { Operator } from './operator-of';

/** Name under which the operator applies. */
export const MANAGER = 'dbop';

/** A child that the operator would apply, and how. */
export interface Applied {
  readonly child: KubeObject;
  readonly options: ApplyChildrenOptions;
}

/** What a rehearsed pass stands on. */
export interface RehearsalOptions {
  /** Asked for Secrets that users supply. */
  readonly client: ClientCalls;
  readonly children: LiveChildren;
  readonly operator: Operator;
  /** What the backup to restore from is of, and where it rests. @default of the database itself */
  readonly backupOf?: Outside['backupOf'];
  readonly signal: AbortSignal;
}

/** A pass of the operator over a database: its own code, but everything that it would apply is noted down, and nothing is written. */
export class Rehearsal {
  private constructor(
    readonly plan: DatabasePlan,
    readonly facts: Facts,
    private readonly context: RehearsalContext,
    private readonly storeImage: string,
  ) {}

  /** Looks around as the operator does, but for the server itself, which is not asked: nothing that is shown depends on its answer. */
  static async of(database: DatabaseObject, options: RehearsalOptions): Promise<Rehearsal> {
    const { backupOf, operator } = options;
    const { storeImage } = operator;
    const plan = withOperator(databasePlan(database, { storeImage, backupOf }), { manager: MANAGER, ...operator });
    const context = new RehearsalContext(database, options);
    return new Rehearsal(plan, await observe(context, plan, senses), context, storeImage);
  }

  /** What the operator would do first. */
  get step(): Step {
    return decide(this.plan, this.facts);
  }

  /** The children of the database once it runs, or sleeps if it shall. @throws Terminal where the operator would stop */
  async children(): Promise<readonly Applied[]> {
    const { context, plan, facts, storeImage } = this;
    const tools = { ...senses, progress: new JobProgress(systemClock), storeImage, newPassword: () => MASK, remembered: new Map() };
    await applyServer({ context, plan, facts, tools }, { running: !plan.hibernated, origin: facts.data?.origin ?? (this.step === 'Restoring' ? undefined : 'empty') });
    return context.applied;
  }
}

const senses = {
  probe: new ServerProbe(() => Promise.reject(new SqlError('unreachable', 'a rehearsal does not ask the server')), systemClock),
  supplied: new SuppliedSecrets(systemClock),
};

class RehearsalContext implements Context<typeof Database> {
  readonly applied: Applied[] = [];
  readonly reconcileId = 'rehearsal';
  readonly log = pino({ enabled: false });
  readonly clock = systemClock;
  readonly render = render;
  readonly client: ClientCalls;
  readonly signal: AbortSignal;
  private readonly live: LiveChildren;

  constructor(
    readonly object: DatabaseObject,
    options: RehearsalOptions,
  ) {
    this.client = options.client;
    this.signal = options.signal;
    this.live = options.children;
  }

  read<T extends KubeObject>(type: ResourceType): Reader<T> {
    const objects = this.live.of(type) as readonly T[];
    return {
      get: (key: string | ObjectKey) => objects.find(({ metadata }) => metadata.name === (typeof key === 'string' ? key : key.name)),
      list: () => [...objects],
      children: () => objects.filter(({ metadata }) => metadata.labels?.[ownerLabel] === this.object.metadata.uid),
    };
  }

  apply(manifests: readonly KubeObject[], options: ApplyChildrenOptions = {}): Promise<KubeObject[]> {
    this.applied.push(...manifests.map((child) => ({ child, options })));
    return Promise.resolve([...manifests]);
  }

  remove(object: KubeObject): never {
    throw new Error(`a rehearsal removes nothing, not even ${object.kind} ${object.metadata.name}`);
  }

  event(): void {}

  audit(): void {}
}
