import type { z } from 'zod';

/** One condition that a value must meet, told twice: to the API server in CEL, and to `cdk8s synth` in TypeScript. */
export interface Rule<T> {
  /** The condition in the Common Expression Language; `self` is the value, `oldSelf` the value before an update. */
  readonly cel: string;
  /** What is wrong and what to do, in words that follow the field's name. */
  readonly message: string;
  /**
   * Which field of the value is wrong.
   * @default - the value itself
   */
  readonly field?: string & keyof T;
  /**
   * The same condition for synth.
   * @default - only the API server checks it, as it must where the rule looks at `oldSelf`
   */
  readonly holds?: (value: T) => boolean;
}

/** The key under which CRDs carry CEL rules. */
export const validations = 'x-kubernetes-validations';

/** A CEL rule as a CRD carries it. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** The schema with further rules; the ones it had stay. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: Rule<z.output<S>>[]): S {
  const before = (schema.meta()?.[validations] ?? []) as CelRule[];
  const checked = rules.reduce((s, { holds, message, field }) => (holds === undefined ? s : s.refine(holds, { error: message, path: field === undefined ? [] : [field] })), schema);
  return checked.meta({ [validations]: [...before, ...rules.map(toCel)] });
}

function toCel<T>({ cel, message, field }: Rule<T>): CelRule {
  return { rule: cel, message, ...(field !== undefined && { fieldPath: `.${field}` }) };
}

/** The rule that `immutable` sets; the CRD's schema also forbids to add or remove a field that has it. */
export const unchanged = 'self == oldSelf';

/**
 * A field that keeps the value it was created with.
 *
 * Guarantees: where the field is optional and has no default, it can't be added or removed later either.
 */
export function immutable<S extends z.ZodType>(schema: S, why: string): S {
  return withRules(schema, { cel: unchanged, message: `cannot be changed: ${why}` });
}
