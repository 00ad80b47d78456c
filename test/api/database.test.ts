import { Database } from '../../src/api/database';
import type { StructuralSchema } from '../../src/kind/structural-schema';
import { accepted, least, refused } from './database-cases';

const refusal = (change: object) => {
  try {
    Database.check({ ...least, ...change }, 'shop/orders');
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

test('three fields are enough; the rest has defaults that keep data safe', () => {
  expect(Database.check(least, 'shop/orders')).toEqual({
    ...least,
    database: 'app',
    username: 'app',
    restore: { policy: 'IfAvailable' },
    deletionPolicy: 'Backup',
    deletionProtection: false,
    paused: false,
    hibernated: false,
  });
});

test.each(accepted)('%s is accepted', (_, change) => {
  expect(refusal(change)).toBeUndefined();
});

test.each(refused)('%j is refused with the field, the value, the reason and the remedy', (change, message) => {
  expect(refusal(change)?.startsWith(`shop/orders: ${message}`) ? message : refusal(change)).toBe(message);
});

test('the name leaves room for the children that derive theirs from it', () => {
  expect(() => Database.checkName('a'.repeat(41), 'shop')).toThrow(/is longer than 40 characters/);
  expect(() => Database.checkName('a'.repeat(40), 'shop')).not.toThrow();
});

test('kubectl explain has a sentence for every field, and every string, number, list and map is bounded', () => {
  const schema = Database.crd().spec.versions[0]!.schema.openAPIV3Schema;
  expect([...flaws(schema.properties!.spec!, 'spec'), ...flaws(schema.properties!.status!, 'status')]).toEqual([]);
});

test('the CRD stays far below what an annotation or a request can hold', () => {
  expect(JSON.stringify(Database.crd()).length).toBeLessThan(32_768);
});

/** Fields without a description or without a bound. Entries of lists and maps are described by their field. */
function flaws(schema: StructuralSchema, at: string, described = false): string[] {
  const found: string[] = [];
  if (!described && !schema.description?.endsWith('.')) found.push(`${at}: no sentence`);
  const patternBounds = schema['x-kubernetes-int-or-string'] === true && schema.pattern !== undefined;
  if (schema.type === 'string' && schema.maxLength === undefined && schema.enum === undefined && schema.format !== 'date-time' && !patternBounds) found.push(`${at}: no maxLength`);
  if (schema.type === 'integer' && schema.minimum === undefined) found.push(`${at}: no minimum`);
  if (schema.type === 'array' && schema.maxItems === undefined) found.push(`${at}: no maxItems`);
  if (schema.additionalProperties && schema.maxProperties === undefined) found.push(`${at}: no maxProperties`);
  const inner = [...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => flaws(property, `${at}.${name}`))];
  if (schema.items) inner.push(...flaws(schema.items, `${at}[]`, true));
  if (schema.additionalProperties) inner.push(...flaws(schema.additionalProperties, `${at}.*`, true));
  return [...found, ...inner];
}
