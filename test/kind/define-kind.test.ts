import { z } from 'zod';
import { defineKind, type ObjectOf, type SpecOf } from '../../src/kind/define-kind';
import { conditions } from '../../src/kind/fields';
import type { ResourceType } from '../../src/kind/resource';

const spec = z.object({ version: z.string(), replicas: z.int().min(1).max(9).default(1), password: z.string().min(12).optional().meta({ format: 'password' }) });
const status = z.object({ phase: z.string().optional(), conditions: conditions().optional() });
const Shop = defineKind({ group: 'example.com', version: 'v2', kind: 'Shop', spec, status });

test('a kind is a resource type: what a URL, a watch and an RBAC rule need', () => {
  const type: ResourceType = Shop;
  expect(type).toMatchObject({ group: 'example.com', version: 'v2', kind: 'Shop', plural: 'shops', namespaced: true });
});

test.each([
  ['Policy', 'policies'],
  ['Gateway', 'gateways'],
  ['Address', 'addresses'],
  ['Box', 'boxes'],
])('the plural of %s is %s', (kind, plural) => {
  expect(defineKind({ group: 'example.com', version: 'v1', kind, spec: z.object({}) }).plural).toBe(plural);
});

test('the runtime can ask which status fields the schema knows', () => {
  expect([...Shop.statusFields]).toEqual(['phase', 'conditions']);
  expect(defineKind({ group: 'example.com', version: 'v1', kind: 'Plain', spec: z.object({}) }).statusFields.size).toBe(0);
});

test('the types of spec and object follow from the schema, defaults filled in', () => {
  const checked: SpecOf<typeof Shop> = Shop.check({ version: '1' }, 'shop');
  const replicas: number = checked.replicas;
  const object: ObjectOf<typeof Shop> = { apiVersion: 'example.com/v2', kind: 'Shop', metadata: { name: 'a' }, spec: checked, status: { phase: 'Open' } };
  expect(replicas).toBe(1);
  expect(object.spec).toEqual({ version: '1', replicas: 1 });
});

test('check reports every problem at once, each with place, field, value and reason', () => {
  expect(() => Shop.check({ version: 8, replicas: 12 }, 'app/shop')).toThrow("app/shop: 'version' (8) is not a string\napp/shop: 'replicas' (12) is larger than 9");
});

test('check refuses a field that the schema does not know, and guesses which was meant', () => {
  expect(() => Shop.check({ version: '8', replica: 2 }, 'app/shop')).toThrow("app/shop: 'replica' is not a field; did you mean 'replicas'?");
  expect(() => Shop.check({ version: '8', useless_data: 2 }, 'app/shop')).toThrow("app/shop: 'useless_data' is not a field; known are version, replicas, password");
});

test('check never prints a value that is marked as a password', () => {
  expect(() => Shop.check({ version: '8', password: 'hunter2' }, 'app/shop')).toThrow("app/shop: 'password' (…) is shorter than 12 characters");
});

test('another group changes the address and the CRD, and nothing else', () => {
  const ours = Shop.withGroup('db.acme.com');
  expect(ours.group).toBe('db.acme.com');
  expect(ours.crd().metadata.name).toBe('shops.db.acme.com');
  expect(ours.crd().spec.versions).toEqual(Shop.crd().spec.versions);
  expect(Shop.group).toBe('example.com');
});

test('older versions are served beside the stored one, with their warning', () => {
  const two = defineKind({ group: 'example.com', version: 'v2', kind: 'Shop', spec, olderVersions: [{ version: 'v1', spec: z.object({}), deprecation: 'example.com/v1 Shop goes in 2.0; use v2' }] });
  expect(two.crd().spec.versions.map(({ name, served, storage, deprecationWarning }) => ({ name, served, storage, deprecationWarning }))).toEqual([
    { name: 'v2', served: true, storage: true, deprecationWarning: undefined },
    { name: 'v1', served: true, storage: false, deprecationWarning: 'example.com/v1 Shop goes in 2.0; use v2' },
  ]);
});

test('a kind can be scaled and cluster-scoped', () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const crd = defineKind({ group: 'example.com', version: 'v1', kind: 'Fleet', namespaced: false, spec, status, scale }).crd();
  expect(crd.spec.scope).toBe('Cluster');
  expect(crd.spec.versions[0]?.subresources).toEqual({ status: {}, scale });
});

test('a name that is too long for its children is refused with the bound and the reason', () => {
  const short = defineKind({ group: 'example.com', version: 'v1', kind: 'Shop', spec, names: { maxLength: 5, why: 'children append a suffix' } });
  expect(() => short.checkName('orders', 'app')).toThrow("app: name 'orders' is longer than 5 characters: children append a suffix");
  expect(() => short.checkName('1abc', 'app')).toThrow(/start with a letter/);
  expect(() => short.checkName('abc', 'app')).not.toThrow();
  expect(short.crd().spec.versions[0]?.schema.openAPIV3Schema['x-kubernetes-validations']?.map(({ rule }) => rule)).toContain('self.metadata.name.size() <= 5');
});
