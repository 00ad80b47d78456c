import type { Condition } from '../kind/resource';

/** A condition as a reconcile states it; when it last changed is worked out from what stood there before. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'> & Partial<Pick<Condition, 'lastTransitionTime'>>;

/**
 * The list of conditions after some were stated anew.
 *
 * Guarantees: `lastTransitionTime` moves only when a condition's status does; Ready stands first; types that nobody stated stay;
 * when nothing differs, the very same list comes back.
 */
export function withConditions(before: readonly Condition[] | undefined, updates: readonly ConditionUpdate[], now: Date): Condition[] {
  const byType = new Map((before ?? []).map((condition) => [condition.type, condition]));
  for (const update of updates) byType.set(update.type, stated(byType.get(update.type), update, now));
  const after = [...byType.values()].sort((left, right) => Number(right.type === 'Ready') - Number(left.type === 'Ready'));
  const same = before !== undefined && before.length === after.length && before.every((condition, index) => condition === after[index]);
  return same ? (before as Condition[]) : after;
}

/** The condition of a type, if the list has it. */
export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function stated(before: Condition | undefined, update: ConditionUpdate, now: Date): Condition {
  const moved = before?.status !== update.status;
  const after: Condition = {
    type: update.type,
    status: update.status,
    reason: update.reason,
    message: update.message,
    ...(update.observedGeneration === undefined ? {} : { observedGeneration: update.observedGeneration }),
    lastTransitionTime: moved ? (update.lastTransitionTime ?? seconds(now)) : before.lastTransitionTime,
  };
  const same =
    before !== undefined &&
    !moved &&
    before.reason === after.reason &&
    before.message === after.message &&
    before.observedGeneration === after.observedGeneration;
  return same ? before : after;
}

/** metav1.Time knows no fractions of a second. */
function seconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
