import type { Database } from '../api/database';
import type { DatabaseBackup, DatabaseBackupObject, DatabaseBackupStatus } from '../api/database-backup';
import { ArtifactJob } from '../constructs/artifact-job';
import type { BackupTarget } from '../constructs/backup-target';
import type { ControllerDeclaration } from '../kind/access';
import { builtin, type KubeObject } from '../kind/resource';
import { isNamespaceTerminating } from '../runtime/api-error';
import type { Context } from '../runtime/context';
import { systemClock } from '../runtime/clock';
import { controller, type Controller } from '../runtime/controller';
import { done, stuck, wait, type Outcome, type StatusUpdate } from '../runtime/outcome';
import { parseResult, type StoreResult } from '../store/result';
import { missingBucketSecret } from './bucket-secrets';
import { backupJob } from './children';
import { databasePlan } from './database-api';
import { jobFact, podOfJob, type Job, type JobFact } from './job-fact';
import { JobProgress } from './job-progress';
import { podStory, type Pod } from './pod-story';
import { SuppliedSecrets } from './supplied-secrets';

type Kind = typeof DatabaseBackup;
type Told = Outcome<DatabaseBackupStatus>;

/** Annotation: where the artifact rests (names only, no secrets), so that it can be deleted when the database is long gone. */
const targetMark = 'dbop.dev/target';

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
    select: [{ type: builtin.Pod, labelSelector: 'app.kubernetes.io/component in (server,backup,restore),app.kubernetes.io/instance' }],
    wakes: ({ metadata: { namespace, labels } }) => {
      const name = labels?.['batch.kubernetes.io/job-name'];
      return name === undefined ? [] : [{ namespace, name: name.replace(/-delete$/, '') }];
    },

    async reconcile(context): Promise<Told> {
      const { metadata, spec, status } = context.object;
      if (status?.phase === 'Succeeded') return done();
      if (status?.phase === 'Failed') return stuck('BackupFailed', status.message ?? 'the backup failed');
      const job = findJob(context, metadata.name);
      if (job?.state === 'running') return tellProgress(context, job, progress);
      if (job !== undefined) {
        progress.forget(job.uid);
        return tell(context, job);
      }
      const found = context.read(database).get(spec.database);
      if (found === undefined) return wait('DatabaseMissing', `Database ${spec.database} does not exist in this namespace`, { status: { phase: 'Pending' }, after: 10_000 });
      const plan = databasePlan(found, { storeImage });
      if (plan.paused) return wait('Paused', `Database ${spec.database} is paused; the backup is taken when it is not`, { status: { phase: 'Pending' }, after: 10_000 });
      const missing = await missingBucketSecret(plan.backup.target, context, supplied);
      if (missing !== undefined) return wait('SecretMissing', missing, { status: { phase: 'Pending', message: missing }, after: 30_000 });
      await rememberTarget(context, plan.backup.target);
      await context.apply(backupJob(plan, storeImage, { name: metadata.name, verify: spec.verify ?? plan.backup.verify }), { own: 'label' });
      return wait('Running', `Job ${metadata.name} takes the backup`, { status: { phase: 'Running', message: undefined } });
    },

    async finalize(context): Promise<Told> {
      const { metadata, status } = context.object;
      const target = targetOf(context.object);
      const taking = context.read<Job>(builtin.Job).get(metadata.name);
      if (taking !== undefined && !(await context.remove(taking))) return wait('Deleting', `waits for Job ${metadata.name} to stop`, { after: 1_000 });
      if (status?.phase !== 'Succeeded' || target === undefined) return done();
      return deleteArtifact(context, target, storeImage);
    },
  });
}

/** Where the artifact of a backup rests, once that is written down. */
export function targetOf({ metadata }: DatabaseBackupObject): BackupTarget | undefined {
  const text = metadata.annotations?.[targetMark];
  return text === undefined ? undefined : (JSON.parse(text) as BackupTarget);
}

/** Writes down where the artifact goes before anything is put there. */
async function rememberTarget(context: Pick<Context<Kind>, 'client' | 'object'>, target: BackupTarget): Promise<void> {
  const { metadata } = context.object;
  if (targetOf(context.object) !== undefined) return;
  const type = { group: context.object.apiVersion.split('/')[0]!, version: context.object.apiVersion.split('/')[1]!, kind: 'DatabaseBackup', plural: 'databasebackups', namespaced: true };
  await context.client.patch(type, { namespace: metadata.namespace, name: metadata.name }, { metadata: { uid: metadata.uid, annotations: { [targetMark]: JSON.stringify(target) } } });
}

function findJob(context: Context<Kind>, name: string): JobFact<StoreResult> | undefined {
  const job = context.read<Job>(builtin.Job).get(name);
  return job && jobFact(job, context.read<Pod>(builtin.Pod).list(job.metadata.namespace), parseResult);
}

/** A Job at work: how far it is, or what keeps its pod from starting. */
async function tellProgress(context: Context<Kind>, { name }: JobFact<StoreResult>, progress: JobProgress): Promise<Told> {
  const pods = context.read<Pod>(builtin.Pod).list(context.object.metadata.namespace);
  const job = context.read<Job>(builtin.Job).get(name)!;
  const standing = await progress.of(context, job, pods);
  const pod = podOfJob(job, pods);
  const trouble = pod === undefined ? undefined : podStory(pod);
  const message = trouble?.failing === true ? `Job ${name} can't take the backup: ${trouble.message}` : `Job ${name} takes the backup`;
  // The Job of a schedule or of a deletion is no child of this object: its end wakes nobody here, so it is looked at (in the cache).
  return wait('Running', message, { status: { phase: 'Running', message, progress: standing && { stage: standing.stage, bytes: standing.bytes, of: standing.of } }, after: 2_000 });
}

/** What a Job has to say becomes the status; a failed one stays, for its logs. */
function tell(context: Context<Kind>, job: JobFact<StoreResult>): Told {
  const { result } = job;
  if (job.state === 'succeeded' && result === undefined && !endedLongAgo(context, job)) {
    return wait('Running', `Job ${job.name} has ended; its word is awaited`, { status: { phase: 'Running' }, after: 2_000 });
  }
  if (job.state === 'succeeded' && result?.outcome === 'stored') {
    context.event('Normal', 'BackupTaken', result.message);
    return done({ ...statusOf(result), progress: undefined });
  }
  const message = `${result?.message ?? job.failure ?? 'the Job told no result'}; see kubectl logs job/${job.name} --all-containers`;
  return stuck('BackupFailed', message, { status: { phase: 'Failed', message, completedAt: job.endedAt, progress: undefined } });
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

async function deleteArtifact(context: Context<Kind>, target: BackupTarget, storeImage: string): Promise<Told> {
  const { metadata, spec } = context.object;
  const name = `${metadata.name}-delete`;
  const job = findJob(context, name);
  if (job === undefined) {
    const manifests = context.render((chart) => new ArtifactJob(chart, 'delete', { name, namespace: metadata.namespace, database: spec.database, backup: metadata.name, target, storeImage }));
    try {
      await context.apply(manifests, { own: 'label' });
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error;
      // What lies on a volume goes with the namespace or is guarded by its database; what lies in a bucket stays.
      context.audit('backup-artifact-left', { backup: metadata.name, database: spec.database });
      return done();
    }
    context.audit('backup-deletion-started', { backup: metadata.name, database: spec.database });
    return wait('DeletingArtifact', `Job ${name} deletes the artifact`);
  }
  if (job.state === 'running') return wait('DeletingArtifact', `Job ${name} deletes the artifact`);
  if (job.state === 'failed') {
    return stuck('ArtifactNotDeleted', `Job ${name} could not delete the artifact: ${job.result?.message ?? job.failure ?? 'it told no reason'}. Mend the cause and delete the Job to try again.`);
  }
  const object = context.read<KubeObject>(builtin.Job).get(name);
  if (object !== undefined) await context.remove(object);
  context.audit('backup-deleted', { backup: metadata.name, database: spec.database });
  return done();
}

/** A record of a backup that the schedule, or a deletion, has taken. */
export function backupRecord(kind: Kind, database: string, job: Pick<Job, 'metadata'>, target: BackupTarget): DatabaseBackupObject {
  return {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name: job.metadata.name, namespace: job.metadata.namespace, annotations: { [targetMark]: JSON.stringify(target) } },
    spec: { database },
  };
}
