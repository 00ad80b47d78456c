import type { DatabaseBackup } from '../api/database-backup';
import { isAlreadyExists } from '../runtime/api-error';
import type { Context } from '../runtime/context';
import { backupRecord } from './backup-record';
import { backupJobsOf } from './observe-backups';
import type { DatabasePlan } from './plan';

/** Gives every backup Job of a database an object that tells how it went, whoever made the Job: the schedule, a deletion, a person with kubectl. */
export async function recordBackups(context: Context, plan: DatabasePlan, kind: typeof DatabaseBackup): Promise<void> {
  const records = context.read(kind);
  for (const job of backupJobsOf(context, plan)) {
    if (records.get(job.metadata.name) !== undefined) continue;
    await context.client.create(kind, backupRecord(kind, plan.server.name, job, plan.backup.target)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}
