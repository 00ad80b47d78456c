import type { z } from 'zod';
import type { StructuralSchema } from './structural-schema';

/** What `cdk8s synth` and `dbop` print when a spec is refused: all its problems at once, one a line. */
export class InvalidSpecError extends Error {
  override readonly name = 'InvalidSpecError';

  constructor(
    /** Every problem as `where: 'field' (value) reason; remedy`. */
    readonly problems: readonly string[],
  ) {
    super(problems.join('\n'));
  }
}

/** Each issue that zod found in a value, as a sentence. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], input: unknown, schema: StructuralSchema, where: string): string[] {
  const texts = new Map<string, string>();
  for (const issue of issues) {
    const path = pathText(issue.path);
    const value = valueText(at(input, issue.path), schemaAt(schema, issue.path));
    // A plain value that is wrong in one way needs no second complaint; an object may be wrong in several.
    const key = value === '' ? `${path} ${issue.message}` : path;
    if (!texts.has(key)) texts.set(key, `${where}: ${path === '' ? 'spec' : `'${path}'`}${value} ${issue.message}`);
  }
  return [...texts.values()];
}

/** The reason of an issue, in words that follow the field's name. Handed to zod, which prefers what the schema's author wrote. */
export function reasonOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `is missing; give it ${article(issue.expected)}` : `is not ${article(issue.expected)}`;
    case 'invalid_value':
      return `is ${issue.input === undefined ? 'missing' : 'not known'}; use ${oneOf(issue.values)}`;
    case 'too_small':
      return issue.origin === 'string' ? `is shorter than ${issue.minimum} characters` : `is ${sized(issue.origin) ? 'shorter' : 'smaller'} than ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string' ? `is longer than ${issue.maximum} characters` : `is ${sized(issue.origin) ? 'longer' : 'larger'} than ${issue.maximum}`;
    case 'invalid_format':
      return issue.pattern === undefined ? `is not a valid ${issue.format}` : `does not match ${issue.pattern}`;
    case 'not_multiple_of':
      return `is not a multiple of ${issue.divisor}`;
    case 'invalid_key':
      return 'is not allowed as a key';
    case 'invalid_union':
      return 'is neither a whole number nor a string';
    default:
      return 'is not valid';
  }
}

/** Fields of a value that the schema doesn't know: the API server would drop them, so nobody may count on them. */
export function unknownFields(value: unknown, schema: StructuralSchema, where: string, path: PropertyKey[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, i) => (schema.items === undefined ? [] : unknownFields(item, schema.items, where, [...path, i])));
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties;
    if (known !== undefined) return unknownFields(inner, known, where, [...path, name]);
    if (schema['x-kubernetes-preserve-unknown-fields'] === true || schema.type !== 'object') return [];
    const fields = Object.keys(schema.properties ?? {});
    return [`${where}: '${pathText([...path, name])}' is not a field; ${nearest(name, fields)}`];
  });
}

function nearest(name: string, fields: string[]): string {
  const near = fields.find((field) => field.toLowerCase() === name.toLowerCase()) ?? fields.find((field) => distance(field.toLowerCase(), name.toLowerCase()) <= 2);
  return near === undefined ? `known are ${fields.join(', ')}` : `did you mean '${near}'?`;
}

/** How many letters to add, drop or change to turn one word into the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) next.push(Math.min(row[j]! + (a[i] === b[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    row = next;
  }
  return row[b.length]!;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? String(part) : `.${String(part)}`)).join('');
}

function valueText(value: unknown, schema: StructuralSchema | undefined): string {
  if (value === undefined || (typeof value === 'object' && value !== null)) return '';
  // A value marked as a password must not reach a terminal or a log of CI.
  return schema?.format === 'password' ? ' (…)' : ` (${typeof value === 'string' ? shorten(value) : String(value)})`;
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((v, part) => (typeof v === 'object' && v !== null ? (v as Record<PropertyKey, unknown>)[part] : undefined), value);
}

function schemaAt(schema: StructuralSchema, path: readonly PropertyKey[]): StructuralSchema | undefined {
  return path.reduce<StructuralSchema | undefined>(
    (s, part) => (typeof part === 'number' ? s?.items : (s?.properties?.[String(part)] ?? s?.additionalProperties)),
    schema,
  );
}

function oneOf(values: readonly unknown[]): string {
  return values.map(String).join(' or ');
}

function sized(origin: string): boolean {
  return origin === 'array' || origin === 'set' || origin === 'object';
}

function article(expected: string): string {
  const words: Record<string, string> = { int: 'a whole number', number: 'a number', string: 'a string', boolean: 'true or false', array: 'a list', record: 'a map', object: 'an object', nonoptional: 'a value' };
  return words[expected] ?? `a ${expected}`;
}
