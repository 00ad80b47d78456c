import type { DataClaim } from './facts';
import type { DatabasePlan } from './plan';

/** Origin of a volume that held data when it was to be filled: it was left alone. */
export const KEPT = 'kept';

/** When the object was made, and what the volume that it found says about itself. */
interface Found extends Pick<DataClaim, 'origin' | 'originAt' | 'holdsData' | 'ours'> {
  readonly madeAt?: string;
}

/**
 * Whether an object asks for a backup and has found the data of an earlier life in its place.
 *
 * What was settled since the object was made is its own life's, though somebody has taken our label off the claim.
 */
export function isKeptInstead({ restore }: DatabasePlan, { origin, originAt, holdsData, ours, madeAt }: Found): boolean {
  if (ours || !holdsData || origin === undefined || madeAt === undefined) return false;
  const settledByUs = originAt !== undefined && Date.parse(originAt) >= Date.parse(madeAt);
  return asksForBackup({ restore }) && !settledByUs && origin !== restore.from?.backup;
}

/** What is to be said where a backup was asked for and the volume's own data kept; undefined where the spec has what it asks for. */
export function notRestored(plan: DatabasePlan, origin: string | undefined): string | undefined {
  if (origin !== KEPT || !asksForBackup(plan) || plan.restore.from?.backup === origin) return undefined;
  return `volume ${plan.names.dataClaim} held data already, so nothing was restored: a restore never goes over data. To have that backup, make another database with this restore; if this data is what you want, remove restore from the spec.`;
}

/** By default a backup is restored if there happens to be one, which is no wish that could be disappointed. */
function asksForBackup({ restore: { policy, from } }: Pick<DatabasePlan, 'restore'>): boolean {
  return policy === 'Required' || from !== undefined;
}
