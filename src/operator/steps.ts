import { createHash } from 'node:crypto';
import type { Parameters } from '../engines/engine';
import { builtin, keyOf } from '../kind/resource';
import { isNotFound } from '../runtime/api-error';
import { applyServer } from './apply-server';
import { changeParameters, changePasswords, letsOperatorIn, renewCertificate } from './configure';
import { parametersBehind, passwordsBehind, refusal, type Step } from './decide';
import { finalBackup, remove } from './farewell';
import { notRestored } from './kept-data';
import type { Pass, Telling } from './life';
import { restore } from './restore';
import { SqlError } from './sql/door';
import { FRESH_MS } from './sql/server-probe';

/** A server that has just come up is asked again soon; events announce everything else. */
const SOON_MS = 300;
/** How often a Secret is looked for that is not there, or not as it should be. */
const LOOK_AGAIN_MS = 30_000;
/** How often a server is told to read its certificate that the kubelet has not brought yet. */
const RELOAD_AGAIN_MS = 5_000;

/** What each step does: small, idempotent, never waiting inside. */
export const steps: Record<Step, (pass: Pass) => Promise<Telling>> = {
  Paused: async ({ facts }) => ({
    kind: 'wait',
    phase: 'Paused',
    reason: 'Paused',
    message: facts.deleting ? 'the deletion waits, because paused is set; set paused to false to let it go on' : 'paused is set: nothing is changed until it is false again',
  }),

  Refused: async ({ plan, facts }) => ({ kind: 'stuck', phase: facts.server?.kind === 'answers' ? 'Running' : 'Failed', reason: 'ChangeRefused', message: refusal(plan, facts) ?? '' }),

  async MissingSecret({ facts: { data, missingSecret, certificate } }) {
    const phase = data === undefined ? 'Creating' : 'Failed';
    const why = certificate?.kind === 'unusable' ? certificate.why : '';
    return { kind: 'wait', phase, ...(missingSecret === undefined ? { reason: 'CertificateRefused', message: why } : { reason: 'SecretMissing', message: missingSecret }), after: LOOK_AGAIN_MS };
  },

  async VolumeGoing(pass) {
    const { plan, facts } = pass;
    await leavePod(pass);
    return {
      kind: 'stuck',
      phase: 'Failed',
      reason: 'VolumeDeleted',
      message: `claim ${facts.data?.name} was deleted: it lasts, with its data, only as long as pod ${facts.pod?.name ?? plan.names.workload} runs, so nothing is changed. Stop the applications, take a backup, then delete the pod: the database comes back from its newest backup.`,
    };
  },

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
    const { plan, facts } = pass;
    const { refused, podsOf, restarting } = await applyServer(pass, { running: true });
    if (restarting) return { kind: 'wait', phase: 'Updating', reason: 'Restarting', message: `pod ${facts.pod?.name} is being replaced by one as the spec now asks for`, after: SOON_MS };
    const renewed = await renewCertificate(pass);
    if (refused !== undefined) return { kind: 'stuck', phase: 'Running', reason: refused.reason, message: refused.message };
    if (facts.certificate?.kind === 'unusable') {
      return { kind: 'wait', phase: 'Running', reason: 'CertificateRefused', message: `${facts.certificate.why}. The server runs on with the certificate it has.`, after: LOOK_AGAIN_MS };
    }
    if (facts.missingSecret !== undefined) {
      return { kind: 'wait', phase: 'Running', reason: 'SecretMissing', message: `${facts.missingSecret}. The server runs on with the account and the password it has.`, after: LOOK_AGAIN_MS };
    }
    const version = facts.server?.kind === 'answers' ? facts.server.version : '';
    const kept = podsOf && `its pod stays as release ${podsOf} made it until a change of the spec starts it anew`;
    const skipped = notRestored(plan, facts.data?.origin);
    const message = [`${plan.engine.title} ${version} answers`, facts.data?.growing, kept, skipped].filter(Boolean).join('; ');
    return { kind: 'done', phase: 'Running', reason: 'Running', message, but: skipped, after: renewed ? FRESH_MS : RELOAD_AGAIN_MS };
  },

  Protected: async () => ({ kind: 'stuck', phase: 'Deleting', reason: 'DeletionProtected', message: 'the database is protected from deletion, so nothing of it is deleted; set spec.deletionProtection to false to let the deletion go on' }),
  FinalBackup: finalBackup,
  Removing: remove,
};

/**
 * Leaves the pod alone with its volume: its StatefulSet would put an empty one in the place of that, and start a server on it;
 * and the pod of a Job that once filled the volume would keep it from going.
 */
async function leavePod({ context, plan }: Pass): Promise<void> {
  const filled = context.read(builtin.Job).get(plan.names.restoreJob);
  if (filled !== undefined) await context.remove(filled);
  if (plan.server.workload === 'Deployment') return;
  const set = context.read(builtin.StatefulSet).get(plan.names.workload);
  if (set === undefined) return;
  await context.client.delete(builtin.StatefulSet, keyOf(set), { uid: set.metadata.uid, propagation: 'Orphan' }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Applies what is wanted, healthy or not, and says what is waited for. */
async function start(pass: Pass): Promise<Telling> {
  const { plan, facts } = pass;
  // What shuts applications, or the probe, out may be a parameter; a running server learns of its end by SQL alone.
  const isUp = facts.server?.kind === 'silent' || facts.pod?.up === true;
  if (isUp && parametersBehind(plan, facts) && (await letsOperatorIn(pass))) return setParameters(pass);
  // A server that is up, but unready or silent, has read no new file.
  const confirmed = facts.pod === undefined ? undefined : facts.confirmedParameters;
  await applyServer(pass, { running: true, origin: facts.data?.origin ?? 'empty', confirmed });
  const phase = facts.data?.holdsData === true ? 'Updating' : 'Creating';
  if (facts.pod === undefined) return { kind: 'wait', phase, reason: 'PodMissing', message: 'waits for the pod to be made' };
  if (!facts.pod.ready) return { kind: 'wait', phase: facts.pod.failing ? 'Failed' : phase, reason: facts.pod.reason, message: facts.pod.message };
  const why = facts.server?.kind === 'silent' ? facts.server.why : 'it has not been asked yet';
  return { kind: 'wait', phase, reason: 'ServerSilent', message: `pod ${facts.pod.name} is ready, but the server does not answer: ${why}`, after: SOON_MS };
}

const CONFIGURING: Telling = { kind: 'wait', phase: 'Updating', reason: 'Configuring', message: 'the server is taking over changed settings', after: 0 };

/** The server answers; passwords or parameters are behind. */
async function configure(pass: Pass): Promise<Telling> {
  const { plan, facts } = pass;
  if (facts.server?.kind === 'denied' || passwordsBehind(plan, facts)) {
    const refused = await renewPasswords(pass);
    return refused === undefined ? CONFIGURING : goOn(pass, refused);
  }
  return setParameters(pass);
}

async function setParameters(pass: Pass): Promise<Telling> {
  const refused = await reconfigure(pass);
  return refused === undefined ? CONFIGURING : { kind: 'stuck', phase: pass.facts.server?.kind === 'answers' ? 'Running' : 'Failed', reason: 'ParameterRefused', message: `${refused}. The server keeps its former value; correct the parameter.` };
}

/** What keeps the server from taking a password may be a parameter, or the pod itself: all but the password follows the spec, and then it is tried again. */
async function goOn(pass: Pass, refused: string): Promise<Telling> {
  const { plan, facts } = pass;
  const isBehind = parametersBehind(plan, facts);
  const alsoRefused = isBehind ? await reconfigure(pass) : undefined;
  if (isBehind && alsoRefused === undefined) return CONFIGURING;
  if (!isBehind) await applyServer(pass, { running: true });
  const message = [`${refused}. The new password is not in force; it is tried again every ${LOOK_AGAIN_MS / 1000} s`, alsoRefused].filter(Boolean).join('; ');
  return { kind: 'wait', phase: facts.server?.kind === 'answers' ? 'Running' : 'Failed', reason: 'PasswordRefused', message, after: LOOK_AGAIN_MS, warning: true };
}

/** @returns what the server said to a password that it refused */
async function renewPasswords(pass: Pass): Promise<string | undefined> {
  const { context, tools } = pass;
  try {
    const changed = await changePasswords(pass);
    if (changed.length > 0) context.event('Normal', 'PasswordChanged', `the server has new passwords for ${changed.join(', ')}`);
    return undefined;
  } catch (error) {
    if (error instanceof SqlError && error.kind === 'refused') return error.message;
    throw error;
  } finally {
    tools.probe.forget(context.object.metadata.uid ?? '');
  }
}

/** @returns what the server said to values that it refused: then it has got all others that need no restart, and nothing restarts it */
async function reconfigure(pass: Pass): Promise<string | undefined> {
  const { set, needRestart, unforeseen, refused } = await changeParameters(pass);
  // What it answered before says nothing of how applications fare with what it has now.
  pass.tools.probe.forget(pass.context.object.metadata.uid ?? '');
  if (set.length > 0) pass.context.event('Normal', 'ParametersSet', `set in the running server: ${set.join(', ')}`);
  if (Object.keys(refused).length > 0) {
    await applyServer(pass, { running: true, parameters: confirmedBy(pass, set), refused: wishes(pass, Object.keys(refused)) });
    return Object.values(refused).join('; ');
  }
  // The pods' own template follows what the engine foresees; for the rest it needs a mark.
  const restartToken = unforeseen.length === 0 ? pass.facts.data?.restartedFor : createHash('sha256').update(JSON.stringify(pass.plan.server.parameters ?? {})).digest('hex').slice(0, 12);
  await applyServer(pass, { running: true, restartToken, parameters: pass.plan.server.parameters, refused: {} });
  if (needRestart.length > 0) pass.context.event('Normal', 'Restarting', `a restart is needed for ${needRestart.join(', ')}`);
  return undefined;
}

/** What is wanted of some parameters; one that is to be taken back has no value. */
function wishes({ plan }: Pass, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(plan.server.parameters ?? {}).flatMap(([name, value]) => (names.includes(name) ? [[name, String(value)]] : [])));
}

/** What the server runs with once some of the changes are in it. */
function confirmedBy({ plan, facts }: Pass, set: readonly string[]): Parameters {
  const wanted = plan.server.parameters ?? {};
  const former = Object.entries(facts.confirmedParameters ?? {}).filter(([name]) => !set.includes(name));
  return Object.fromEntries([...former, ...Object.entries(wanted).filter(([name]) => set.includes(name))]);
}
