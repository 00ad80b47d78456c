import type { DatabaseBackup, DatabaseBackupStatus } from '../api/database-backup';
import { ArtifactJob } from '../constructs/artifact-job';
import type { BackupTarget } from '../constructs/backup-target';
import { builtin, type KubeObject } from '../kind/resource';
import { isNamespaceTerminating, isNotFound } from '../runtime/api-error';
import type { Context } from '../runtime/context';
import { ownerLabel } from '../runtime/manifest';
import { done, stuck, wait, type Outcome } from '../runtime/outcome';
import { parseResult } from '../store/result';
import { runOf, targetOf } from './backup-record';
import { missingBucketSecret } from './bucket-secrets';
import { failureOf, findJob, troubleOfJob } from './job-fact';
import type { SuppliedSecrets } from './supplied-secrets';

type Kind = typeof DatabaseBackup;
type Told = Outcome<DatabaseBackupStatus>;

/**
 * Deletes what a backup has put at its location, whether it ended well or not; a good backup of another run under its name is left alone.
 *
 * Guarantees: a backup that was good is not let go before its artifact is; for one that never was, a target that can't be reached is no hindrance:
 * it claims nothing there, and the next run removes it as litter.
 */
export async function deleteArtifact(context: Context<Kind>, storeImage: string, supplied: SuppliedSecrets): Promise<Told> {
  const target = targetOf(context.object);
  if (target === undefined || (await isGone(context, target))) return done();
  const told = await byJob(context, target, storeImage, supplied);
  const isHeldUp = told.kind === 'stuck' || (told.kind === 'wait' && told.reason === 'SecretMissing');
  return isHeldUp && context.object.status?.phase !== 'Succeeded' ? done() : told;
}

/** A volume that is gone has taken its artifacts along; no pod could ever mount it. */
async function isGone({ client, object }: Context<Kind>, target: BackupTarget): Promise<boolean> {
  if (target.volume === undefined) return false;
  const key = { namespace: object.metadata.namespace, name: target.volume.claimName };
  return client.get(builtin.PersistentVolumeClaim, key).then(
    () => false,
    (error: unknown) => {
      if (isNotFound(error)) return true;
      throw error;
    },
  );
}

async function byJob(context: Context<Kind>, target: BackupTarget, storeImage: string, supplied: SuppliedSecrets): Promise<Told> {
  const { metadata, spec } = context.object;
  const name = jobName(metadata);
  const job = findJob(context, name, (found) => found.metadata.labels?.[ownerLabel] === metadata.uid, parseResult);
  if (job === undefined) {
    const missing = await missingBucketSecret(target, context, supplied);
    const manifests = context.render((chart) => new ArtifactJob(chart, 'delete', { name, namespace: metadata.namespace, database: spec.database, backup: metadata.name, run: runOf(context.object), target, storeImage }));
    try {
      // A Secret may be missing because the namespace goes, which then wouldn't take the Job either.
      if (missing === undefined) await context.apply(manifests);
      else await context.client.create(builtin.Job, manifests[0]!, { dryRun: true });
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error;
      // What lies on a volume goes with the namespace or is guarded by its database; what lies in a bucket stays.
      context.audit('backup-artifact-left', { backup: metadata.name, database: spec.database });
      return done();
    }
    if (missing !== undefined) return wait('SecretMissing', `the artifact can't be deleted: ${missing}`, { after: 30_000 });
    context.audit('backup-deletion-started', { backup: metadata.name, database: spec.database });
    return wait('DeletingArtifact', `Job ${name} deletes the artifact`);
  }
  if (job.state === 'running') {
    const trouble = troubleOfJob(context, job);
    return wait('DeletingArtifact', trouble === undefined ? `Job ${name} deletes the artifact` : `Job ${name} can't delete the artifact: ${trouble}`, { after: 10_000 });
  }
  if (job.state === 'failed') {
    return stuck('ArtifactNotDeleted', `Job ${name} could not delete the artifact: ${failureOf(job)}. Mend the cause: it is tried again within ten minutes, or as soon as you delete the Job.`);
  }
  context.audit('backup-deleted', { backup: metadata.name, database: spec.database });
  return done();
}

/** Each life of a name has its own: the Job of a former one is still there for a while, and `NAME-delete` may be the name of another backup. */
function jobName({ name, uid = '' }: KubeObject['metadata']): string {
  const suffix = `-delete-${uid.slice(0, 8)}`;
  return `${name.slice(0, 63 - suffix.length)}${suffix}`;
}
