import { Database } from '../../src/api/database';
import { DatabaseBackup } from '../../src/api/database-backup';
import { apiVersionOf } from '../../src/kind/resource';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { accepted, least, refused } from './database-cases';

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await cluster.apply(Database.crd(), DatabaseBackup.crd());
  await cluster.kubectl('wait --for condition=Established crd/databases.dbop.dev crd/databasebackups.dbop.dev');
}, firstUpTimeoutMs);

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = (name: string, spec: object) => ({ apiVersion: apiVersionOf(Database), kind: 'Database', metadata: { name, namespace }, spec });
const dryRun = (object: object) => cluster.tryKubectl('apply --dry-run=server -f -', JSON.stringify(object));

test.each(accepted)('the API server accepts %s, as synth does', async (_, change) => {
  expect(await dryRun(database('orders', { ...least, ...change }))).toMatchObject({ code: 0, stderr: '' });
});

/** The API server cannot know these: it has no time zones at hand, and a CronJob looks at ranges only when it is made. */
const onlySynthKnows = (message: string) => message.includes('this machine knows') || message.includes('a range that ends');

test.each(refused.filter(([, message]) => !onlySynthKnows(message)))('the API server refuses %j, as synth does, and names the field', async (change, message) => {
  const { code, stderr } = await dryRun(database('orders', { ...least, ...change }));
  expect(code).not.toBe(0);
  const field = /^'([\w.]+)'/.exec(message)?.[1];
  expect(stderr).toContain(field);
});

test('the API server fills in the defaults that synth fills in', async () => {
  await cluster.apply(database('defaults', least));
  const stored = JSON.parse(await cluster.kubectl(`get db defaults -n ${namespace} -o json`)) as { spec: object };
  expect(stored.spec).toEqual(Database.check(least, 'defaults'));
});

test.each<[object, object, string]>([
  [{}, { engine: 'postgres', version: '17' }, 'another engine cannot read the data'],
  [{}, { size: '9Gi' }, 'volumes only grow'],
  [{}, { storageClassName: 'fast' }, 'storageClassName cannot be added or removed'],
  [{ storageClassName: 'slow' }, { storageClassName: 'fast' }, 'a claim keeps its storage class'],
  [{}, { database: 'other' }, 'applications connect by it'],
  [{}, { username: 'other' }, 'it owns the tables'],
  [{ backup: { volume: { size: '2Gi' } } }, { backup: { volume: { size: '1Gi' } } }, 'volumes only grow'],
])('%j cannot become %j', async (before, after, message) => {
  await cluster.apply(database('changing', { ...least, ...before }));
  try {
    expect((await dryRun(database('changing', { ...least, ...before, ...after }))).stderr).toContain(message);
  } finally {
    await cluster.kubectl(`delete db changing -n ${namespace}`);
  }
});

test('a size grows across units', async () => {
  await cluster.apply(database('growing', { ...least, size: '10G' }));
  expect(await dryRun(database('growing', { ...least, size: '10Gi' }))).toMatchObject({ code: 0 });
  expect((await dryRun(database('growing', { ...least, size: '9.5Gi' }))).code).toBe(0);
  expect((await dryRun(database('growing', { ...least, size: '9Gi' }))).stderr).toContain('volumes only grow');
});

test.each([
  ['a'.repeat(41), 'longer than 40 characters'],
  ['1st', 'start with a letter'],
  ['a.b', 'lower-case letters, digits and hyphens'],
])('the name %s is refused with its reason', async (name, reason) => {
  expect((await dryRun(database(name, least))).stderr).toContain(reason);
});

test('kubectl explain has a sentence for what people ask about', async () => {
  const words = (await cluster.kubectl('explain databases.dbop.dev.spec.deletionPolicy')).replace(/\s+/g, ' ');
  expect(words).toContain('take a last backup, then remove everything else');
});

test('a backup cannot move to another database', async () => {
  const backup = (name: string) => ({ apiVersion: apiVersionOf(DatabaseBackup), kind: 'DatabaseBackup', metadata: { name: 'first', namespace }, spec: { database: name } });
  await cluster.apply(backup('orders'));
  expect((await dryRun(backup('customers'))).stderr).toContain('a backup is of one database');
});
