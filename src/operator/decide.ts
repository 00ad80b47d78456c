import type { VersionChange } from '../engines/engine';
import type { DataClaim, Facts } from './facts';
import type { DatabasePlan } from './plan';

/**
 * What one pass does. The names are internal; users read `status.phase`, which each step reports.
 *
 * - `Paused`: hands off. `Refused`: the spec asks for something that would harm the data.
 * - `MissingSecret`: a Secret that a new server needs isn't there, or holds a certificate that a new server couldn't prove itself by.
 * - `Protected`: it is deleted although its spec forbids it. `FinalBackup`, `Removing`: the two steps of a deletion.
 * - `VolumeGoing`: somebody has deleted the data claim, which lasts only as long as its pod.
 * - `Restoring`: a Job fills the data volume before the server may start.
 * - `Hibernating`: no pods, everything else stays.
 * - `Starting`: the children are applied and the server is waited for.
 * - `Configuring`: the server answers, but passwords or parameters are behind the spec.
 * - `Running`: nothing is missing.
 */
export type Step = 'Paused' | 'Refused' | 'MissingSecret' | 'Protected' | 'FinalBackup' | 'Removing' | 'VolumeGoing' | 'Restoring' | 'Hibernating' | 'Starting' | 'Configuring' | 'Running';

/**
 * Chooses the step from what is wanted and what is seen: pure, total, first match wins.
 *
 * A change of the spec never waits for health: `Starting` applies it over a database that is down.
 */
export function decide(plan: DatabasePlan, facts: Facts): Step {
  if (plan.paused) return 'Paused';
  if (facts.deleting) return plan.protected ? 'Protected' : mustBackUpFirst(plan, facts) ? 'FinalBackup' : 'Removing';
  if (facts.data?.going === true) return 'VolumeGoing';
  if (refusal(plan, facts) !== undefined) return 'Refused';
  if ((facts.missingSecret !== undefined && facts.data?.account === undefined) || (facts.certificate?.kind === 'unusable' && facts.authority === undefined)) return 'MissingSecret';
  if (mustRestoreFirst(plan, facts)) return 'Restoring';
  if (plan.hibernated) return 'Hibernating';
  if (facts.pod?.ready !== true || facts.server === undefined || facts.server.kind === 'silent') return 'Starting';
  if (facts.server.kind === 'denied' || passwordsBehind(plan, facts) || parametersBehind(plan, facts)) return 'Configuring';
  return 'Running';
}

/** The volume holds what this engine can't read: nothing is started on it, read from it or taken away, whatever the spec asks. */
export function isOfOtherEngine(plan: DatabasePlan, data: Pick<DataClaim, 'engine'> | undefined): boolean {
  return data?.engine !== undefined && data.engine !== plan.engine.name;
}

/** Data may be lost by this deletion, and no final backup of it is proved yet: only the Job's own word that it was restored counts. */
function mustBackUpFirst(plan: DatabasePlan, facts: Facts): boolean {
  const somethingToLose = facts.data !== undefined && !isOfOtherEngine(plan, facts.data) && (facts.data.holdsData || facts.pod?.ready === true);
  const word = facts.finalJob?.state === 'succeeded' ? facts.finalJob.result : undefined;
  const proved = word?.outcome === 'stored' && word.backup.verifiedAt !== undefined;
  return plan.deletionPolicy === 'Backup' && somethingToLose && !proved;
}

/** The volume's contents are not settled, and a backup may be there to fill it. */
function mustRestoreFirst(plan: DatabasePlan, facts: Facts): boolean {
  if (facts.data?.origin !== undefined || plan.restore.policy === 'Never') return false;
  return plan.restore.policy === 'Required' || plan.restore.always === true || plan.restore.from !== undefined || facts.mayHaveBackup;
}

/** Some account's password in the server is not the wanted one, an old one is still valid, or new ones are asked for. */
export function passwordsBehind(plan: DatabasePlan, facts: Facts): boolean {
  return Object.keys(facts.wanted).length > 0 || facts.retained.length > 0 || rotationAsked(plan, facts);
}

/** The object asks for new passwords, and they have not been chosen yet. */
export function rotationAsked(plan: DatabasePlan, facts: Facts): boolean {
  return plan.rotation !== undefined && plan.rotation !== facts.rotated;
}

/** The running server has not confirmed the wanted parameters. */
export function parametersBehind(plan: DatabasePlan, facts: Facts): boolean {
  const wanted = Object.entries(plan.server.parameters ?? {});
  const confirmed = facts.confirmedParameters ?? {};
  return wanted.length !== Object.keys(confirmed).length || wanted.some(([name, value]) => confirmed[name] !== String(value));
}

/** Why what is asked for must not be applied, or nothing. The volume remembers which engine and version last ran on it. */
export function refusal(plan: DatabasePlan, { data }: { readonly data?: Pick<DataClaim, 'version' | 'answered' | 'engine'> }): string | undefined {
  if (isOfOtherEngine(plan, data)) {
    return `volume ${plan.names.dataClaim} holds the data of a ${data?.engine}, which ${plan.engine.name} can't read, so it is not touched: make the database again with engine ${data?.engine}, or choose another name.`;
  }
  const problems = plan.engine.parameterProblems(plan.server.parameters ?? {});
  if (problems.length > 0) return `parameters: ${problems.join('; ')}`;
  const before = data?.version;
  if (before === undefined) return undefined;
  // The numbers that the spec left open are those of the server that answered, unless its image bears a name of its own.
  const exact = data?.answered?.startsWith(`${before}.`) === true ? data.answered : before;
  const change: VersionChange = plan.engine.versionChange(exact, plan.server.version);
  const step = `version ${before}${exact === before ? '' : ` (${exact})`} → ${plan.server.version}`;
  switch (change) {
    case 'same':
    case 'minor':
      return undefined;
    case 'major':
      return `${step} is a major upgrade, which is not done in place: the data directory would be changed for good. Set version back to ${before}; to move, create a second database of the new version with restore.from.database: ${plan.server.name}.`;
    case 'downgrade':
      return `${step} is a downgrade: an older server can't read the data directory of a newer one. Set version back to ${before}.`;
  }
}
