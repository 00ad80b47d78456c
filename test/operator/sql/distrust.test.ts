import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { SqlDoor } from '../../../src/operator/sql/door';
import { mysqlDoor } from '../../../src/operator/sql/mysql-door';
import { postgresDoor } from '../../../src/operator/sql/postgres-door';
import { makeAuthority, makeServerCertificate } from '../../../src/operator/tls/certificate';

const now = new Date();
const theirs = makeServerCertificate(makeAuthority('theirs', now), ['orders.shop.svc'], now);
const listening: Server[] = [];

afterAll(() => listening.forEach((server) => server.close()));

/** What is said before TLS begins. */
interface Prelude {
  readonly greeting: Buffer;
  /** Length of the client's wish for TLS, behind which its first words of TLS may already stand. */
  readonly wish: number;
  readonly answer: Buffer;
}

/** As much of a server as there is before a client has verified it. */
async function server({ greeting, wish, answer }: Prelude): Promise<() => Promise<Socket>> {
  const started = createServer((socket) => {
    socket.on('error', () => undefined).write(greeting);
    socket.once('data', (chunk: Buffer) => {
      socket.pause().unshift(chunk.subarray(wish));
      socket.write(answer);
      new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ cert: theirs.certificate, key: theirs.key }) }).on('error', () => undefined);
    });
  });
  listening.push(started);
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return () => new Promise((resolve) => {
    const socket = connect((started.address() as AddressInfo).port, '127.0.0.1', () => resolve(socket));
  });
}

/** MySQL's first packet: protocol 10, a version, half of a nonce, what it can do (41, TLS, long nonces, plugins), the other half, the plugin. */
function mysqlGreeting(): Buffer {
  const body = Buffer.concat([Buffer.from('\x0a9.7.4\0'), Buffer.from([1, 0, 0, 0]), Buffer.alloc(8, 'n'), Buffer.from([0, 0x08, 0x8a, 0xff, 2, 0, 0x08, 0, 21]), Buffer.alloc(10), Buffer.alloc(12, 'n'), Buffer.from('\0caching_sha2_password\0')]);
  return Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]);
}

/** What a port-forward hands out: a stream that is no socket. */
function noSocket(socket: Socket): Duplex {
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => void socket.write(chunk as Buffer, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => (socket.destroy(), done(error)),
  });
  socket.on('data', (chunk) => stream.push(chunk)).on('end', () => stream.push(null)).on('error', () => undefined);
  return stream;
}

describe.each<[string, SqlDoor, Prelude]>([
  ['MySQL', mysqlDoor, { greeting: mysqlGreeting(), wish: 36, answer: Buffer.alloc(0) }],
  ['PostgreSQL', postgresDoor, { greeting: Buffer.alloc(0), wish: 8, answer: Buffer.from('S') }],
])('a %s that proves itself by another authority', (_engine, door, prelude) => {
  it.each([
    ['Service', (socket: Socket) => socket],
    ['port-forward', noSocket],
  ])('is refused in words through a %s, and harms nobody', async (_how, over) => {
    const dial = await server(prelude);
    const login = { username: 'app', password: 'secret', ca: makeAuthority('ours', now).certificate };
    await expect(door.open(over(await dial()), 'orders.shop.svc', login)).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringMatching(/cannot log in: .*certificate/) as string });
  });
});
