import { randomBytes } from 'node:crypto';
import { Database } from '../../src/api/database';
import { DatabaseCrd } from '../../src/constructs/database-crd';
import { DeletionProtection } from '../../src/constructs/deletion-protection';
import { apiVersionOf } from '../../src/kind/resource';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { rendered } from './render';

/** A group of this test's own, so that its policies are too. */
const group = `protection-${randomBytes(4).toString('hex')}.test`;
const kind = Database.withGroup(group);
const resource = `${kind.plural}.${group}`;
const objects = rendered((chart) => {
  new DatabaseCrd(chart, 'crds', { kinds: [Database], group });
  new DeletionProtection(chart, 'protection', { group });
});

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await cluster.apply(...objects);
  await cluster.kubectl(`wait --for condition=Established crd/${resource}`);
  await cluster.apply(database('protected', true), database('plain', false), claim('protected', 'true'), claim('plain', 'false'));
  await policiesAreInForce();
}, firstUpTimeoutMs);

afterAll(async () => {
  await cluster.kubectl(`annotate crd ${resource} dbop.dev/deletion=allowed`);
  await cluster.kubectl('delete -f -', objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = (name: string, deletionProtection: boolean) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name, namespace }, spec: { engine: 'mysql', version: '8.4', size: '1Gi', deletionProtection } });
const claim = (name: string, label: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace, labels: { 'dbop.dev/protected': label } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const tryDelete = (what: string) => cluster.tryKubectl(`delete ${what} -n ${namespace} --wait=false`);

/** The API server takes up a new policy within a second or so; a dry run asks whether it has. */
async function policiesAreInForce(): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (const what of [`${resource} protected`, 'pvc protected']) {
    while ((await cluster.tryKubectl(`delete ${what} -n ${namespace} --dry-run=server`)).code === 0) {
      if (Date.now() > deadline) throw new Error(`the policy for ${what} is not in force after 30 s`);
    }
  }
}

test('deleting a protected database is refused at once, and the message tells the way out', async () => {
  const { code, stderr } = await tryDelete(`${resource} protected`);
  expect(code).not.toBe(0);
  expect(stderr).toContain(`database ${namespace}/protected is protected from deletion`);
  expect(stderr).toContain(`kubectl patch ${resource} protected -n ${namespace} --type merge -p '{"spec":{"deletionProtection":false}}'`);
  expect(await cluster.kubectl(`get ${resource} protected -n ${namespace} -o jsonpath={.metadata.deletionTimestamp}`)).toBe('');
});

test('deleting all databases takes the others and leaves the protected one', async () => {
  await cluster.apply(database('another', false));
  expect((await tryDelete(`${resource} --all`)).stderr).toContain('is protected from deletion');
  expect(await cluster.kubectl(`get ${resource} -n ${namespace} -o name`)).toBe(`${kind.kind.toLowerCase()}.${group}/protected\n`);
});

test('the claim of a protected database is refused too, also where the database is gone', async () => {
  const { code, stderr } = await tryDelete('pvc protected');
  expect(code).not.toBe(0);
  expect(stderr).toContain(`kubectl label pvc protected -n ${namespace} dbop.dev/protected-`);
});

test('other claims go as ever', async () => {
  expect(await tryDelete('pvc plain')).toMatchObject({ code: 0 });
});

test('the way out that the messages name works as it is written', async () => {
  const { stderr } = await tryDelete(`${resource} protected`);
  const patch = /first run: kubectl (patch .*\}')/.exec(stderr)?.[1];
  await cluster.kubectl(patch ?? 'no way out in the message');
  expect(await tryDelete(`${resource} protected`)).toMatchObject({ code: 0 });
  const label = /run: kubectl (label .*protected-)/.exec((await tryDelete('pvc protected')).stderr)?.[1];
  await cluster.kubectl(label ?? 'no way out in the message');
  expect(await tryDelete('pvc protected')).toMatchObject({ code: 0 });
});
