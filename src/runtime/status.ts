import { isDeepStrictEqual } from 'node:util';
import type { Condition, KubeObject } from '../kind/resource';
import { withConditions, type ConditionUpdate } from './conditions';
import type { Outcome } from './outcome';

/** Status as JSON. */
type Status = Readonly<Record<string, unknown>>;

/** The Ready condition that an outcome amounts to. */
export function readyOf(outcome: Outcome): ConditionUpdate {
  if (outcome.kind === 'done') return { type: 'Ready', status: 'True', reason: 'Ready', message: outcome.message ?? 'everything is as the spec asks' };
  return { type: 'Ready', status: 'False', reason: outcome.reason, message: outcome.message };
}

/**
 * What a status becomes after a pass. Only fields that the kind knows are written, because the API server would drop any other, and
 * the next pass would try again for ever.
 */
export function statusAfter(object: KubeObject & { status?: unknown }, fields: ReadonlySet<string>, outcome: Outcome, now: Date): Status {
  const before = (object.status ?? {}) as Status;
  const { conditions, ...said } = (outcome.status ?? {}) as { conditions?: readonly ConditionUpdate[] } & Status;
  const after: Record<string, unknown> = { ...before, ...said };
  if (fields.has('observedGeneration')) after.observedGeneration = object.metadata.generation;
  if (fields.has('conditions')) {
    const updates = [readyOf(outcome), ...(conditions ?? [])].map((update) => ({ observedGeneration: object.metadata.generation, ...update }));
    after.conditions = withConditions(before.conditions as Condition[] | undefined, updates, now);
  }
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => fields.has(name) && value !== undefined));
}

/** The JSON merge patch that turns one value into another, or nothing when they are the same. Lists are replaced whole. */
export function mergePatch(before: Status, after: Status): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (after[name] === undefined && before[name] !== undefined) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    if (value === undefined || isDeepStrictEqual(plain(old), plain(value))) continue;
    patch[name] = isMap(old) && isMap(value) ? mergePatch(old, value) : value;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isMap(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As the API server would hand it back: without fields that are undefined. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
