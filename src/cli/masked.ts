import type { KubeObject } from '../kind/resource';

/** What stands for a secret value. */
export const MASK = '***';

interface Secret extends KubeObject {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/** An object that may be shown: of a Secret the keys are left, and no value. */
export function masked<T extends KubeObject>(object: T): T {
  return withValues(object, () => MASK);
}

/** Two versions of an object that may be shown: of a Secret one sees which values differ, and none of them. */
export function maskedPair(before: KubeObject, after: KubeObject): [KubeObject, KubeObject] {
  const value = (object: Secret, key: string) => object.data?.[key] ?? object.stringData?.[key];
  const differs = (key: string) => value(before, key) !== undefined && value(after, key) !== undefined && value(before, key) !== value(after, key);
  return [withValues(before, (key) => (differs(key) ? `${MASK} (before)` : MASK)), withValues(after, (key) => (differs(key) ? `${MASK} (after)` : MASK))];
}

function withValues<T extends KubeObject>(object: T, valueOf: (key: string) => string): T {
  if (object.kind !== 'Secret') return object;
  const { data, stringData } = object as Secret;
  const hidden = (values: Record<string, string> | undefined) => values && Object.fromEntries(Object.keys(values).map((key) => [key, valueOf(key)]));
  return { ...object, ...(data && { data: hidden(data) }), ...(stringData && { stringData: hidden(stringData) }) };
}
