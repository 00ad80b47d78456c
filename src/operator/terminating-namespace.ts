import { isNamespaceTerminating } from '../runtime/api-error';
import type { Pass, Telling } from './life';

/**
 * What a pass says whose namespace is being deleted: no pod and no Job can be made in it any more, so a last backup never can be
 * taken, and only a person can say what becomes of the data.
 * @throws any other error
 */
export function inTerminatingNamespace(error: unknown, { plan, facts }: Pass): Telling {
  if (!isNamespaceTerminating(error)) throw error;
  const volume = facts.data?.volume;
  const keep = volume === undefined ? '' : ` To keep what its volume holds, first run: kubectl patch pv ${volume} -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'.`;
  const letGo = plan.protected ? `set spec.deletionProtection to false and then ${plan.wayOut}` : plan.wayOut;
  return {
    kind: 'stuck',
    phase: facts.deleting ? 'Deleting' : 'Failed',
    reason: 'NamespaceTerminating',
    message: `namespace ${plan.server.namespace} is being deleted, and nothing can be started in it any more: neither the server nor a last backup.${keep} To let the database go without a last backup, and the namespace after it, ${letGo}.`,
  };
}
