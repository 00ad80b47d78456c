import type { DatabaseBackup } from '../api/database-backup';
import { isAlreadyExists, isKindTerminating, isNamespaceTerminating } from '../runtime/api-error';
import type { Context } from '../runtime/context';
import { parseResult } from '../store/result';
import { backupRecord } from './backup-controller';
import { podsOf } from './observe';
import { backupJobsOf } from './observe-backups';
import type { DatabasePlan } from './plan';

/**
 * Gives every backup Job of a database an object that tells how it went, whoever made the Job (the schedule, a deletion, a
 * person with kubectl), and lets the objects of backups go that the retention has removed.
 */
export async function recordBackups(context: Context, plan: DatabasePlan, kind: typeof DatabaseBackup): Promise<void> {
  const records = context.read(kind);
  for (const job of backupJobsOf(context, plan)) {
    if (records.get(job.metadata.name) !== undefined) continue;
    await context.client.create(kind, backupRecord(kind, plan.server.name, job, plan.backup.target)).catch((error: unknown) => {
      // A record is for people; what goes together with all records must not wait for it.
      if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isKindTerminating(error)) throw error;
    });
  }
  for (const name of prunedBy(context, plan)) {
    const record = records.get(name);
    if (record !== undefined && record.metadata.deletionTimestamp === undefined) await context.remove(record);
  }
}

/** Backups whose artifacts the retention has removed, as the Jobs that did it tell. */
function prunedBy(context: Context, plan: DatabasePlan): Set<string> {
  const results = podsOf(context, plan, 'backup')
    .flatMap((pod) => pod.status?.containerStatuses ?? [])
    .map((container) => parseResult(container.state?.terminated?.message ?? ''));
  return new Set(results.flatMap((result) => (result?.outcome === 'stored' ? result.pruned : [])));
}
