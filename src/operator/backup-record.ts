import type { DatabaseBackup, DatabaseBackupObject } from '../api/database-backup';
import type { BackupTarget } from '../constructs/backup-target';
import { apiVersionOf } from '../kind/resource';
import type { Context } from '../runtime/context';
import type { Job } from './job-fact';

/** Annotation: where the artifact rests (names only, no secrets), so that it can be deleted when the database is long gone. */
const targetMark = 'dbop.dev/target';

/** A record of a backup that the schedule, or a deletion, has taken. */
export function backupRecord(kind: typeof DatabaseBackup, database: string, job: Pick<Job, 'metadata'>, target: BackupTarget): DatabaseBackupObject {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name: job.metadata.name, namespace: job.metadata.namespace, annotations: { [targetMark]: JSON.stringify(target) } },
    spec: { database },
  };
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
