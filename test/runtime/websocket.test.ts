import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { ApiError, isForbidden, TransportError } from '../../src/runtime/api-error';
import { Client } from '../../src/runtime/client';

/**
 * The kubelet's side of the protocol in this process, for what a real one can't be made to do at will: speak only the old
 * protocol, break off, refuse. What a real pod does is in streams.cluster.test.ts.
 */
let http: Server;
let sockets: WebSocketServer;
let client: Client;
let urls: string[];
let speaks: string[];
let serve: (socket: WebSocket) => void;

beforeEach(async () => {
  urls = [];
  speaks = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
  http = createServer();
  sockets = new WebSocketServer({ server: http, handleProtocols: (offered) => speaks.find((protocol) => offered.has(protocol)) ?? false });
  sockets.on('connection', (socket, request) => {
    urls.push(request.url ?? '');
    serve(socket);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const credentials = { current: () => Promise.resolve({ token: 'abc' }), refused: () => {} };
  client = new Client({ source: 'test', server: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, namespace: 'default', credentials });
});
afterEach(async () => {
  for (const socket of sockets.clients) socket.terminate();
  await client.close();
  sockets.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

const message = (channel: number, content: string | Buffer): Buffer => Buffer.concat([Buffer.of(channel), Buffer.from(content as string)]);
const success = message(3, JSON.stringify({ status: 'Success' }));
const exit = (code: number): Buffer => message(3, JSON.stringify({ status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: String(code) }] } }));

/** Sends all at once with the handshake, so that what arrives before anybody listens would be lost. */
const says = (...messages: Buffer[]) => (socket: WebSocket): void => {
  for (const each of messages) socket.send(each);
  socket.close();
};

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('exec', () => {
  test('gives what the command printed on each stream and how it ended', async () => {
    serve = says(message(1, 'out '), message(2, 'err'), message(1, 'put'), exit(3));
    await expect(client.exec('shop', 'orders-0', ['mysqladmin', 'ping -h'], { container: 'server' })).resolves.toEqual({ exitCode: 3, stdout: 'out put', stderr: 'err' });
    expect(urls).toEqual(['/api/v1/namespaces/shop/pods/orders-0/exec?container=server&stdin=false&stdout=true&stderr=true&command=mysqladmin&command=ping%20-h']);
  });

  test.each([
    ['a text', 'SELECT 1;\n'],
    ['a stream', Readable.from([Buffer.from('SELECT '), Buffer.from('1;\n')])],
  ])('feeds %s to the command and tells it where the input ends', async (_, stdin) => {
    serve = (socket) => {
      let input = '';
      socket.on('message', (data: Buffer) => {
        if (data[0] === 0) input += data.toString('utf8', 1);
        if (data[0] === 255 && data[1] === 0) says(message(1, `read: ${input}`), success)(socket);
      });
    };
    await expect(client.exec('shop', 'orders-0', ['mysql'], { stdin })).resolves.toEqual({ exitCode: 0, stdout: 'read: SELECT 1;\n', stderr: '' });
  });

  test('refuses to feed a command that could never learn where its input ends', async () => {
    speaks = ['v4.channel.k8s.io'];
    serve = () => {};
    await expect(client.exec('shop', 'orders-0', ['mysql'], { stdin: 'x' })).rejects.toThrow("the API server speaks only v4.channel.k8s.io, which can't tell the command where its input ends; Kubernetes 1.30 or later is needed");
  });

  test('works on an older API server where nothing is fed', async () => {
    speaks = ['v4.channel.k8s.io'];
    serve = says(message(1, 'ok'), success);
    await expect(client.exec('shop', 'orders-0', ['true'])).resolves.toMatchObject({ exitCode: 0, stdout: 'ok' });
  });

  test("a command that can't be started is an error in the API server's words, not an exit code", async () => {
    serve = says(message(3, JSON.stringify({ kind: 'Status', status: 'Failure', code: 500, reason: 'InternalError', message: 'container not found' })));
    await expect(client.exec('shop', 'orders-0', ['true'])).rejects.toThrow('500 InternalError: container not found');
  });

  test('a connection that ends before the command has is an error, not a success', async () => {
    serve = says(message(1, 'half'));
    await expect(client.exec('shop', 'orders-0', ['true'])).rejects.toThrow('the stream to the pod ended: the command neither succeeded nor failed');
  });

  test('ends with its signal', async () => {
    const stop = new AbortController();
    serve = () => stop.abort(new Error('enough'));
    await expect(client.exec('shop', 'orders-0', ['sleep', 'infinity'], { signal: stop.signal })).rejects.toThrow('enough');
  });

  test('ends with a signal that comes while credentials are fetched', async () => {
    serve = () => {};
    const stop = new AbortController();
    const running = client.exec('shop', 'orders-0', ['sleep', 'infinity'], { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(urls).toEqual([]);
  });

  test('an input that fails ends the command', async () => {
    serve = () => {};
    const stdin = new Readable({ read() { this.destroy(new Error('disk on fire')); } });
    await expect(client.exec('shop', 'orders-0', ['mysql'], { stdin })).rejects.toThrow('disk on fire');
  });

  test('a command that ends without reading its input is waited for no longer, and the input is let go', async () => {
    serve = says(message(1, 'no thanks'), success);
    const stdin = new Readable({ read() {} });
    await expect(client.exec('shop', 'orders-0', ['true'], { stdin })).resolves.toMatchObject({ exitCode: 0, stdout: 'no thanks' });
    expect(stdin.destroyed).toBe(true);
  });

  test('a refusal before the stream opens is an ApiError', async () => {
    http.removeAllListeners('upgrade');
    http.on('upgrade', (_, socket) => {
      const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'no exec for you' });
      socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    const error = await client.exec('shop', 'orders-0', ['true']).catch((error: unknown) => error);
    expect(isForbidden(error)).toBe(true);
    expect((error as ApiError).serverMessage).toBe('no exec for you');
  });
});

describe('port-forward', () => {
  /** As the kubelet does: first the port number on each channel. */
  const greet = (socket: WebSocket): void => {
    for (const channel of [0, 1]) socket.send(Buffer.of(channel, 0x38, 0x15));
  };

  test('is a stream in both directions, without the greeting of the protocol', async () => {
    serve = (socket) => {
      greet(socket);
      socket.on('message', (data: Buffer) => {
        socket.send(message(0, `echo ${data.toString('utf8', 1)}`));
        socket.close();
      });
    };
    const stream = await client.portForward('shop', 'orders-0', 5432);
    stream.write('hello');
    await expect(read(stream)).resolves.toBe('echo hello');
    expect(urls).toEqual(['/api/v1/namespaces/shop/pods/orders-0/portforward?ports=5432']);
  });

  test('a port on which nobody listens makes the stream fail with the reason', async () => {
    serve = (socket) => {
      greet(socket);
      socket.send(message(1, 'connection refused'));
    };
    const stream = await client.portForward('shop', 'orders-0', 1);
    await expect(read(stream)).rejects.toThrow('the pod refused the connection: connection refused');
  });

  test('holds the sender back while nobody reads', async () => {
    const total = 64 << 20;
    const chunk = message(0, Buffer.alloc(1 << 20, 'x'));
    let sent = 0;
    serve = (socket) => {
      greet(socket);
      const send = (): void => {
        if (sent === total) return socket.close();
        sent += 1 << 20;
        socket.send(chunk, send);
      };
      send();
    };
    const stream = await client.portForward('shop', 'orders-0', 5432);
    // Both sides live in this event loop: if nothing moves for a thousand of its turns, the sender is held back.
    for (let before = -1, turns = 0; turns < 1000; turns = before === sent ? turns + 1 : 0) {
      before = sent;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(total);
    expect((await read(stream)).length).toBe(total);
  });

  test('ends with its signal', async () => {
    serve = greet;
    const stop = new AbortController();
    const stream = await client.portForward('shop', 'orders-0', 5432, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(read(stream)).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('closing our side closes the connection', async () => {
    const closed = new Promise((resolve) => (serve = (socket) => void (greet(socket), socket.on('close', resolve))));
    const stream = await client.portForward('shop', 'orders-0', 5432);
    stream.resume().end();
    await closed;
  });
});

test('a server that is not there is a transport error', async () => {
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  await expect(client.portForward('shop', 'orders-0', 5432)).rejects.toThrow(TransportError);
});
