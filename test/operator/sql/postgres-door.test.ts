import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import { postgresDoor } from '../../../src/operator/sql/postgres-door';
import { makeAuthority, makeServerCertificate } from '../../../src/operator/tls/certificate';

const now = new Date();
const server = makeServerCertificate(makeAuthority('theirs', now), ['orders.shop.svc'], now);
let listening: Server;

/** As much of PostgreSQL as there is before a client has verified it. */
beforeAll(async () => {
  listening = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ cert: server.certificate, key: server.key }) }).on('error', () => undefined);
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
});

afterAll(() => listening.close());

const dial = () => new Promise<Socket>((resolve) => {
  const socket = connect((listening.address() as AddressInfo).port, '127.0.0.1', () => resolve(socket));
});

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

it.each([
  ['through a Service', async () => dial()],
  ['through a port-forward', async () => noSocket(await dial())],
])('a server that proves itself by another authority is refused in words %s', async (_how, stream) => {
  const login = { username: 'app', password: 'secret', ca: makeAuthority('ours', now).certificate };
  await expect(postgresDoor.open(await stream(), 'orders.shop.svc', login)).rejects.toThrow(/certificate/);
});
