import { keyOf, keyText, type KubeObject } from '../kind/resource';
import { managedByLabel, ownerLabel, type Preparation } from './manifest';
import { Terminal } from './outcome';

/**
 * Refuses to touch an object that isn't ours: one that another object controls, that another of our objects made, or that somebody
 * made by hand. Whoever wants to hand an object over says so with our label.
 *
 * @param alive whether an object of this UID is among those that the manager's controllers look after
 * @throws Terminal with the reason NotOurs, naming the owner
 */
export function refuseForeign(live: KubeObject, { manager, owner, ownerType }: Preparation, alive: (uid: string) => boolean): void {
  const uid = owner.metadata.uid as string;
  const controlledBy = live.metadata.ownerReferences?.find((reference) => reference.controller === true && reference.uid !== uid);
  if (controlledBy !== undefined) {
    if (controlledBy.kind === ownerType.kind && controlledBy.name === owner.metadata.name) {
      throw new Error(`${naming(live)} still belongs to the deleted predecessor of ${keyText(keyOf(owner))}; waiting until the garbage collector has removed it`);
    }
    throw notOurs(live, `is controlled by ${controlledBy.kind} '${controlledBy.name}'; rename one of the two, or delete that ${controlledBy.kind}`);
  }
  const labelled = live.metadata.labels?.[ownerLabel];
  // Somebody may have taken our label off, but what names us as its owner is ours.
  if (labelled === uid || live.metadata.ownerReferences?.some((reference) => reference.uid === uid) === true) return;
  const managedBy = live.metadata.labels?.[managedByLabel];
  if (managedBy !== manager) {
    throw notOurs(live, `was made by ${maker(live, managedBy)}; delete it, or hand it over with: kubectl label ${live.kind.toLowerCase()} ${live.metadata.name} ${namespaceFlag(live)}--overwrite ${managedByLabel}=${manager}`);
  }
  if (labelled !== undefined && alive(labelled)) {
    throw notOurs(live, `was made for another object (UID ${labelled}) of '${manager}'; rename one of the two`);
  }
}

function notOurs(live: KubeObject, why: string): Terminal {
  return new Terminal('NotOurs', `${naming(live)} ${why}`);
}

function naming(live: KubeObject): string {
  return `${live.kind} '${keyText(keyOf(live))}'`;
}

function maker(live: KubeObject, managedBy: string | undefined): string {
  const name = managedBy ?? live.metadata.managedFields?.find((entry) => entry.manager !== undefined)?.manager;
  return name === undefined ? 'somebody else' : `'${name}'`;
}

function namespaceFlag(live: KubeObject): string {
  return live.metadata.namespace === undefined ? '' : `-n ${live.metadata.namespace} `;
}
