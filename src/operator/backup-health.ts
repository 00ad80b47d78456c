import type { BackupSchedule } from '../constructs/backup-job';
import { judgeSchedule } from './backup-schedule';

/** The run of a backup that ended last, whoever asked for it. */
export interface BackupRun {
  readonly name: string;
  /** When it ended, ISO 8601. */
  readonly at: string;
  /** Why it failed. @default it was good */
  readonly failure?: string;
}

/** What of a CronJob a judgement stands on. Times are milliseconds since 1970. */
export interface CronJobFact {
  readonly suspended: boolean;
  /** When it was made or last changed by us. */
  readonly since: number;
  /** The due time of the last run that it has started. */
  readonly lastScheduled?: number;
  /** A Job of it that is still at work. */
  readonly active?: string;
}

/** What the health of a database's backups is judged by. */
export interface BackupEvidence {
  /** A Secret of the place where backups rest that is missing, in words. */
  readonly missingSecret?: string;
  readonly cronJob?: CronJobFact;
  readonly lastRun?: BackupRun;
}

/** Type of the condition that tells it. */
export const BACKUPS_HEALTHY = 'BackupsHealthy';

/** How backups fare, as the condition `BackupsHealthy` tells it. */
export interface BackupHealth {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: 'OnSchedule' | 'NoSchedule' | 'Suspended' | 'BackupOverdue' | 'BackupFailed' | 'SecretMissing';
  readonly message: string;
  /** A run of the schedule was missed. @default there is no schedule */
  readonly overdue?: boolean;
  /** The run that ended last failed. */
  readonly failed: boolean;
  /** When the answer may become another one, though nothing happens; milliseconds since 1970. */
  readonly lookAgainAt?: number;
}

/** Judges: pure, total, what is worst comes first. */
export function judgeBackups(schedule: BackupSchedule | undefined, { missingSecret, cronJob, lastRun }: BackupEvidence, now: number): BackupHealth {
  const asleep = cronJob?.suspended === true;
  const verdict = schedule === undefined || cronJob === undefined || asleep ? undefined : judgeSchedule({ ...schedule, ...cronJob }, now);
  const judged = (status: BackupHealth['status'], reason: BackupHealth['reason'], message: string): BackupHealth => ({
    status,
    reason,
    message,
    overdue: schedule && verdict?.missed !== undefined,
    failed: lastRun?.failure !== undefined,
    lookAgainAt: verdict?.lookAgainAt,
  });
  if (missingSecret !== undefined) return judged('False', 'SecretMissing', `no backup can be taken: ${missingSecret}`);
  if (verdict?.missed !== undefined) return judged('False', 'BackupOverdue', overdueText(verdict.missed, cronJob));
  if (lastRun?.failure !== undefined) return judged('False', 'BackupFailed', `backup ${lastRun.name} failed: ${lastRun.failure}`);
  if (schedule === undefined) return judged('Unknown', 'NoSchedule', 'there is no schedule; backups are taken when a DatabaseBackup asks, and before a deletion');
  if (asleep) return judged('Unknown', 'Suspended', 'the schedule is suspended while the server is shut down');
  return judged('True', 'OnSchedule', lastRun === undefined ? 'no run was missed; the first has still to end' : `no run was missed, and ${lastRun.name} was good`);
}

function overdueText(missed: number, cronJob: CronJobFact | undefined): string {
  const due = `the backup that was due at ${new Date(missed).toISOString()} was not begun`;
  if (cronJob?.active !== undefined) return `${due}: Job ${cronJob.active} of an earlier run is still at work, and two never overlap; see kubectl logs job/${cronJob.active} --all-containers`;
  return `${due}; does the cluster's CronJob controller run, and is there room for the Job's pod? The next run settles it, or take one now with: dbop backup`;
}
