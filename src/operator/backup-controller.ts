import type { Database } from '../api/database';
import type { DatabaseBackup, DatabaseBackupStatus } from '../api/database-backup';
import type { ControllerDeclaration } from '../kind/access';
import { builtin, type KubeObject, type ObjectKey } from '../kind/resource';
import { isNotFound } from '../runtime/api-error';
import type { Context } from '../runtime/context';
import { systemClock } from '../runtime/clock';
import { controller, type Controller } from '../runtime/controller';
import { ownerLabel } from '../runtime/manifest';
import { done, stuck, wait, type Outcome, type StatusUpdate } from '../runtime/outcome';
import { parseResult, type StoreResult } from '../store/result';
import { isOfSchedule, isTakenBy, rememberTarget } from './backup-record';
import { missingBucketSecret } from './bucket-secrets';
import { backupJob, claimMarks } from './children';
import { databasePlan, finalJobName } from './database-api';
import { isOfOtherEngine, refusal } from './decide';
import { deleteArtifact } from './delete-artifact';
import { failureOf, findJob, podOfJob, podSelection, podsOfJob, type Job, type JobFact } from './job-fact';
import { JobProgress } from './job-progress';
import type { DatabasePlan } from './plan';
import { podStory, type Pod } from './pod-story';
import { SuppliedSecrets } from './supplied-secrets';

type Kind = typeof DatabaseBackup;
type Told = Outcome<DatabaseBackupStatus>;

/** What the controller of backups is made from. */
export interface BackupControllerOptions {
  readonly declaration: ControllerDeclaration<Kind>;
  /** The kind of the databases, under the same group. */
  readonly database: typeof Database;
  readonly storeImage: string;
}

/** Takes the backups that are asked for, tells how they went, and deletes the artifact with its object. */
export function backupController({ declaration, database, storeImage }: BackupControllerOptions): Controller<Kind> {
  const progress = new JobProgress(systemClock);
  const supplied = new SuppliedSecrets(systemClock);
  return controller<Kind>({
    ...declaration,
    select: [podSelection],
    wakes: (watched) => {
      const { namespace, labels } = watched.metadata;
      if (watched.kind === database.kind) return finalOf(watched);
      const name = labels?.['batch.kubernetes.io/job-name'];
      return name === undefined ? [] : [{ namespace, name: name.replace(/-delete-[0-9a-f]{8}$/, '') }];
    },

    async reconcile(context): Promise<Told> {
      const { metadata, spec, status } = context.object;
      if (status?.phase === 'Succeeded') {
        await removeFormerJob(context, database);
        return done();
      }
      const job = findJob(context, metadata.name, (found) => isTakenBy(context.object, found), parseResult);
      // A Job that was deleted may be followed by another of its name: that of a last backup is tried again so.
      if (status?.phase === 'Failed' && (job === undefined || (job.state !== 'running' && job.endedAt === status.completedAt))) {
        if (job === undefined) await forgetRun(context, database);
        return stuck('BackupFailed', status.message ?? 'the backup failed');
      }
      if (job?.state === 'running') return tellProgress(context, job, progress);
      if (job !== undefined) {
        progress.forget(job.uid);
        return tell(context, job, declaration.kind);
      }
      const found = context.read(database).get(spec.database);
      if (status?.phase === 'Running' && (found === undefined || found.metadata.deletionTimestamp !== undefined)) return failed('its Job and its database are gone, and nobody knows how far it was');
      if (found === undefined) return wait('DatabaseMissing', `Database ${spec.database} does not exist in this namespace`, { status: { phase: 'Pending' }, after: 10_000 });
      const other = context.read<Job>(builtin.Job).get(metadata.name);
      if (other !== undefined) return tellOther(other);
      const plan = databasePlan(found, { storeImage });
      if (plan.paused) return wait('Paused', `Database ${spec.database} is paused; the backup is taken when it is not`, { status: { phase: 'Pending' }, after: 10_000 });
      if (plan.hibernated) {
        const asleep = `Database ${spec.database} is hibernated, and a backup needs its server; set spec.hibernated to false, and the backup is taken`;
        return wait('Hibernated', asleep, { status: { phase: 'Pending', message: asleep }, after: 10_000 });
      }
      const missing = await missingBucketSecret(plan.backup.target, context, supplied);
      if (missing !== undefined) return wait('SecretMissing', missing, { status: { phase: 'Pending', message: missing }, after: 10_000 });
      const running = await asItRuns(context, plan);
      if (typeof running === 'string') return wait('ChangeRefused', running, { status: { phase: 'Pending', message: running }, after: 10_000 });
      await rememberTarget(context, declaration.kind, plan.backup.target);
      await context.apply(backupJob(running, storeImage, { name: metadata.name, run: metadata.uid, verify: spec.verify ?? plan.backup.verify }));
      return wait('Running', `Job ${metadata.name} takes the backup`, { status: { phase: 'Running', message: undefined } });
    },

    async finalize(context): Promise<Told> {
      const { metadata } = context.object;
      const taking = context.read<Job>(builtin.Job).get(metadata.name);
      if (taking !== undefined && isTakenBy(context.object, taking) && !(await context.remove(taking))) return wait('Deleting', `waits for Job ${metadata.name} to stop`, { after: 1_000 });
      return deleteArtifact(context, storeImage, supplied);
    },
  });
}

/**
 * The plan with the version that the server really has: a change that was refused never reached it.
 * @returns why there is no telling, where the image is one that only the refused spec names; or that no such server ever was, on another engine's volume
 */
async function asItRuns({ client }: Context<Kind>, plan: DatabasePlan): Promise<DatabasePlan | string> {
  const { namespace, image } = plan.server;
  const claim = await client.get<KubeObject>(builtin.PersistentVolumeClaim, { namespace, name: plan.names.dataClaim }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const { [claimMarks.version]: version, [claimMarks.engine]: engine } = claim?.metadata.annotations ?? {};
  const refused = refusal(plan, { data: { version, engine } });
  if (isOfOtherEngine(plan, { engine })) return `Database ${plan.server.name}: ${refused}`;
  if (refused === undefined || version === undefined) return plan;
  return image === undefined ? { ...plan, server: { ...plan.server, version } } : `Database ${plan.server.name}: ${refused}`;
}

/** The name is taken by a Job that is none of ours: it is neither read nor removed, and no event tells when it goes. */
function tellOther({ metadata: { name, labels = {} } }: Job): Told {
  const work = `${labels['app.kubernetes.io/component'] ?? 'work'} of ${labels['app.kubernetes.io/instance'] ?? 'somebody else'}`;
  const message = `Job ${name} was made for something else (${work}) and is left alone; ask for the backup by another name. This one begins when that Job is gone.`;
  return wait('NotOurs', message, { status: { phase: 'Pending', message }, after: 10_000, warning: true });
}

/** A Job at work: how far it is, or what keeps its pod from starting. */
async function tellProgress(context: Context<Kind>, job: JobFact<StoreResult>, progress: JobProgress): Promise<Told> {
  const { name } = job;
  const pod = podOfJob(job, context.read<Pod>(builtin.Pod).list(context.object.metadata.namespace));
  const standing = await progress.of(context, job, pod);
  const trouble = pod && podStory(pod);
  const message = trouble?.failing === true ? `Job ${name} can't take the backup: ${trouble.message}` : `Job ${name} takes the backup`;
  // The Job of a schedule or of a deletion is no child of this object: its end wakes nobody here, so it is looked at (in the cache).
  return wait('Running', message, { status: { phase: 'Running', message, progress: standing && { stage: standing.stage, bytes: standing.bytes, of: standing.of } }, after: 2_000 });
}

/** What a Job has to say becomes the status; a failed one stays, for its logs. */
async function tell(context: Context<Kind>, job: JobFact<StoreResult>, kind: Kind): Promise<Told> {
  const { result } = job;
  if (job.state === 'succeeded' && result === undefined && !endedLongAgo(context, job)) {
    return wait('Running', `Job ${job.name} has ended; its word is awaited`, { status: { phase: 'Running' }, after: 2_000 });
  }
  if (job.state === 'succeeded' && result?.outcome === 'stored') {
    context.event('Normal', 'BackupTaken', result.message);
    await letGo(context, kind, result.pruned);
    return done({ ...statusOf(result), progress: undefined });
  }
  if (job.state === 'succeeded' && result === undefined && podsOfJob(job, context.read<Pod>(builtin.Pod).list(context.object.metadata.namespace)).length === 0) {
    // No time of its end: its record, and what may be a good backup, must not go with its Job.
    return failed(`Job ${job.name} completed, but its pod was deleted before its result could be read. The backup may be there, but nobody knows whether it is good: take another one`);
  }
  return failed(`${failureOf(job)}; see kubectl logs job/${job.name} --all-containers`, job.endedAt);
}

function failed(message: string, completedAt?: string): Told {
  return stuck('BackupFailed', message, { status: { phase: 'Failed', message, completedAt, progress: undefined } });
}

/**
 * A schedule keeps the Jobs of its last failed runs; the record of one goes with its Job, whose logs it points to. Only where the Job has told
 * that it failed: what nobody knows the end of may be a good backup.
 */
async function forgetRun(context: Context<Kind>, database: typeof Database): Promise<void> {
  const { object } = context;
  const alive = context.read(database).get(object.spec.database);
  const isKept = alive === undefined || alive.metadata.deletionTimestamp !== undefined;
  if (isOfSchedule(object) && object.status?.completedAt !== undefined && !isKept) await context.remove(object);
}

/** Lets go of the records of backups whose artifacts the retention has removed. */
async function letGo(context: Context<Kind>, kind: Kind, pruned: readonly string[]): Promise<void> {
  const records = context.read(kind);
  for (const name of pruned) {
    const record = records.get(name);
    if (record !== undefined && record.metadata.deletionTimestamp === undefined) await context.remove(record);
  }
}

/** The Job of a last backup has told everything once its database is gone; one that failed stays, for its logs. */
async function removeFormerJob(context: Context<Kind>, database: typeof Database): Promise<void> {
  const { metadata } = context.object;
  const job = context.read<Job>(builtin.Job).get(metadata.name);
  if (job === undefined || !isTakenBy(context.object, job)) return;
  const owner = job.metadata.labels?.[ownerLabel];
  const isAlive = (uid: string) => context.read(database).list(metadata.namespace).some((found) => found.metadata.uid === uid);
  if (owner !== undefined && owner !== metadata.uid && !isAlive(owner)) await context.remove(job);
}

/** The record of the last backup of a database that is being deleted. */
function finalOf({ metadata: { namespace, name, uid, deletionTimestamp } }: KubeObject): ObjectKey[] {
  return deletionTimestamp === undefined ? [] : [{ namespace, name: finalJobName(name, uid) }];
}

/** The Job and its pod come by two watches: the pod's word may be a moment behind, but not a minute. */
function endedLongAgo(context: Context<Kind>, job: JobFact<StoreResult>): boolean {
  return job.endedAt !== undefined && context.clock.now() - Date.parse(job.endedAt) > 60_000;
}

function statusOf({ backup, message }: Extract<StoreResult, { outcome: 'stored' }>): StatusUpdate<DatabaseBackupStatus> {
  return {
    phase: 'Succeeded',
    message,
    startedAt: backup.startedAt,
    completedAt: backup.completedAt,
    location: backup.location,
    bytes: backup.storedBytes,
    sha256: backup.sha256,
    verified: backup.verifiedAt !== undefined,
    verifiedAt: backup.verifiedAt,
    engine: backup.engine,
    version: backup.serverVersion,
    position: backup.position,
    tables: backup.tables,
    rows: backup.rows,
  };
}
