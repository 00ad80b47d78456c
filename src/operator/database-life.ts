import { randomInt } from 'node:crypto';
import type { ControllerDeclaration } from '../kind/access';
import type { Kind, ObjectOf, StatusOf } from '../kind/define-kind';
import type { Condition, KubeObject, ObjectKey } from '../kind/resource';
import type { Client } from '../runtime/client';
import { systemClock } from '../runtime/clock';
import type { Context } from '../runtime/context';
import { controller, type Controller } from '../runtime/controller';
import { conditionOf } from '../runtime/conditions';
import { managedByLabel } from '../runtime/manifest';
import type { Metrics } from '../runtime/metrics';
import { done, stuck, Terminal, wait, type Outcome, type StatusUpdate } from '../runtime/outcome';
import { BACKUPS_HEALTHY, judgeBackups, type BackupHealth, type BackupRun } from './backup-health';
import { DatabaseMetrics } from './database-metrics';
import { decide } from './decide';
import type { Facts } from './facts';
import { podSelection } from './job-fact';
import { JobProgress } from './job-progress';
import type { LifeTools, Pass, Telling } from './life';
import { observe } from './observe';
import { serviceHost, type DatabasePlan, type Story } from './plan';
import { dialByPortForward, dialService } from './sql/dial';
import { ServerProbe } from './sql/server-probe';
import { steps } from './steps';
import { SuppliedSecrets } from './supplied-secrets';
import { inTerminatingNamespace } from './terminating-namespace';

/** The longest that a database is not looked at for its backups. */
const LOOK_AGAIN_MS = 3_600_000;

/** How a kind describes a database: all that an API of one's own has to say. */
export interface DatabaseApi<K extends Kind> {
  /** What the controller touches; see `databaseDeclaration`. */
  readonly declaration: ControllerDeclaration<K>;
  /** The database that the object of this pass asks for. @throws Terminal where the object contradicts itself */
  plan(context: Context<K>): DatabasePlan;
  /** What is done beside the life itself, in every pass and whatever its step: the record of backups. @default nothing */
  duties?(context: Context<K>, plan: DatabasePlan): Promise<void>;
  /** The newest good backup, where records of backups outlive their Jobs. @default what the pods of the Jobs still tell */
  lastBackup?(context: Context<K>): Story['lastBackup'];
  /** The backup that ended last, where records of backups outlive their Jobs. @default what the Jobs still tell */
  lastRun?(context: Context<K>): BackupRun | undefined;
  /** Databases that want a pass because something of this kind's own changed. @default none */
  wakes?(watched: KubeObject): readonly ObjectKey[];
  /** What to write into the object's status. */
  status(story: Story, object: ObjectOf<K>): StatusUpdate<StatusOf<K>>;
}

/** Where the operator runs and what it brings along. */
export interface DatabaseLifeOptions {
  readonly client: Client;
  /** Name of the manager that the controller runs in: what it makes bears it, and so do the Jobs that a CronJob makes. */
  readonly manager: string;
  /** Namespace of the operator's own pods, which a database must let in. @default the operator runs outside of the cluster */
  readonly operatorNamespace?: string;
  /** The operator runs in the cluster and reaches Services; else it goes through port-forwards. */
  readonly inCluster: boolean;
  /** Image with `dbop`, for backup and restore Jobs. */
  readonly storeImage: string;
  /** Where each database is measured. @default nowhere */
  readonly metrics?: Metrics;
}

/**
 * A controller that gives the databases of a kind their life: created when the server answers, restored, reconfigured,
 * backed up before they go. Names, workload and API are the kind's, the mechanics are here.
 */
export function databaseController<K extends Kind>(api: DatabaseApi<K>, options: DatabaseLifeOptions): Controller<K> {
  const senses = {
    probe: new ServerProbe(options.inCluster ? dialService : dialByPortForward(options.client), systemClock),
    supplied: new SuppliedSecrets(systemClock),
  };
  const metrics = options.metrics && DatabaseMetrics.of(options.metrics.registry);
  const tools: LifeTools = { ...senses, progress: new JobProgress(systemClock), storeImage: options.storeImage, newPassword, remembered: new Map() };

  const live = async (context: Context<K>): Promise<Outcome<StatusOf<K>>> => {
    const plan = withOperator(api.plan(context), options);
    const seen = await observe(context, plan, senses);
    const facts = { ...seen, lastBackup: api.lastBackup?.(context) ?? seen.lastBackup };
    const evidence = { ...seen.backups, lastRun: api.lastRun?.(context) ?? seen.backups.lastRun };
    const backups = judgeBackups(plan.server.backup?.schedule, evidence, context.clock.now());
    tellOfBackups(context, backups);
    const pass: Pass = { context: context, plan, facts, tools };
    await api.duties?.(context, plan);
    const telling = await steps[decide(plan, facts)](pass).catch((error: unknown) => (error instanceof Terminal ? refused(error, pass) : inTerminatingNamespace(error, pass)));
    const told = { ...story(plan, facts, telling), backups };
    if (facts.deleting && telling.kind === 'done') metrics?.forget(plan);
    else metrics?.told(plan, told);
    return outcome(soonEnough(telling, backups, context.clock.now()), api.status(told, context.object));
  };

  return controller<K>({
    ...api.declaration,
    reconcile: live,
    finalize: live,
    select: [podSelection],
    wakes: (watched) => (watched.kind === 'Pod' ? instanceOf(watched) : (api.wakes?.(watched) ?? [])),
  });
}

/** What no other try would change, as part of the story: a phase and a message that say something else would be untrue. */
function refused({ reason, message }: Terminal, { plan, facts }: Pass): Telling {
  if (facts.deleting) return { kind: 'stuck', phase: 'Deleting', reason, message: `${message.replace(/\.?$/, '.')} Nothing is deleted until then; ${plan.wayOut} to delete without a last backup.` };
  return { kind: 'stuck', phase: facts.server?.kind === 'answers' ? 'Running' : 'Failed', reason, message };
}

/** The operator is part of a database's surroundings: its pods must be let in, and what a CronJob makes must be known as ours. */
export function withOperator(plan: DatabasePlan, { manager, operatorNamespace }: Pick<DatabaseLifeOptions, 'manager' | 'operatorNamespace'>): DatabasePlan {
  const operator = operatorNamespace === undefined ? [] : [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operatorNamespace } }, podSelector: { matchLabels: { 'app.kubernetes.io/component': 'operator' } } }];
  const network = { from: [...(plan.server.network?.from ?? [{ podSelector: {} }]), ...operator] };
  return { ...plan, server: { ...plan.server, network, labels: { ...plan.server.labels, [managedByLabel]: manager } } };
}

/** No event announces that a run was missed: the pass that finds out is asked for. */
function soonEnough(telling: Telling, { lookAgainAt }: BackupHealth, now: number): Telling {
  if (lookAgainAt === undefined) return telling;
  // A clock that is set while a long wait runs must not make it longer.
  const inMs = Math.min(Math.max(lookAgainAt - now, 1_000), LOOK_AGAIN_MS);
  return { ...telling, after: Math.min(telling.after ?? inMs, inMs) };
}

/** Says once what changed for the worse, or back to good. */
function tellOfBackups(context: Context, { status, reason, message }: BackupHealth): void {
  const before = conditionOf((context.object as { status?: { conditions?: Condition[] } }).status?.conditions, BACKUPS_HEALTHY);
  if (status === 'False' && (before?.reason !== reason || before.message !== message)) context.event('Warning', reason, message);
  if (status === 'True' && before?.status === 'False') context.event('Normal', BACKUPS_HEALTHY, message);
}

function outcome<Status>(telling: Telling, status: StatusUpdate<Status>): Outcome<Status> {
  switch (telling.kind) {
    case 'done':
      return done(status, { after: telling.after, message: telling.but });
    case 'wait':
      return wait(telling.reason, telling.message, { status, after: telling.after, warning: telling.warning ?? telling.phase === 'Failed' });
    case 'stuck':
      return stuck(telling.reason, telling.message, { status });
  }
}

function story(plan: DatabasePlan, facts: Facts, telling: Telling): Omit<Story, 'backups'> {
  const behind = Object.keys(facts.wanted).length > 0 || facts.retained.length > 0;
  return {
    phase: telling.phase,
    reason: telling.reason,
    message: telling.message,
    ready: telling.kind === 'done' && !facts.deleting,
    endpoint: { host: serviceHost(plan), port: plan.engine.port },
    secretName: plan.names.applicationSecret,
    version: facts.server?.kind === 'answers' ? facts.server.version : undefined,
    origin: telling.origin ?? facts.data?.origin,
    originAt: facts.data?.originAt,
    lastBackup: facts.lastBackup,
    rotation: behind ? undefined : facts.rotated,
  };
}

/** The database that a pod belongs to, by the label that the constructs give it. */
function instanceOf({ metadata: { labels, namespace } }: KubeObject): ObjectKey[] {
  const name = labels?.['app.kubernetes.io/instance'];
  return name === undefined ? [] : [{ namespace, name }];
}

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** 32 letters and digits: 184 bits, and nothing that any file format would have to quote. */
function newPassword(): string {
  return Array.from({ length: 32 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}
