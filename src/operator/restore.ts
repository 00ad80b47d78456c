import { builtin } from '../kind/resource';
import type { StoreResult } from '../store/result';
import { applyServer } from './apply-server';
import { missingBucketSecret } from './bucket-secrets';
import { stageText } from './byte-text';
import { restoreJob, restoreWish, wishMark } from './children';
import { failureOf, podOfJob, type JobFact } from './job-fact';
import { KEPT, notRestored } from './kept-data';
import type { Pass, Telling } from './life';
import { podStory, type Pod } from './pod-story';

/** How soon a Job is looked at again of which no event tells what is awaited. */
const SOON_MS = 1_000;
/** How often a backup is looked for that is required and not there. */
const LOOK_AGAIN_MS = 30_000;
/** How often a Job at work is asked how far it is, and a Secret looked for that it needs. */
const PROGRESS_MS = 10_000;
/** A restore that has not moved for so long is worth a look. It is not ended: a large index takes its time, and only people know what is large. */
const QUIET_MS = 15 * 60_000;

/** A Job fills the volume before the server may start; only its own word settles what the volume holds. */
export async function restore(pass: Pass): Promise<Telling> {
  const { context, plan, facts } = pass;
  await applyServer(pass, { running: false });
  const job = facts.restoreJob;
  if (job === undefined || (job.state === 'failed' && wasForAnother(pass))) return begin(pass);
  if (job.state === 'running') return underWay(pass, job);
  pass.tools.progress.forget(job.uid);
  if (job.state === 'succeeded' && job.result === undefined) {
    return restoring(`Job ${job.name} has ended, but what it has to say can't be read; if this lasts, delete the Job to have it look again`, SOON_MS);
  }
  if (job.result?.outcome === 'failed' && job.result.reason === 'NoBackup') return awaitBackup(pass, job);
  if (job.state === 'failed' || job.result === undefined) {
    const why = failureOf(job);
    const again = `Mend the cause and delete Job ${job.name} to try again, or set the restore policy to Never to start empty.`;
    return { kind: 'stuck', phase: 'Failed', reason: 'RestoreFailed', message: `Job ${job.name} could not restore: ${why}. ${again}` };
  }
  const origin = originOf(job.result);
  if ('backup' in job.result && job.result.backup !== undefined) {
    context.event('Normal', 'Restored', `filled from backup ${origin} (${job.result.backup.tables} tables, ${job.result.backup.rows} rows)`);
    context.audit('restored', { database: plan.server.name, backup: origin });
  }
  const skipped = notRestored(plan, origin);
  if (skipped !== undefined) context.event('Warning', 'RestoreSkipped', skipped);
  await applyServer(pass, { running: !plan.hibernated, origin, originAt: job.endedAt });
  return { kind: 'wait', phase: 'Creating', reason: 'ServerStarting', message: job.result.message, origin };
}

/** The spec asks for another backup by now. A Job at work is left to it: its pod may be writing, and what it has filled is never restored over. */
function wasForAnother({ context, plan }: Pass): boolean {
  const wish = context.read(builtin.Job).get(plan.names.restoreJob)?.metadata.annotations?.[wishMark];
  return wish !== undefined && wish !== restoreWish(plan);
}

/** A Job that was killed after its last act finds its own work: the volume names the backup that it was filled from. */
function originOf(result: StoreResult): string {
  if (result.outcome === 'restored') return result.backup.name;
  return result.outcome === 'present' ? (result.backup?.name ?? KEPT) : 'empty';
}

async function begin(pass: Pass): Promise<Telling> {
  const { context, plan, tools } = pass;
  const missing = await missingBucketSecret(plan.restore.target ?? plan.backup.target, context, tools.supplied);
  if (missing !== undefined) return { kind: 'wait', phase: 'Restoring', reason: 'SecretMissing', message: `no backup can be looked for: ${missing}`, after: PROGRESS_MS };
  const former = context.read(builtin.Job).get(plan.names.restoreJob);
  if (former !== undefined && !(await context.remove(former))) return restoring(`waits for a former Job ${plan.names.restoreJob} to go`, SOON_MS);
  await context.apply(restoreJob(plan, tools.storeImage));
  context.audit('restore-started', { database: plan.server.name });
  return restoring(`Job ${plan.names.restoreJob} looks for a backup to restore`);
}

/** A Job at work: how far it is, what keeps its pod from starting, and whether it has stood still for long. */
async function underWay({ context, plan, tools }: Pass, job: JobFact<StoreResult>): Promise<Telling> {
  const { name } = job;
  const pod = podOfJob(job, context.read<Pod>(builtin.Pod).list(plan.server.namespace));
  const trouble = pod && podStory(pod);
  if (trouble?.failing === true) return { kind: 'wait', phase: 'Restoring', reason: trouble.reason, message: `Job ${name} can't restore: ${trouble.message}`, after: PROGRESS_MS };
  const standing = await tools.progress.of(context, job, pod);
  if (standing === undefined) return restoring(`Job ${name} is restoring`, PROGRESS_MS);
  if (standing.quietMs < QUIET_MS) return restoring(`Job ${name} is restoring: ${stageText(standing)}`, PROGRESS_MS);
  const minutes = Math.floor(standing.quietMs / QUIET_MS) * (QUIET_MS / 60_000);
  return {
    kind: 'wait',
    phase: 'Restoring',
    reason: 'RestoreQuiet',
    message: `Job ${name} has not moved for ${minutes} minutes (${stageText(standing)}). A large index takes its time; else see kubectl logs job/${name} --all-containers, and delete the Job to begin anew.`,
    after: PROGRESS_MS,
  };
}

/** A backup is required and there is none yet: look again from time to time. */
async function awaitBackup({ context, plan }: Pass, job: JobFact<StoreResult>): Promise<Telling> {
  const failed = context.read(builtin.Job).get(job.name);
  const lookedAt = job.endedAt === undefined ? 0 : Date.parse(job.endedAt);
  if (failed !== undefined && context.clock.now() - lookedAt > LOOK_AGAIN_MS) await context.remove(failed);
  const from = plan.restore.from?.backup ?? plan.restore.from?.database ?? plan.server.name;
  return { kind: 'wait', phase: 'Restoring', reason: 'BackupAwaited', message: `restore is required and there is no backup of ${from} yet; it is looked for every ${LOOK_AGAIN_MS / 1000} s. Set the restore policy to Never to start empty.`, after: LOOK_AGAIN_MS };
}

function restoring(message: string, after?: number): Telling {
  return { kind: 'wait', phase: 'Restoring', reason: 'Restoring', message, after };
}
