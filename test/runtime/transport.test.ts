import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { builtin } from '../../src/kind/resource';
import { type ApiError, TransportError } from '../../src/runtime/api-error';
import { Client, type ClientOptions, type RequestRecord } from '../../src/runtime/client';
import type { Credentials } from '../../src/runtime/cluster-access';
import { ManualClock } from '../../src/runtime/manual-clock';
import { packageVersion } from '../../src/kind/package-version';

/**
 * A server in this process instead of the real API server, for answers that the latter can't be made to give at will:
 * proxies' pages, refused tokens, exact waiting times. What the API server itself does is in client.control-plane.test.ts.
 */
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let answers: Answer[];
let received: IncomingMessage[];
const clients: Client[] = [];

beforeEach(async () => {
  answers = [];
  received = [];
  server = createServer((request, response) => {
    received.push(request);
    request.resume();
    (answers.shift() ?? ok())(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ok = (body: object = { kind: 'Secret', metadata: { name: 'a' } }): Answer => (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const refuse = (status: number, headers: Record<string, string> = {}, body: string = JSON.stringify({ kind: 'Status', reason: 'Because', message: 'no' })): Answer => (_, response) => void response.writeHead(status, headers).end(body);
const reset: Answer = (request) => void request.socket.destroy();

const nobody: Credentials = { current: () => Promise.resolve({}), refused: () => {} };

function client(options: ClientOptions = {}, credentials: Credentials = nobody, path = ''): Client {
  const { port } = server.address() as AddressInfo;
  const made = new Client({ source: 'test', server: `http://127.0.0.1:${port}${path}`, namespace: 'default', credentials }, { random: () => 0, ...options });
  clients.push(made);
  return made;
}

const key = { namespace: 'shop', name: 'a' };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key };
const write = (on: Client): Promise<unknown> => on.apply(builtin.Secret, secret, { fieldManager: 'us' });

test('the user agent tells name and version, with those of the operator in front', async () => {
  await client().get(builtin.Secret, key);
  await client({ userAgent: 'shop-operator/2.0.0' }).get(builtin.Secret, key);
  expect(received.map(({ headers }) => headers['user-agent'])).toEqual([`cdk8s-database-operator/${packageVersion}`, `shop-operator/2.0.0 cdk8s-database-operator/${packageVersion}`]);
});

test('an API server behind a path is reached there', async () => {
  await client({}, nobody, '/k8s/clusters/c-1/').get(builtin.Secret, key);
  expect(received[0]?.url).toBe('/k8s/clusters/c-1/api/v1/namespaces/shop/secrets/a');
});

test.each([429, 503])('%i with Retry-After is waited out, for a write too', async (status) => {
  const clock = new ManualClock();
  answers = [refuse(status, { 'retry-after': '7' }), refuse(status, { 'retry-after': '2' })];
  const writing = write(client({ clock }));
  await until(() => clock.nextIn === 7000);
  await clock.advance(7000);
  await until(() => clock.nextIn === 2000);
  await clock.advance(2000);
  await writing;
  expect(received).toHaveLength(3);
});

test('an API server that asks to come back forever is believed ten times', async () => {
  const clock = new ManualClock();
  answers = Array.from({ length: 20 }, () => refuse(429, { 'retry-after': '1' }));
  const outcome = write(client({ clock })).catch((error: unknown) => error);
  for (let i = 0; i < 9; i++) {
    await until(() => clock.nextIn !== undefined);
    await clock.advance(1000);
  }
  await expect(outcome).resolves.toMatchObject({ status: 429, retryAfterSeconds: 1 });
  expect(received).toHaveLength(10);
});

test('waiting for Retry-After ends with the signal', async () => {
  const clock = new ManualClock();
  answers = [refuse(429, { 'retry-after': '3600' })];
  const stop = new AbortController();
  const reading = client({ clock }).get(builtin.Secret, key, { signal: stop.signal });
  const rejected = expect(reading).rejects.toThrow('shutdown');
  await until(() => clock.nextIn !== undefined);
  stop.abort(new Error('shutdown'));
  await rejected;
});

test('503 without Retry-After is passed on: nobody said that it would help to wait', async () => {
  answers = [refuse(503)];
  await expect(client().get(builtin.Secret, key)).rejects.toMatchObject({ status: 503 });
  expect(received).toHaveLength(1);
});

test('a refused token is fetched anew, once', async () => {
  let token = 'old';
  const credentials = { current: () => Promise.resolve({ token }), refused: () => (token = 'new') };
  answers = [refuse(401), ok(), refuse(401), refuse(401)];
  const on = client({}, credentials);
  await on.get(builtin.Secret, key);
  expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  await expect(on.get(builtin.Secret, key)).rejects.toMatchObject({ status: 401 });
  expect(received).toHaveLength(4);
});

test('a certificate that cannot be read fails the request, and says so', async () => {
  const credentials = { ...nobody, current: () => Promise.resolve({ certificate: 'nonsense', key: 'nonsense' }) };
  const reading = client({}, credentials).get(builtin.Secret, key);
  await expect(reading).rejects.toBeInstanceOf(TransportError);
  await expect(reading).rejects.toThrow('no answer from the API server: cannot read the certificates for it:');
});

test('a read whose connection broke is sent once more', async () => {
  answers = [reset, ok()];
  await expect(client().get(builtin.Secret, key)).resolves.toBeDefined();
  answers = [reset, reset, ok()];
  await expect(client().get(builtin.Secret, key)).rejects.toThrow(TransportError);
});

test('a write whose connection broke is not sent again, because it may have been done', async () => {
  answers = [reset, ok()];
  await expect(write(client())).rejects.toThrow(/^PATCH \/api\/v1\/namespaces\/shop\/secrets\/a\?fieldManager=us&force=false: no answer from the API server: /);
  expect(received).toHaveLength(1);
});

test('an answer that is cut off is no answer: a write fails, a read is asked again', async () => {
  const cut: Answer = ({ socket }, response) => void response.writeHead(200, { 'content-length': '100' }).write('{"kind":', () => socket.destroy());
  answers = [cut];
  await expect(write(client())).rejects.toThrow(TransportError);
  expect(received).toHaveLength(1);
  answers = [cut];
  await expect(client().get(builtin.Secret, key)).resolves.toMatchObject({ metadata: { name: 'a' } });
  answers = [cut, cut];
  await expect(client().get(builtin.Secret, key)).rejects.toThrow(TransportError);
});

test('an answer that is not JSON is told as one that cannot be read', async () => {
  answers = [(_, response) => void response.writeHead(200).end('<html>')];
  await expect(client().get(builtin.Secret, key)).rejects.toThrow('cannot read the answer');
});

test('a call that waits for a connection ends as soon as its signal is aborted', async () => {
  const busy = client({ connections: 1 });
  answers = [() => {}];
  const first = busy.get(builtin.Secret, key).catch((error: unknown) => error);
  await until(() => received.length === 1);
  const stop = new AbortController();
  const second = busy.get(builtin.Secret, key, { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  await busy.close();
  expect(await first).toBeInstanceOf(TransportError);
});

test("a proxy's page of HTML becomes the message, cut short", async () => {
  answers = [refuse(502, {}, `<html>${'x'.repeat(10_000)}</html>`)];
  const error = (await client().get(builtin.Secret, key).catch((error: unknown) => error)) as ApiError;
  expect(error.message).toMatch(/^GET \/api\/v1\/namespaces\/shop\/secrets\/a: 502 BadGateway: <html>x+$/);
  expect(error.message.length).toBeLessThan(600);
});

test('an API server that is silent for too long is a transport error', async () => {
  answers = [() => {}];
  await expect(client({ timeoutMs: 200 }).get(builtin.Secret, key)).rejects.toThrow(/no answer from the API server: Headers Timeout Error/);
});

test('a signal ends a request under way with its own reason', async () => {
  const stop = new AbortController();
  answers = [() => stop.abort(new Error('shutdown'))];
  await expect(client().get(builtin.Secret, key, { signal: stop.signal })).rejects.toThrow('shutdown');
});

test('a request whose signal is already aborted is never sent', async () => {
  await expect(client().get(builtin.Secret, key, { signal: AbortSignal.abort(new Error('shutdown')) })).rejects.toThrow('shutdown');
  expect(received).toEqual([]);
});

test('every attempt is told, with its status, or without one if no answer came', async () => {
  const records: RequestRecord[] = [];
  answers = [refuse(404), reset];
  const on = client({ onRequest: (record) => records.push(record) });
  await expect(on.get(builtin.Secret, key)).rejects.toMatchObject({ status: 404 });
  await on.get(builtin.Secret, key);
  await expect(write(on)).resolves.toBeDefined();
  expect(records.map(({ method, status }) => [method, status])).toEqual([
    ['GET', 404],
    ['GET', undefined],
    ['GET', 200],
    ['PATCH', 200],
  ]);
});

test('a watch that ends in the middle of an event is broken, not ended', async () => {
  answers = [(_, response) => void response.writeHead(200).end('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type":"MODI')];
  const told: string[] = [];
  const watching = (async () => {
    for await (const { type } of client().watch(builtin.Secret, { resourceVersion: '1' })) told.push(type);
  })();
  await expect(watching).rejects.toThrow('the watch broke: the stream ended in the middle of a line, 13 bytes into it');
  expect(told).toEqual(['ADDED']);
});

test('an open watch leaves all connections to requests', async () => {
  const hang: Answer = (_, response) => void response.writeHead(200).flushHeaders();
  answers = [hang, hang, hang];
  const on = client({ connections: 1 });
  const stop = new AbortController();
  const ended = Promise.allSettled([1, 2, 3].map(() => on.watch(builtin.Secret, { resourceVersion: '1', signal: stop.signal }).next()));
  await until(() => received.length === 3);
  await expect(on.get(builtin.Secret, key)).resolves.toBeDefined();
  stop.abort(new Error('shutdown'));
  expect((await ended).map((outcome) => (outcome as PromiseRejectedResult).reason.message)).toEqual(['shutdown', 'shutdown', 'shutdown']);
});

/** Lets real input and output happen until it is so: nothing here waits for time to pass. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
