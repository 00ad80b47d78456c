import type { DatabaseBackup, DatabaseBackupObject } from '../api/database-backup';
import type { BackupTarget } from '../constructs/backup-target';
import { apiVersionOf } from '../kind/resource';
import type { Context } from '../runtime/context';
import { ownerLabel } from '../runtime/manifest';
import type { Job } from './job-fact';

/** Annotation: where the artifact rests (names only, no secrets), so that it can be deleted when the database is long gone. */
const targetMark = 'dbop.dev/target';

/** Annotation: the CronJob whose run this is a record of. */
const scheduleMark = 'dbop.dev/schedule';

/** Annotation: which run has taken it, if that is not the object itself. */
const runMark = 'dbop.dev/run';

/** A record of a backup that the schedule, or a deletion, has taken. */
export function backupRecord(kind: typeof DatabaseBackup, database: string, job: Pick<Job, 'metadata'>, target: BackupTarget): DatabaseBackupObject {
  const { name, namespace, uid, labels, ownerReferences = [] } = job.metadata;
  // The Job of a last backup works for its database, the schedule's for itself.
  const run = labels?.[ownerLabel] ?? uid;
  const schedule = ownerReferences.find((owner) => owner.kind === 'CronJob')?.name;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, namespace, annotations: { [targetMark]: JSON.stringify(target), ...(run !== undefined && { [runMark]: run }), ...(schedule !== undefined && { [scheduleMark]: schedule }) } },
    spec: { database },
  };
}

/** Which run has taken the backup, as its manifest names it. */
export function runOf({ metadata }: DatabaseBackupObject): string | undefined {
  return metadata.annotations?.[runMark] ?? metadata.uid;
}

/** Whether a Job takes this very backup: one of another object, or for other work, may bear its name. */
export function isTakenBy({ metadata }: DatabaseBackupObject, job: Pick<Job, 'metadata'>): boolean {
  const { uid, labels = {} } = job.metadata;
  const owner = labels[ownerLabel];
  const isMeant = owner === metadata.uid || (owner ?? uid) === metadata.annotations?.[runMark];
  return isMeant && labels['app.kubernetes.io/component'] === 'backup';
}

/** Whether nobody but the schedule has asked for this backup. */
export function isOfSchedule({ metadata }: DatabaseBackupObject): boolean {
  return metadata.annotations?.[scheduleMark] !== undefined;
}

/** Where the artifact of a backup rests, once that is written down. */
export function targetOf({ metadata }: DatabaseBackupObject): BackupTarget | undefined {
  const text = metadata.annotations?.[targetMark];
  return text === undefined ? undefined : (JSON.parse(text) as BackupTarget);
}

/** Writes down where the artifact goes before anything is put there. */
export async function rememberTarget({ client, object }: Pick<Context<typeof DatabaseBackup>, 'client' | 'object'>, kind: typeof DatabaseBackup, target: BackupTarget): Promise<void> {
  const { metadata } = object;
  if (targetOf(object) !== undefined) return;
  await client.patch(kind, { namespace: metadata.namespace, name: metadata.name }, { metadata: { uid: metadata.uid, annotations: { [targetMark]: JSON.stringify(target) } } });
}
