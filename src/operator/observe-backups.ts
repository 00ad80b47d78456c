import { builtin, type KubeObject } from '../kind/resource';
import type { Context } from '../runtime/context';
import { parseResult } from '../store/result';
import type { BackupEvidence, BackupRun, CronJobFact } from './backup-health';
import { jobFact, type Job } from './job-fact';
import type { DatabasePlan } from './plan';
import type { Pod } from './pod-story';

/** Gathers what the health of a database's backups is judged by, from the cache. */
export function observeBackups(context: Context, plan: DatabasePlan): BackupEvidence {
  return { cronJob: cronJobFact(context.read<CronJob>(builtin.CronJob).get(plan.names.backupSchedule)), lastRun: lastRun(context, plan) };
}

/** The Jobs that take backups of a database, whoever made them. */
export function backupJobsOf(context: Context, plan: DatabasePlan): Job[] {
  return context
    .read<Job>(builtin.Job)
    .list(plan.server.namespace)
    .filter(({ metadata: { labels = {}, deletionTimestamp } }) => deletionTimestamp === undefined && labels['app.kubernetes.io/instance'] === plan.server.name && labels['app.kubernetes.io/component'] === 'backup');
}

interface CronJob extends KubeObject {
  spec?: { suspend?: boolean };
  status?: { lastScheduleTime?: string; active?: { name?: string }[] };
}

function cronJobFact(cronJob: CronJob | undefined): CronJobFact | undefined {
  if (cronJob === undefined) return undefined;
  const { creationTimestamp, managedFields = [] } = cronJob.metadata;
  const changes = managedFields.filter(({ operation }) => operation === 'Apply').map(({ time }) => time);
  const times = [creationTimestamp, ...changes].flatMap((time) => (time === undefined ? [] : [Date.parse(time)]));
  const { lastScheduleTime, active } = cronJob.status ?? {};
  return {
    suspended: cronJob.spec?.suspend === true,
    since: Math.max(...times),
    lastScheduled: lastScheduleTime === undefined ? undefined : Date.parse(lastScheduleTime),
    active: active?.[0]?.name,
  };
}

function lastRun(context: Context, plan: DatabasePlan): BackupRun | undefined {
  const pods = context.read<Pod>(builtin.Pod).list(plan.server.namespace);
  const runs = backupJobsOf(context, plan)
    .map((job) => jobFact(job, pods, parseResult))
    .flatMap(({ name, state, endedAt, failure, result }): BackupRun[] => (endedAt === undefined ? [] : [{ name, at: endedAt, failure: state === 'failed' ? (result?.message ?? failure ?? 'its Job told no reason') : undefined }]));
  return runs.sort((left, right) => right.at.localeCompare(left.at))[0];
}
