import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { defineKind, type Kind } from '../../src/kind/define-kind';
import { apiVersionOf } from '../../src/kind/resource';
import { immutable } from '../../src/kind/rule';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { CronTab, Fruit, MySQL, SampleDB, SimpleDatabase } from './requirement-kinds';

/** The kinds under groups of this test alone, because others use the real names in the same cluster. */
const own = (kind: Kind) => kind.withGroup(`${kind.group.replaceAll('.', '-')}.${randomBytes(4).toString('hex')}.test`);
const kinds = { SimpleDatabase: own(SimpleDatabase), MySQL: own(MySQL), Fruit: own(Fruit), SampleDB: own(SampleDB), CronTab: own(CronTab) };

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  const crds = Object.values(kinds).map((kind) => kind.crd());
  await cluster.apply(...crds);
  await cluster.kubectl(`wait --for condition=Established ${crds.map(({ metadata }) => `crd/${metadata.name}`).join(' ')}`);
}, firstUpTimeoutMs);

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  await cluster.kubectl(`delete ${Object.values(kinds).map((kind) => `crd/${kind.plural}.${kind.group}`).join(' ')}`);
  cluster.close();
});

test('immutable fields that are called as words of CEL are installed, and can be neither added nor removed', async () => {
  const words = 'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' ');
  const fields = Object.fromEntries([...words, 'plain'].map((word) => [word, immutable(z.string().max(9), 'no').optional()]));
  const Worded = own(defineKind({ group: 'words.test', version: 'v1', kind: 'Worded', spec: z.object(fields) }));
  expect(await cluster.tryKubectl('apply -f -', JSON.stringify(Worded.crd()))).toMatchObject({ code: 0, stderr: '' });
  const crd = `crd/${Worded.plural}.${Worded.group}`;
  await cluster.kubectl(`wait --for condition=Established ${crd}`);
  expect(await tryApply(Worded, 'a', { plain: 'x' })).toMatchObject({ code: 0 });
  expect((await tryApply(Worded, 'a', { plain: 'x', namespace: 'x' })).stderr).toContain('namespace cannot be added or removed after creation');
  await cluster.kubectl(`delete ${crd}`);
}, 60_000);

const objectOf = (kind: Kind, name: string, spec: unknown) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name, namespace }, spec });
const tryApply = (kind: Kind, name: string, spec: unknown) => cluster.tryKubectl('apply -f -', JSON.stringify(objectOf(kind, name, spec)));

const mysql = { image: 'mysql:5.7', database: 'otus-database', password: 'otuspassword', storage_size: '1Gi' };

test.each<[keyof typeof kinds, string, object]>([
  ['SimpleDatabase', 'postgres-prod', { version: '15.3', size: '5Gi' }],
  ['MySQL', 'mysql-instance', mysql],
  ['Fruit', 'apple', { sweetness: false, weight: 100, comment: 'little bit rotten' }],
  ['SampleDB', 'my-first-crd-database', { name: 'name-of-database', port: 5432, 'storage-size': '50G', image: 'postgres', replicas: 3 }],
  ['CronTab', 'my-new-cron-object', { cronSpec: '* * * * * *', image: 'busybox' }],
])('%s: the object that its users apply is accepted and read back unchanged', async (kind, name, spec) => {
  expect(await tryApply(kinds[kind], name, spec)).toMatchObject({ code: 0 });
  const stored = JSON.parse(await cluster.kubectl(`get ${kinds[kind].plural}.${kinds[kind].group} ${name} -n ${namespace} -o json`)) as { spec: object };
  expect(stored.spec).toEqual(spec);
});

test.each<[keyof typeof kinds, string, unknown, string]>([
  ['SimpleDatabase', 'a size without a unit', { version: '8.0', size: '5' }, "spec.size in body should match '^[0-9]+[a-zA-Z]+$'"],
  ['SimpleDatabase', 'a version that is a number', { version: 8, size: '5Gi' }, 'spec.version in body must be of type string'],
  ['SimpleDatabase', 'no size', { version: '8.0' }, 'spec.size: Required value'],
  ['SimpleDatabase', 'no spec', undefined, 'spec: Required value'],
  ['MySQL', 'no password', { ...mysql, password: undefined }, 'spec.password: Required value'],
  ['MySQL', 'an unknown field', { ...mysql, useless_data: 'useless info' }, 'unknown field "spec.useless_data"'],
  ['Fruit', 'a weight in words', { weight: 'heavy' }, 'spec.weight in body must be of type integer'],
  ['Fruit', 'a sweetness that is neither true nor false', { sweetness: 'very' }, 'spec.sweetness in body must be of type boolean'],
  ['SampleDB', 'a port in words', { port: 'five' }, 'spec.port in body must be of type integer'],
  ['CronTab', 'half a replica', { replicas: 0.5 }, 'spec.replicas in body must be of type integer'],
])('%s: %s is refused, and the message names the field', async (kind, _, spec, message) => {
  const { code, stderr } = await tryApply(kinds[kind], 'bad', spec);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});

test('R1: kubectl get shows version, size, phase and age', async () => {
  await cluster.apply(objectOf(kinds.SimpleDatabase, 'columns', { version: '8.0', size: '3Gi' }));
  const [head] = (await cluster.kubectl(`get databases.${kinds.SimpleDatabase.group} -n ${namespace}`)).split('\n');
  expect(head?.trim().split(/\s+/)).toEqual(['NAME', 'VERSION', 'SIZE', 'PHASE', 'AGE']);
});

test('R1: a phase that nobody knows is refused by the status subresource', async () => {
  const { plural, group } = kinds.SimpleDatabase;
  await cluster.apply(objectOf(kinds.SimpleDatabase, 'phases', { version: '8.0', size: '3Gi' }));
  const patch = (phase: string) => cluster.tryKubectl(`patch ${plural}.${group} phases -n ${namespace} --subresource status --type merge -p '{"status":{"phase":"${phase}"}}'`);
  expect((await patch('Sleeping')).stderr).toContain('supported values: "Creating", "Running", "Failed"');
  expect(await patch('Running')).toMatchObject({ code: 0 });
});
