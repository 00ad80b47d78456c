import type { Readable } from 'node:stream';
import { ApiServer } from '../../cluster/api-server';
import { FaultProxy } from '../support/fault-proxy';
import { lines } from '../support/lines';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';

let cluster: TestCluster;
let namespace: string;
let proxy: FaultProxy;
let client: ApiServer;

const maps = (): string => `/api/v1/namespaces/${namespace}/configmaps`;
const map = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
}, firstUpTimeoutMs);

beforeEach(async () => {
  proxy = await FaultProxy.start(cluster.api.access);
  client = ApiServer.fromKubeconfig(proxy.kubeconfig);
});

afterEach(() => proxy.close());

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  cluster.close();
});

/** The first events of a watch through the proxy; fewer when it ends before. */
async function events(count: number, timeoutMs = 2000): Promise<string[]> {
  const list = await cluster.api.demand<{ metadata: { resourceVersion: string } }>('GET', maps());
  const response = await client.open('GET', `${maps()}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
  // Before the first write: what has arrived but is not yet read is lost with a connection that breaks.
  const seen = read(response, count);
  const name = `w-${Math.random().toString(36).slice(2)}`;
  for (const suffix of ['a', 'b', 'c']) await cluster.api.demand('POST', maps(), map(`${name}-${suffix}`));
  const timer = setTimeout(() => response.destroy(), timeoutMs);
  try {
    return await seen;
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}

async function read(response: Readable, count: number): Promise<string[]> {
  const seen: string[] = [];
  try {
    for await (const line of lines(response)) {
      const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } };
      seen.push(type === 'ERROR' ? type : object.metadata.name.slice(-1));
      if (seen.length === count) break;
    }
  } catch {
    seen.push('reset');
  }
  return seen;
}

test('without rules it changes nothing, and records every request', async () => {
  await client.demand('POST', maps(), map('plain'));
  await client.demand('GET', `${maps()}/plain`);
  expect(proxy.requests().map(({ method, path, status, isWrite }) => ({ method, path, status, isWrite }))).toEqual([
    { method: 'POST', path: maps(), status: 201, isWrite: true },
    { method: 'GET', path: `${maps()}/plain`, status: 200, isWrite: false },
  ]);
  expect(proxy.writes()).toHaveLength(1);
  proxy.forget();
  expect(proxy.requests()).toEqual([]);
});

test('kubectl works through it, logged in as the user it stands for', async () => {
  const poor = await FaultProxy.start(cluster.api.access, { as: `system:serviceaccount:${namespace}:default` });
  const result = await new ApiServer({ server: poor.url }).request<{ message: string }>('GET', maps());
  await poor.close();
  expect(result).toMatchObject({ status: 403, body: { message: expect.stringContaining(`User "system:serviceaccount:${namespace}:default" cannot list`) as string } });
});

test.each([409, 410, 429, 500])('status %i is answered without the API server, as often as told', async (status) => {
  proxy.inject({ method: 'POST', times: 1, fault: { kind: 'status', status } });
  expect(await client.request('POST', maps(), map(`status-${status}`))).toMatchObject({ status, body: { kind: 'Status', code: status } });
  expect((await client.request('POST', maps(), map(`status-${status}`))).status).toBe(201);
});

test('429 carries Retry-After', async () => {
  proxy.inject({ fault: { kind: 'status', status: 429, retryAfterSeconds: 7 } });
  const response = await client.open('GET', maps());
  response.resume();
  expect(response.headers['retry-after']).toBe('7');
});

test('a reset before the write leaves nothing written', async () => {
  proxy.inject({ method: 'POST', times: 1, fault: { kind: 'reset', when: 'before' } });
  await expect(client.request('POST', maps(), map('lost-request'))).rejects.toThrow();
  expect((await cluster.api.request('GET', `${maps()}/lost-request`)).status).toBe(404);
});

test('a reset after the write leaves it written, though the client never learns', async () => {
  proxy.inject({ method: 'POST', times: 1, fault: { kind: 'reset', when: 'after' } });
  await expect(client.request('POST', maps(), map('lost-reply'))).rejects.toThrow();
  expect((await cluster.api.request('GET', `${maps()}/lost-reply`)).status).toBe(200);
  expect(proxy.writes()).toMatchObject([{ fault: 'reset', status: undefined, upstreamStatus: 201 }]);
});

test('a delay delays, and after lets the first ones pass', async () => {
  proxy.inject({ method: 'GET', after: 1, fault: { kind: 'delay', ms: 300 } });
  const times: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const start = Date.now();
    await client.demand('GET', maps());
    times.push(Date.now() - start);
  }
  expect(proxy.requests().slice(-2).map(({ fault }) => fault)).toEqual([undefined, 'delay']);
  expect(times[1]).toBeGreaterThanOrEqual(300);
});

test('an untouched watch brings all events', async () => {
  expect(await events(3)).toEqual(['a', 'b', 'c']);
});

test('a watch can be cut, cleanly or in mid-air', async () => {
  proxy.inject({ isWatch: true, times: 1, fault: { kind: 'cutWatch', afterEvents: 1, how: 'end' } });
  expect(await events(3)).toEqual(['a']);
  proxy.inject({ isWatch: true, times: 1, fault: { kind: 'cutWatch', afterEvents: 2, how: 'reset' } });
  expect((await events(3)).slice(0, 2)).toEqual(['a', 'b']);
});

test('a stale watch stays open and silent', async () => {
  proxy.inject({ isWatch: true, fault: { kind: 'staleWatch', afterEvents: 1 } });
  expect((await events(3, 700)).filter((seen) => seen !== 'reset')).toEqual(['a']);
});

test('a watch can expire with 410', async () => {
  proxy.inject({ isWatch: true, fault: { kind: 'expireWatch', afterEvents: 1 } });
  expect(await events(3)).toEqual(['a', 'ERROR']);
});

test('events can be dropped and repeated', async () => {
  const end = proxy.inject({ isWatch: true, fault: { kind: 'dropEvents', which: ({ object }) => object.metadata.name?.endsWith('b') ?? false } });
  expect(await events(2)).toEqual(['a', 'c']);
  end();
  proxy.inject({ isWatch: true, fault: { kind: 'repeatEvents', times: 2 } });
  expect(await events(4)).toEqual(['a', 'a', 'b', 'b']);
});

test('a cut client reaches nothing until the cut is mended', async () => {
  proxy.cut();
  await expect(client.request('GET', maps())).rejects.toThrow();
  proxy.mend();
  expect((await client.request('GET', maps())).status).toBe(200);
});
