import { z } from 'zod';
import { unchanged, validations, type CelRule } from './rule';

/** A schema in the dialect of CustomResourceDefinitions: OpenAPI v3, structural, with Kubernetes' extensions. */
export interface StructuralSchema {
  description?: string;
  type?: string;
  format?: string;
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  anyOf?: StructuralSchema[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  [validations]?: CelRule[];
}

/**
 * What a zod schema says, as a CRD says it.
 *
 * Guarantees: the same schema always gives the same JSON, keys in the same order.
 * @throws where the schema can't be structural, such as a union of objects; the error names the field.
 */
export function structuralSchema(schema: z.ZodType, at: string): StructuralSchema {
  return structural(toJson(schema, at), at);
}

function toJson(schema: z.ZodType, at: string): Json {
  try {
    return z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline', override: ({ zodSchema, jsonSchema }) => keepFlags(zodSchema._zod.def, jsonSchema) });
  } catch (cause) {
    throw new Error(`${at}: cannot be told to the API server: ${(cause as Error).message}`, { cause });
  }
}

type Json = Record<string, unknown>;

/** Where the flags of a pattern are kept until it is known which field it belongs to: JSON Schema has no place for them. */
const flagsKey = 'flags';

function keepFlags(schema: z.core.$ZodTypeDef, json: Json): void {
  const definitions = [schema, ...(schema.checks ?? []).map((check) => check._zod.def)] as { pattern?: RegExp }[];
  const flags = definitions.map(({ pattern }) => pattern?.flags.replace(/[^ims]/g, '') ?? '').join('');
  if (flags !== '') json[flagsKey] = flags;
}

/** The API server gets a pattern without its flags, and reads it with RE2, which knows less than JavaScript. */
function checkPattern({ pattern = '', [flagsKey]: flags }: Json, at: string): void {
  if (flags !== undefined) throw new Error(`${at}: the API server knows no flags of a pattern, here '${String(flags)}'; write it without, such as [Aa] for i and [\\s\\S] for s`);
  const unescaped = (pattern as string).replace(/\\[^1-9cku]/gs, '');
  const isForeign = unescaped.includes('\\') || /\(\?<?[=!]/.test(unescaped.replace(/\[[^\]]*\]/g, ''));
  if (isForeign) throw new Error(`${at}: the API server can't read the pattern ${String(pattern)}; write it without lookaheads, lookbehinds, backreferences and \\u, or as a rule`);
}

/** The order in which people read a schema. */
const order = [
  'title', 'description', 'type', 'format', 'enum', 'default', 'nullable', 'pattern', 'minLength', 'maxLength', 'minimum', 'exclusiveMinimum', 'maximum',
  'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'required', 'properties',
  'additionalProperties', 'items', 'anyOf', 'x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource',
  'x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type', validations,
];

function structural(json: Json, at: string): StructuralSchema {
  const out: Json = { ...json };
  if (json.anyOf !== undefined) intOrString(out, json.anyOf as Json[], at);
  else if (json.type === undefined && json.enum === undefined) out['x-kubernetes-preserve-unknown-fields'] = true;
  if (json.type === 'integer') dropSafeIntegerBounds(out);
  // Kubernetes checks the format itself; zod's pattern for it is long and forbids an offset.
  if (json.format === 'date-time') delete out.pattern;
  else checkPattern(json, at);
  delete out[flagsKey];
  if (json.items !== undefined) out.items = structural(json.items as Json, `${at}[]`);
  objectParts(out, json, at);
  const stray = Object.keys(out).find((key) => !order.includes(key));
  if (stray !== undefined) throw new Error(`${at}: '${stray}' has no place in a CustomResourceDefinition; write the schema without it`);
  return Object.fromEntries(order.filter((key) => out[key] !== undefined).map((key) => [key, out[key]]));
}

function objectParts(out: Json, json: Json, at: string): void {
  const properties = json.properties as Record<string, Json> | undefined;
  const more = json.additionalProperties;
  delete out.additionalProperties;
  if (properties !== undefined) {
    out.properties = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, structural(property, `${at}.${name}`)]));
    const required = (json.required ?? []) as string[];
    const fixed = Object.entries(properties).filter(([name, property]) => isImmutable(property) && property.default === undefined && !required.includes(name));
    if (fixed.length > 0) out[validations] = [...((out[validations] ?? []) as CelRule[]), ...fixed.map(([name]) => presenceRule(name))];
    // A structural schema can't both list its fields and describe the others; strictness is the API server's own doing.
    if (isObject(more)) out['x-kubernetes-preserve-unknown-fields'] = true;
    if (Object.keys(properties).length === 0) delete out.properties;
  } else if (isObject(more)) {
    out.additionalProperties = structural(more, `${at}.*`);
  }
}

function intOrString(out: Json, branches: Json[], at: string): void {
  const types = branches.map((branch) => branch.type).sort().join();
  if (types !== 'integer,string') {
    throw new Error(`${at}: a union can't be told to the API server, except z.union([z.int(), z.string()]); make the alternatives optional fields and exclude them by a rule`);
  }
  const text = branches.find((branch) => branch.type === 'string') ?? {};
  checkPattern(text, at);
  out.anyOf = [{ type: 'integer' }, { type: 'string' }];
  out['x-kubernetes-int-or-string'] = true;
  if (text.pattern !== undefined) out.pattern = text.pattern;
}

/** zod bounds every integer by what JavaScript can count; that is no statement of the author. */
function dropSafeIntegerBounds(out: Json): void {
  if (out.minimum === Number.MIN_SAFE_INTEGER) delete out.minimum;
  if (out.maximum === Number.MAX_SAFE_INTEGER) delete out.maximum;
}

function isImmutable(property: Json): boolean {
  return ((property[validations] ?? []) as CelRule[]).some(({ rule }) => rule === unchanged);
}

function presenceRule(name: string): CelRule {
  const field = celName(name);
  return { rule: `has(self.${field}) == has(oldSelf.${field})`, message: `${name} cannot be added or removed after creation` };
}

/** Words that CEL keeps for itself; in a rule Kubernetes has a spelling of its own for fields of that name. */
const celWords = new Set(['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while']);

/** A property's name as CEL spells it. */
function celName(name: string): string {
  if (celWords.has(name)) return `__${name}__`;
  return name.replace(/__/g, '__underscores__').replace(/\./g, '__dot__').replace(/-/g, '__dash__').replace(/\//g, '__slash__');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
