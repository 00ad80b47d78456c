import { z } from 'zod';
import { quantity } from '../../src/kind/fields';
import { immutable, withRules } from '../../src/kind/rule';
import { structuralSchema } from '../../src/kind/structural-schema';

const schemaOf = (schema: z.ZodType) => structuralSchema(schema, 'spec');

test('bounds, patterns, enums and defaults reach the API server', () => {
  expect(schemaOf(z.object({ size: z.string().regex(/^[0-9]+[a-zA-Z]+$/).max(9), count: z.int().min(1).max(5).default(3), kind: z.enum(['a', 'b']).describe('Which.') }))).toEqual({
    type: 'object',
    required: ['size', 'kind'],
    properties: {
      size: { type: 'string', pattern: '^[0-9]+[a-zA-Z]+$', maxLength: 9 },
      count: { type: 'integer', default: 3, minimum: 1, maximum: 5 },
      kind: { description: 'Which.', type: 'string', enum: ['a', 'b'] },
    },
  });
});

test('an integer without bounds says nothing of what JavaScript can count', () => {
  expect(schemaOf(z.int())).toEqual({ type: 'integer' });
});

test('a date is a format, not a pattern', () => {
  expect(schemaOf(z.iso.datetime({ offset: true }))).toEqual({ type: 'string', format: 'date-time' });
});

test('strict and plain objects look alike, because the API server is strict by itself', () => {
  expect(schemaOf(z.strictObject({ a: z.string() }))).toEqual(schemaOf(z.object({ a: z.string() })));
});

test('an open object keeps what nobody described', () => {
  expect(schemaOf(z.looseObject({}))).toEqual({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
  expect(schemaOf(z.unknown())).toEqual({ 'x-kubernetes-preserve-unknown-fields': true });
});

test('a map bounds its values', () => {
  expect(schemaOf(z.record(z.string(), z.string().max(3)))).toEqual({ type: 'object', additionalProperties: { type: 'string', maxLength: 3 } });
});

test('a list can be merged by its keys', () => {
  const list = z.array(z.object({ type: z.string() })).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
  expect(schemaOf(list)).toMatchObject({ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
});

test('a quantity is a number or text', () => {
  expect(schemaOf(quantity('CPU.'))).toMatchObject({ description: 'CPU.', anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true });
});

test('any other union is refused with a way out, because no API server would take it', () => {
  expect(() => schemaOf(z.object({ target: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }))).toThrow(/^spec\.target: a union can't be told to the API server.*optional fields/);
});

test('a schema that no CRD can hold is refused by name', () => {
  expect(() => schemaOf(z.object({ when: z.string().meta({ examples: ['a'] }) }))).toThrow("spec.when: 'examples' has no place in a CustomResourceDefinition");
  expect(() => schemaOf(z.object({ when: z.date() }))).toThrow(/^spec: cannot be told to the API server: Date/);
});

test('rules stand where they are written, in order', () => {
  const rule = { cel: 'self.a != self.b', message: 'differ', field: 'a' as const };
  expect(schemaOf(withRules(z.object({ a: z.string(), b: z.string() }), rule))['x-kubernetes-validations']).toEqual([{ rule: 'self.a != self.b', message: 'differ', fieldPath: '.a' }]);
});

test('an immutable field that is optional can be neither added nor removed', () => {
  const schema = schemaOf(z.object({ 'storage-class': immutable(z.string(), 'claims keep it').optional(), engine: immutable(z.string(), 'no'), name: immutable(z.string(), 'no').default('app') }));
  expect(schema['x-kubernetes-validations']).toEqual([
    { rule: 'has(self.storage__dash__class) == has(oldSelf.storage__dash__class)', message: 'storage-class cannot be added or removed after creation' },
  ]);
  expect(schema.properties?.engine?.['x-kubernetes-validations']).toEqual([{ rule: 'self == oldSelf', message: 'cannot be changed: no' }]);
});

test('a field that is called as a word of CEL is spelled as CEL wants it', () => {
  const schema = schemaOf(z.object({ namespace: immutable(z.string(), 'no').optional(), namespaces: immutable(z.string(), 'no').optional() }));
  expect(schema['x-kubernetes-validations']?.map(({ rule }) => rule)).toEqual(['has(self.__namespace__) == has(oldSelf.__namespace__)', 'has(self.namespaces) == has(oldSelf.namespaces)']);
});

test.each([/^(?=a)b/, /^(?!a)b/, /(?<=a)b/, /(?<!a)b/, /(a)\1/, /(?<n>a)\k<n>/, /^\u00e4/, /^[\u00e4]/])('a pattern that the API server cannot read is refused by name: %s', (pattern) => {
  expect(() => schemaOf(z.object({ name: z.string().regex(pattern) }))).toThrow(/^spec\.name: the API server can't read the pattern .*; write it without lookaheads, lookbehinds, backreferences and \\u, or as a rule$/);
});

test.each([/^[(?=]$/, /^\(\?=/, /^\\1$/, /^\[\d-]$/, /^(?:a|b)$/, /^a$/u])('a pattern that only looks like one is taken: %s', (pattern) => {
  expect(schemaOf(z.string().regex(pattern)).pattern).toBe(pattern.source);
});

test.each([/^a/i, /^a/m, /^a/s])('a pattern whose flags would be lost on the way is refused by name: %s', (pattern) => {
  const message = /^spec\.name: the API server knows no flags of a pattern, here '[ims]'; write it without, such as \[Aa\] for i and \[\\s\\S\] for s$/;
  expect(() => schemaOf(z.object({ name: z.string().regex(pattern).describe('Its name.').optional() }))).toThrow(message);
  expect(() => schemaOf(z.object({ name: z.union([z.int(), z.string().regex(pattern)]) }))).toThrow(message);
});
