import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { dialService } from '../../../src/operator/sql/dial';

/** Listens for a single connection and takes none until it is told to: the kernel then loses whatever else wants to connect, as it does before a Service has its rules. */
const deaf = `
const { parentPort, workerData } = require('node:worker_threads');
const server = require('node:net').createServer((socket) => socket.on('error', () => undefined));
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  setImmediate(() => Atomics.wait(workerData, 0, 0));
});
`;

let server: Worker;
let port: number;
const hearing = new Int32Array(new SharedArrayBuffer(4));
const opened: Socket[] = [];
const note = (message: unknown) => void opened.push((message as { socket: Socket }).socket);

/** Lets the server take connections. */
function hear(): void {
  Atomics.store(hearing, 0, 1);
  Atomics.notify(hearing, 0);
}

const target = () => ({ namespace: 'shop', host: '127.0.0.1', port, pod: 'orders-0' });
const { signal } = new AbortController();

beforeEach(async () => {
  Atomics.store(hearing, 0, 0);
  server = new Worker(deaf, { eval: true, workerData: hearing });
  [port] = (await once(server, 'message')) as [number];
  // The kernel takes one more than it is told to.
  for (let guest = 0; guest < 2; guest += 1) await once(connect(port, '127.0.0.1').on('error', () => undefined), 'connect');
  opened.length = 0;
  subscribe('net.client.socket', note);
});

afterEach(async () => {
  unsubscribe('net.client.socket', note);
  hear();
  await server.terminate();
});

it('a connection whose first packet is lost is tried anew before TCP would, and of all tries one is left', async () => {
  const dialed = dialService(target(), signal);
  setImmediate(hear);
  const stream = await dialed;
  expect(opened.length).toBeGreaterThan(1);
  expect(opened.filter((socket) => !socket.destroyed)).toEqual([stream]);
  stream.destroy();
});

it('a Service that leads nowhere is told so in time, and no try is left', async () => {
  await expect(dialService(target(), signal)).rejects.toMatchObject({ kind: 'unreachable', message: `cannot connect to 127.0.0.1:${port}: no answer in 2 s` });
  expect(opened.filter((socket) => !socket.destroyed)).toEqual([]);
});

it('a pass that ends takes its tries along', async () => {
  const pass = new AbortController();
  const dialed = dialService(target(), pass.signal);
  pass.abort();
  await expect(dialed).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('the pass has ended') as string });
  expect(opened.filter((socket) => !socket.destroyed)).toEqual([]);
});

it('a pod that no Service leads to is reached by its own name', async () => {
  const dialed = dialService({ ...target(), host: 'orders.shop.invalid', podHost: '127.0.0.1' }, signal);
  setImmediate(hear);
  (await dialed).destroy();
});
