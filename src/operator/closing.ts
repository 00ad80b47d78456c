import { builtin } from '../kind/resource';
import { ApiError, isNamespaceTerminating } from '../runtime/api-error';
import { applyServer } from './apply-server';
import { finalBackupJob } from './children';
import { asOperator, changePasswords } from './configure';
import type { Pass, Telling } from './life';
import { SqlError } from './sql/door';

/**
 * Shuts applications out before the last backup: what they wrote after its dump would go with the volume.
 *
 * The server is started anew with an argument under which it takes no writes. It stands in the pods' template, so that neither
 * the death of a pod nor that of the operator opens the server again; and it goes with the workload, so that a volume that is
 * retained after all opens to its next life.
 *
 * Guarantees: nobody is shut out for a Job that the API server would refuse; what counts in the end is the server's own word.
 * @returns what is waited for; undefined once the backup may begin
 */
export async function close(pass: Pass): Promise<Telling | undefined> {
  const { facts } = pass;
  const refused = await refusalOfJob(pass);
  if (refused !== undefined) return blocked(pass, refused);
  if (facts.data?.going === true) return stayOpen(pass);
  // A server that takes no writes takes no passwords either, and the Job logs in with those of the Secret.
  const unsettled = facts.wanted.operator !== undefined || facts.wanted.backup !== undefined;
  // While the pod is away, nothing but the claim's mark tells that there is something to lose: it comes first.
  const closed = !unsettled && facts.known !== undefined && facts.data?.holdsData === true;
  await applyServer(pass, { running: true, closed, holdsData: true, parameters: facts.confirmedParameters });
  if (facts.pod?.ready !== true) return facts.pod?.failing === true ? blocked(pass, facts.pod.message) : closing(pass, facts.pod?.message ?? 'its pod is yet to be made');
  try {
    if (unsettled) await changePasswords(pass);
    // A server that is about to end is not asked: it may fall silent in the middle of the answer.
    else if (facts.pod.closed && (await asOperator(pass, (session) => session.isClosed()))) return undefined;
    return closing(pass, `pod ${facts.pod.name} is yet to be replaced`);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return error.kind === 'unreachable' ? closing(pass, error.message) : blocked(pass, error.message);
  }
}

/** Why the API server would not take the Job: a quota, a policy. */
async function refusalOfJob({ context, plan, tools }: Pass): Promise<string | undefined> {
  const [job] = finalBackupJob(plan, tools.storeImage, context.object.metadata.uid);
  try {
    await context.client.create(builtin.Job, job!, { dryRun: true });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || isNamespaceTerminating(error)) throw error;
    if (error.reason !== 'AlreadyExists') return `the API server refuses Job ${plan.backup.finalJob}: ${error.serverMessage}`;
  }
  return undefined;
}

/** Somebody has deleted the claim: it is gone for good as soon as the pod stops, so the pod must not be started anew. */
function stayOpen(pass: Pass): Telling | undefined {
  const { context, facts } = pass;
  if (facts.pod?.ready !== true) return blocked(pass, `claim ${facts.data?.name} was deleted, and ${facts.pod?.message ?? 'its pod is gone'}`);
  context.event('Warning', 'NotClosed', `claim ${facts.data?.name} was deleted and lasts only as long as pod ${facts.pod.name}, so the last backup is taken with applications at work: what they write after its dump will be lost`);
  return undefined;
}

function closing({ plan }: Pass, why: string): Telling {
  return {
    kind: 'wait',
    phase: 'Deleting',
    reason: 'Closing',
    message: `applications are shut out before the last backup: ${why}. To delete without that backup, ${plan.wayOut}.`,
    after: 2_000,
  };
}

function blocked({ plan }: Pass, why: string): Telling {
  return {
    kind: 'wait',
    phase: 'Deleting',
    reason: 'FinalBackupBlocked',
    message: `the last backup can't be taken: ${why}. Nothing is deleted until it is; mend the cause, or ${plan.wayOut} to delete without a last backup.`,
    after: 5_000,
  };
}
