import { createHash } from 'node:crypto';
import { builtin } from '../kind/resource';
import type { StoreResult } from '../store/result';
import { applyServer } from './apply-server';
import { restoreJob } from './children';
import { changeParameters, changePasswords, renewCertificate } from './configure';
import { parametersBehind, passwordsBehind, refusal, type Step } from './decide';
import { finalBackup, makeWay, remove } from './farewell';
import type { JobFact } from './job-fact';
import type { Pass, Telling } from './life';
import { SqlError } from './sql/door';
import { FRESH_MS } from './sql/server-probe';

/** A server that has just come up is asked again soon; events announce everything else. */
const SOON_MS = 1_000;
/** How often a backup is looked for that is required and not there. */
const LOOK_AGAIN_MS = 30_000;

/** What each step does: small, idempotent, never waiting inside. */
export const steps: Record<Step, (pass: Pass) => Promise<Telling>> = {
  Paused: async ({ facts }) => ({
    kind: 'wait',
    phase: 'Paused',
    reason: 'Paused',
    message: facts.deleting ? 'the deletion waits, because paused is set; set paused to false to let it go on' : 'paused is set: nothing is changed until it is false again',
  }),

  Refused: async ({ plan, facts }) => ({ kind: 'stuck', phase: 'Failed', reason: 'ChangeRefused', message: refusal(plan, facts) ?? '' }),

  MissingSecret: async ({ facts }) => ({ kind: 'wait', phase: facts.data === undefined ? 'Creating' : 'Failed', reason: 'SecretMissing', message: facts.missingSecret ?? '', after: 30_000 }),

  VolumeGoing: async ({ plan, facts }) => ({
    kind: 'stuck',
    phase: 'Failed',
    reason: 'VolumeDeleted',
    message: `claim ${facts.data?.name} was deleted: it lasts, with its data, only as long as pod ${facts.pod?.name ?? plan.names.workload} runs, so nothing is changed. Stop the applications, take a backup, then delete the pod: the database comes back from its newest backup.`,
  }),

  Restoring: restore,

  async Hibernating(pass) {
    await applyServer(pass, { running: false, origin: pass.facts.data?.origin ?? 'empty' });
    return pass.facts.pod === undefined
      ? { kind: 'wait', phase: 'Hibernated', reason: 'Hibernated', message: 'the server is shut down and its volume kept; set hibernated to false to start it again' }
      : { kind: 'wait', phase: 'Hibernated', reason: 'ShuttingDown', message: `pod ${pass.facts.pod.name} is shutting down` };
  },

  Starting: start,
  Configuring: configure,

  async Running(pass) {
    const refused = await applyServer(pass, { running: true });
    await renewCertificate(pass);
    if (refused !== undefined) return { kind: 'stuck', phase: 'Running', reason: refused.reason, message: refused.message };
    const { plan, facts } = pass;
    const version = facts.server?.kind === 'answers' ? facts.server.version : '';
    const growing = facts.data?.growing === undefined ? '' : `; ${facts.data.growing}`;
    return { kind: 'done', phase: 'Running', reason: 'Running', message: `${plan.engine.title} ${version} answers${growing}`, after: FRESH_MS };
  },

  Protected: async () => ({ kind: 'stuck', phase: 'Deleting', reason: 'DeletionProtected', message: 'the database is protected from deletion, so nothing of it is deleted; set spec.deletionProtection to false to let the deletion go on' }),
  FinalBackup: finalBackup,
  Removing: remove,
};

/** A Job fills the volume before the server may start; only its own word settles what the volume holds. */
async function restore(pass: Pass): Promise<Telling> {
  const { context, plan, facts, tools } = pass;
  await applyServer(pass, { running: false });
  const job = facts.restoreJob;
  if (job === undefined) {
    if (!(await makeWay(pass, plan.names.restoreJob))) return { kind: 'wait', phase: 'Restoring', reason: 'Restoring', message: `waits for a former Job ${plan.names.restoreJob} to go`, after: SOON_MS };
    await context.apply(restoreJob(plan, tools.storeImage), { own: 'label' });
    context.audit('restore-started', { database: plan.server.name });
    return { kind: 'wait', phase: 'Restoring', reason: 'Restoring', message: `Job ${plan.names.restoreJob} looks for a backup to restore` };
  }
  if (job.state === 'running') return { kind: 'wait', phase: 'Restoring', reason: 'Restoring', message: `Job ${job.name} is restoring` };
  if (job.state === 'succeeded' && job.result === undefined) {
    return { kind: 'wait', phase: 'Restoring', reason: 'Restoring', message: `Job ${job.name} has ended, but what it has to say can't be read; if this lasts, delete the Job to have it look again`, after: SOON_MS };
  }
  if (job.result?.outcome === 'failed' && job.result.reason === 'NoBackup') return awaitBackup(pass, job);
  if (job.state === 'failed' || job.result === undefined) {
    const why = job.result?.message ?? job.failure ?? 'it told no result';
    const again = `Mend the cause and delete Job ${job.name} to try again, or set the restore policy to Never to start empty.`;
    return { kind: 'stuck', phase: 'Failed', reason: 'RestoreFailed', message: `Job ${job.name} could not restore: ${why}. ${again}` };
  }
  const origin = job.result.outcome === 'restored' ? job.result.backup.name : job.result.outcome === 'present' ? 'kept' : 'empty';
  if (job.result.outcome === 'restored') {
    context.event('Normal', 'Restored', `filled from backup ${origin} (${job.result.backup.tables} tables, ${job.result.backup.rows} rows)`);
    context.audit('restored', { database: plan.server.name, backup: origin });
  }
  await applyServer(pass, { running: !plan.hibernated, origin, originAt: job.endedAt });
  return { kind: 'wait', phase: 'Creating', reason: 'ServerStarting', message: job.result.message, origin };
}

/** A backup is required and there is none yet: look again from time to time. */
async function awaitBackup({ context, plan }: Pass, job: JobFact<StoreResult>): Promise<Telling> {
  const failed = context.read(builtin.Job).get(job.name);
  const lookedAt = job.endedAt === undefined ? 0 : Date.parse(job.endedAt);
  if (failed !== undefined && context.clock.now() - lookedAt > LOOK_AGAIN_MS) await context.remove(failed);
  const from = plan.restore.from?.backup ?? plan.restore.from?.database ?? plan.server.name;
  return { kind: 'wait', phase: 'Restoring', reason: 'BackupAwaited', message: `restore is required and there is no backup of ${from} yet; it is looked for every ${LOOK_AGAIN_MS / 1000} s. Set the restore policy to Never to start empty.`, after: LOOK_AGAIN_MS };
}

/** Applies what is wanted, healthy or not, and says what is waited for. */
async function start(pass: Pass): Promise<Telling> {
  const { facts } = pass;
  await applyServer(pass, { running: true, origin: facts.data?.origin ?? 'empty' });
  const phase = facts.data?.holdsData === true ? 'Updating' : 'Creating';
  if (facts.pod === undefined) return { kind: 'wait', phase, reason: 'PodMissing', message: 'waits for the pod to be made' };
  if (!facts.pod.ready) return { kind: 'wait', phase: facts.pod.failing ? 'Failed' : phase, reason: facts.pod.reason, message: facts.pod.message };
  const why = facts.server?.kind === 'silent' ? facts.server.why : 'it has not been asked yet';
  return { kind: 'wait', phase, reason: 'ServerSilent', message: `pod ${facts.pod.name} is ready, but the server does not answer: ${why}`, after: SOON_MS };
}

/** The server answers; passwords or parameters are behind. */
async function configure(pass: Pass): Promise<Telling> {
  const { context, plan, facts, tools } = pass;
  if (facts.server?.kind === 'denied' || passwordsBehind(plan, facts)) {
    const changed = await changePasswords(pass);
    tools.probe.forget(context.object.metadata.uid ?? '');
    if (changed.length > 0) context.event('Normal', 'PasswordChanged', `the server has new passwords for ${changed.join(', ')}`);
  } else if (parametersBehind(plan, facts)) {
    const refused = await reconfigure(pass).catch(refusalOf);
    if (refused !== undefined) {
      await applyServer(pass, { running: true, parameters: facts.confirmedParameters });
      return { kind: 'stuck', phase: 'Running', reason: 'ParameterRefused', message: `${refused}. The server runs on with its former settings; correct the parameter.` };
    }
  }
  return { kind: 'wait', phase: 'Updating', reason: 'Configuring', message: 'the server is taking over changed settings', after: 0 };
}

/** What the server said when it refused a value; anything else is an error. */
function refusalOf(error: unknown): string {
  if (error instanceof SqlError && error.kind === 'refused') return error.message;
  throw error;
}

async function reconfigure(pass: Pass): Promise<void> {
  const { set, needRestart, unforeseen } = await changeParameters(pass);
  // The pods' own template follows what the engine foresees; for the rest it needs a mark.
  const restartToken = unforeseen.length === 0 ? pass.facts.restartToken : createHash('sha256').update(JSON.stringify(pass.plan.server.parameters ?? {})).digest('hex').slice(0, 12);
  await applyServer(pass, { running: true, restartToken });
  if (set.length > 0) pass.context.event('Normal', 'ParametersSet', `set in the running server: ${set.join(', ')}`);
  if (needRestart.length > 0) pass.context.event('Normal', 'Restarting', `a restart is needed for ${needRestart.join(', ')}`);
}
