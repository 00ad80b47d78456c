import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { builtin, keyOf, type KubeObject } from '../../src/kind/resource';
import { ApiError, isAlreadyExists, isConflict, isForbidden, isGone, isInvalid, isNotFound, isUnauthorized, TransportError } from '../../src/runtime/api-error';
import { Client } from '../../src/runtime/client';
import { findCluster } from '../../src/runtime/find-cluster';
import { FaultProxy } from '../support/fault-proxy';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';

// Real requests on a machine that may be busy with other tests.
jest.setTimeout(60_000);

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

let cluster: TestCluster;
let namespace: string;
let client: Client;
let proxy: FaultProxy;
let proxied: Client;
let folder: string;
const others: Client[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'client-test-'));
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  client = new Client(await findCluster({ kubeconfig: cluster.kubeconfig }));
  proxy = await FaultProxy.start(cluster.api.access);
  proxied = new Client(await findCluster({ kubeconfig: proxy.kubeconfig }));
}, firstUpTimeoutMs);

afterEach(() => proxy.mend());

afterAll(async () => {
  await Promise.all([client, proxied, ...others].map((each) => each.close()));
  await proxy.close();
  await removeNamespace(cluster, namespace);
  cluster.close();
  rmSync(folder, { recursive: true });
});

const configMap = (name: string, data: Record<string, string> = {}, metadata: Partial<KubeObject['metadata']> = {}): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, data });
const failure = async (call: Promise<unknown>): Promise<ApiError> => {
  const error = await call.then(() => undefined, (error: unknown) => error);
  if (!(error instanceof ApiError)) throw new Error(`an ApiError was expected, but there was: ${String(error)}`);
  return error;
};

/** A client by the cluster's own kubeconfig, with another user or cluster section. */
async function clientWith({ user, cluster: section }: { user?: object; cluster?: object }): Promise<Client> {
  const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as { users: { user: object }[]; clusters: { cluster: object }[] };
  config.users.forEach((entry) => (entry.user = user ?? entry.user));
  config.clusters.forEach((entry) => (entry.cluster = { ...entry.cluster, ...section }));
  const file = join(folder, `kubeconfig-${others.length}`);
  writeFileSync(file, JSON.stringify(config));
  const made = new Client(await findCluster({ kubeconfig: file }));
  others.push(made);
  return made;
}

describe('reads and writes', () => {
  test('what was created is read back, and a second of the same name is refused as existing', async () => {
    const created = await client.create(builtin.ConfigMap, configMap('created', { a: '1' }));
    await expect(client.get<ConfigMap>(builtin.ConfigMap, keyOf(created))).resolves.toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    expect(isAlreadyExists(await failure(client.create(builtin.ConfigMap, configMap('created'))))).toBe(true);
  });

  test("what is not there is told in the API server's own words", async () => {
    const error = await failure(client.get(builtin.ConfigMap, { namespace, name: 'absent' }));
    expect(isNotFound(error)).toBe(true);
    expect(error.message).toBe(`GET /api/v1/namespaces/${namespace}/configmaps/absent: 404 NotFound: configmaps "absent" not found`);
    expect(error.details).toMatchObject({ name: 'absent', kind: 'configmaps' });
  });

  test('an object that is no good is refused with the field at fault', async () => {
    const error = await failure(client.create(builtin.Service, { apiVersion: 'v1', kind: 'Service', metadata: { name: 'bad', namespace }, spec: { ports: [{ port: 99_999 }] } } as KubeObject));
    expect(isInvalid(error)).toBe(true);
    expect(error.causes.map(({ field }) => field)).toContain('spec.ports[0].port');
  });

  test('a dry run answers as if, and keeps nothing', async () => {
    await client.apply(builtin.ConfigMap, configMap('dry'), { fieldManager: 'us', dryRun: true });
    await client.create(builtin.ConfigMap, configMap('dry'), { dryRun: true });
    expect(isNotFound(await failure(client.get(builtin.ConfigMap, { namespace, name: 'dry' })))).toBe(true);
  });

  test('apply creates, changes only what it names, and takes back what it no longer names', async () => {
    await client.apply(builtin.ConfigMap, configMap('applied', { ours: '1', dropped: '1' }), { fieldManager: 'us' });
    await client.apply(builtin.ConfigMap, configMap('applied', { theirs: '1' }), { fieldManager: 'them' });
    const after = await client.apply<ConfigMap>(builtin.ConfigMap, configMap('applied', { ours: '2' }), { fieldManager: 'us' });
    expect(after.data).toEqual({ ours: '2', theirs: '1' });
  });

  test('a field of another manager is a conflict that names both, unless it is taken by force', async () => {
    await client.apply(builtin.ConfigMap, configMap('contested', { a: 'theirs' }), { fieldManager: 'them' });
    const error = await failure(client.apply(builtin.ConfigMap, configMap('contested', { a: 'ours' }), { fieldManager: 'us' }));
    expect(isConflict(error)).toBe(true);
    expect(error.causes).toEqual([expect.objectContaining({ reason: 'FieldManagerConflict', field: '.data.a', message: expect.stringContaining('"them"') as string })]);
    await expect(client.apply(builtin.ConfigMap, configMap('contested', { a: 'ours' }), { fieldManager: 'us', force: true })).resolves.toMatchObject({ data: { a: 'ours' } });
  });

  test('a merge patch changes a part and drops what is null', async () => {
    const created = await client.create(builtin.ConfigMap, configMap('merged', { a: '1', b: '1' }));
    await expect(client.patch<ConfigMap>(builtin.ConfigMap, keyOf(created), { data: { a: null, c: '3' } })).resolves.toMatchObject({ data: { b: '1', c: '3' } });
  });

  test('a merge patch with a resourceVersion is refused when somebody was faster', async () => {
    const created = await client.create(builtin.ConfigMap, configMap('raced'));
    await client.patch(builtin.ConfigMap, keyOf(created), { data: { by: 'somebody' } });
    const late = client.patch(builtin.ConfigMap, keyOf(created), { metadata: { resourceVersion: created.metadata.resourceVersion }, data: { by: 'us' } });
    expect(isConflict(await failure(late))).toBe(true);
  });

  test('a JSON patch whose test fails changes nothing', async () => {
    const created = await client.create(builtin.ConfigMap, configMap('tested', {}, { finalizers: ['example.com/a', 'example.com/b'] }));
    const wrong = client.patch(builtin.ConfigMap, keyOf(created), [
      { op: 'test', path: '/metadata/finalizers/0', value: 'example.com/b' },
      { op: 'remove', path: '/metadata/finalizers/0' },
    ]);
    expect(isInvalid(await failure(wrong))).toBe(true);
    const right = await client.patch(builtin.ConfigMap, keyOf(created), [
      { op: 'test', path: '/metadata/finalizers/1', value: 'example.com/b' },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ]);
    expect(right.metadata.finalizers).toEqual(['example.com/a']);
    await client.patch(builtin.ConfigMap, keyOf(created), { metadata: { finalizers: null } });
  });

  test('a subresource is written without touching the rest', async () => {
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'budget', namespace }, spec: { maxUnavailable: 1, selector: { matchLabels: { a: 'b' } } } };
    await client.create(builtin.PodDisruptionBudget, budget);
    const patch = { spec: { maxUnavailable: 2 }, status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }] } };
    const after = await client.patch<KubeObject & { spec: object; status: object }>(builtin.PodDisruptionBudget, keyOf(budget), patch, { subresource: 'status' });
    expect(after).toMatchObject({ spec: { maxUnavailable: 1 }, status: { conditions: [{ type: 'Ready' }] } });
  });

  test('a list of many objects comes in pages, and each object says what it is', async () => {
    const labels = { list: 'paged' };
    await Promise.all(Array.from({ length: 25 }, (_, i) => client.create(builtin.ConfigMap, configMap(`paged-${i}`, {}, { labels }))));
    const sizes: number[] = [];
    for await (const page of client.pages(builtin.ConfigMap, { namespace, labelSelector: 'list=paged', pageSize: 10 })) sizes.push(page.items.length);
    expect(sizes).toEqual([10, 10, 5]);
    const { items } = await client.list<ConfigMap>(builtin.ConfigMap, { namespace, labelSelector: 'list=paged', pageSize: 10 });
    expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(25);
    expect(items.every(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'ConfigMap')).toBe(true);
  });
});

describe('deletes', () => {
  test('a delete takes only the object that was meant', async () => {
    const created = await client.create(builtin.ConfigMap, configMap('meant'));
    const key = keyOf(created);
    expect(isConflict(await failure(client.delete(builtin.ConfigMap, key, { uid: '00000000-0000-0000-0000-000000000000' })))).toBe(true);
    const changed = await client.patch(builtin.ConfigMap, key, { data: { a: '1' } });
    expect(isConflict(await failure(client.delete(builtin.ConfigMap, key, { resourceVersion: created.metadata.resourceVersion })))).toBe(true);
    await expect(client.delete(builtin.ConfigMap, key, { uid: created.metadata.uid, resourceVersion: changed.metadata.resourceVersion })).resolves.toBeUndefined();
    expect(isNotFound(await failure(client.delete(builtin.ConfigMap, key)))).toBe(true);
  });

  test('an object that a finalizer holds comes back as it is now', async () => {
    const created = await client.create(builtin.ConfigMap, configMap('held', {}, { finalizers: ['example.com/hold'] }));
    const held = await client.delete(builtin.ConfigMap, keyOf(created));
    expect(held?.metadata).toMatchObject({ uid: created.metadata.uid, deletionTimestamp: expect.any(String) as string });
    await client.patch(builtin.ConfigMap, keyOf(created), { metadata: { finalizers: null } });
    expect(isNotFound(await failure(client.get(builtin.ConfigMap, keyOf(created))))).toBe(true);
  });
});

describe('watches', () => {
  test('tell what happened after a moment, in its order', async () => {
    const { resourceVersion } = await client.list(builtin.ConfigMap, { namespace });
    const made = await client.create(builtin.ConfigMap, configMap('watched', {}, { labels: { watch: 'me' } }));
    await client.patch(builtin.ConfigMap, keyOf(made), { data: { a: '1' } });
    await client.delete(builtin.ConfigMap, keyOf(made));
    const told: string[] = [];
    for await (const event of client.watch<ConfigMap>(builtin.ConfigMap, { namespace, labelSelector: 'watch=me', resourceVersion })) {
      told.push(event.type);
      if (event.type === 'DELETED') break;
    }
    expect(told).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  test('end when the API server was asked to end them', async () => {
    const { resourceVersion } = await client.list(builtin.ConfigMap, { namespace });
    const events = [];
    for await (const event of client.watch(builtin.ConfigMap, { namespace, resourceVersion, timeoutSeconds: 1, labelSelector: 'none=such' })) events.push(event);
    expect(events.filter(({ type }) => type !== 'BOOKMARK')).toEqual([]);
  });

  test('from a moment too long ago are refused as gone', async () => {
    // A young API server still knows its whole history, so the proxy says no in its place.
    proxy.inject({ isWatch: true, times: 1, fault: { kind: 'status', status: 410, reason: 'Expired' } });
    const error = await failure(proxied.watch(builtin.ConfigMap, { namespace, resourceVersion: '1' }).next());
    expect(isGone(error)).toBe(true);
  });

  test('end with their signal', async () => {
    const { resourceVersion } = await client.list(builtin.ConfigMap, { namespace });
    const stop = new AbortController();
    const next = client.watch(builtin.ConfigMap, { namespace, resourceVersion, signal: stop.signal, labelSelector: 'none=such' }).next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });
});

describe('identity', () => {
  test('a service account is known by its token, and may do no more than it may', async () => {
    await client.create(builtin.ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'nobody', namespace } });
    const token = (await cluster.kubectl(`create token nobody -n ${namespace}`)).trim();
    writeFileSync(join(folder, 'token'), token);
    const nobody = await clientWith({ user: { tokenFile: join(folder, 'token') } });
    const error = await failure(nobody.get(builtin.ConfigMap, { namespace, name: 'any' }));
    expect(isForbidden(error)).toBe(true);
    expect(error.serverMessage).toContain(`User "system:serviceaccount:${namespace}:nobody" cannot get resource "configmaps"`);
  });

  test('a token that the API server does not know is refused as such', async () => {
    const unknown = await clientWith({ user: { token: 'not a token' } });
    expect(isUnauthorized(await failure(unknown.get(builtin.ConfigMap, { namespace, name: 'any' })))).toBe(true);
  });

  test('a credential plugin is asked again when what it gave is refused', async () => {
    const program = join(folder, 'plugin');
    const token = (await cluster.kubectl(`create token default -n ${namespace}`)).trim();
    const answer = (given: string): string => JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: given } });
    writeFileSync(join(folder, 'next'), answer('stale'));
    writeFileSync(join(folder, 'then'), answer(token));
    writeFileSync(program, '#!/bin/sh\ncd "$(dirname "$0")" && cat next; mv -f then next 2>/dev/null; true\n', { mode: 0o755 });
    const plugged = await clientWith({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: program, interactiveMode: 'Never' } } });
    const error = await failure(plugged.get(builtin.ConfigMap, { namespace, name: 'any' }));
    expect(error.serverMessage).toContain(`User "system:serviceaccount:${namespace}:default" cannot get`);
  });

  test('a server that our authority does not vouch for is not spoken to', async () => {
    const stranger = await clientWith({ cluster: { 'certificate-authority-data': undefined, 'certificate-authority': undefined } });
    await expect(stranger.get(builtin.ConfigMap, { namespace, name: 'any' })).rejects.toThrow(TransportError);
    const misnamed = await clientWith({ cluster: { 'tls-server-name': 'somebody.example.com' } });
    await expect(misnamed.get(builtin.ConfigMap, { namespace, name: 'any' })).rejects.toThrow(/does not match certificate/);
    const named = await clientWith({ cluster: { 'tls-server-name': 'kubernetes.default.svc' } });
    await expect(named.list(builtin.ConfigMap, { namespace })).resolves.toBeDefined();
  });
});

describe('a network that fails', () => {
  test('a write whose answer is lost is told as unknown, was done, and may be applied again', async () => {
    proxy.inject({ method: 'PATCH', times: 1, fault: { kind: 'reset', when: 'after' } });
    const wanted = configMap('lost', { a: '1' });
    await expect(proxied.apply(builtin.ConfigMap, wanted, { fieldManager: 'us' })).rejects.toThrow(TransportError);
    const done = await client.get(builtin.ConfigMap, keyOf(wanted));
    const again = await proxied.apply(builtin.ConfigMap, wanted, { fieldManager: 'us' });
    expect(again.metadata).toMatchObject({ uid: done.metadata.uid, resourceVersion: done.metadata.resourceVersion });
  });

  test('an API server that is too busy is asked again after the time it names', async () => {
    proxy.inject({ method: 'PATCH', path: /busy/, times: 2, fault: { kind: 'status', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 } });
    await proxied.apply(builtin.ConfigMap, configMap('busy'), { fieldManager: 'us' });
    const times = proxy.requests(({ path }) => path.endsWith('busy')).map(({ atMs, status }) => ({ atMs, status }));
    expect(times.map(({ status }) => status)).toEqual([429, 429, 201]);
    expect((times[2]?.atMs ?? 0) - (times[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(2000);
  });

  test('a hundred writes at once share the connections and their signal without a warning', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', listen);
    const { signal } = new AbortController();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => proxied.apply(builtin.ConfigMap, configMap(`many-${i}`), { fieldManager: 'us', signal })));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(answers).toHaveLength(100);
    expect(warnings).toEqual([]);
  });
});
