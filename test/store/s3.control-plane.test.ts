import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Target, type S3Settings } from '../../src/store/s3';
import { S3Server } from '../support/s3-server';
import { Conversation, dumpText } from './conversation';

const MIB = 1024 * 1024;
const signal = new AbortController().signal;
let server: S3Server;
let folder: string;
let settings: S3Settings;

beforeAll(async () => {
  server = await S3Server.start({ tls: true, buckets: ['backups'] });
  folder = mkdtempSync(join(tmpdir(), 'dbop-s3-'));
  writeFileSync(join(folder, 'AWS_ACCESS_KEY_ID'), server.accessKey);
  writeFileSync(join(folder, 'AWS_SECRET_ACCESS_KEY'), `${server.secretKey}\n`);
  writeFileSync(join(folder, 'ca.crt'), server.authority ?? '');
  settings = { bucket: 'backups', prefix: 'team', endpoint: server.endpoint, region: server.region, credentials: folder, ca: join(folder, 'ca.crt') };
}, 600_000);

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Parts of uploads that are neither completed nor aborted, as only the server's own files tell. */
const partsOf = (of: S3Server) => readdirSync(of.bucketFolder('backups'), { recursive: true, encoding: 'utf8' }).filter((path) => /multipart.+[0-9]+$/.test(path));

async function* mebibytes(count: number, end?: Error) {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(MIB, index);
  if (end !== undefined) throw end;
}

async function bytesOf(source: AsyncIterable<Buffer> | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('an object of several parts comes back byte for byte, through TLS with an authority of our own', async () => {
  const target = await S3Target.connect(settings);
  await target.write('ns/large/b1/dump', mebibytes(30), signal);
  expect((await bytesOf(await target.read('ns/large/b1/dump', signal))).equals(await bytesOf(mebibytes(30)))).toBe(true);
  expect((await target.list('ns/large', signal)).map(({ path }) => path)).toEqual(['ns/large/b1/dump']);
  expect(target.location('ns/large/b1')).toBe('s3://backups/team/ns/large/b1');
}, 120_000);

test('a source that fails leaves neither an object nor an upload', async () => {
  const target = await S3Target.connect(settings);
  await expect(target.write('ns/cut/b1/dump', mebibytes(20, new Error('cut')), signal)).rejects.toThrow('cut');
  expect(await target.list('ns/cut', signal)).toEqual([]);
  expect(await target.sweep('ns/cut', new Date(Date.now() + 60_000), signal)).toEqual([]);
}, 120_000);

test('a part that is refused while the source takes its time fails the object, and leaves no upload', async () => {
  const plain = await S3Server.start({ buckets: ['backups'] });
  const proxy = await refusingProxy(new URL(plain.endpoint), (url) => url.includes('partNumber=2&'));
  try {
    const target = await S3Target.connect({ ...settings, ca: undefined, endpoint: `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}` });
    const source = async function* () {
      yield* mebibytes(17);
      await proxy.refused;
      // Another way there and back: by then the refusal has arrived.
      await target.size('ns/refused/b1/other', signal);
      yield* mebibytes(1);
    };
    await expect(target.write('ns/refused/b1/dump', source(), signal)).rejects.toThrow('not this part');
    expect(await target.list('ns/refused', signal)).toEqual([]);
    expect(await target.sweep('ns/refused', new Date(Date.now() + 60_000), signal)).toEqual([]);
  } finally {
    proxy.server.close();
    await plain.stop();
  }
}, 120_000);

test('an upload that is interrupted waits for the part that is on its way: whoever came after the abort would stay for ever', async () => {
  const plain = await S3Server.start({ buckets: ['backups'] });
  const proxy = await slowProxy(new URL(plain.endpoint), (url) => url.includes('partNumber=2&'));
  const interrupt = new AbortController();
  try {
    const target = await S3Target.connect({ ...settings, ca: undefined, endpoint: `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}` });
    const source = async function* () {
      yield* mebibytes(17);
      await proxy.onItsWay;
      interrupt.abort(new Error('the pod was told to stop'));
      yield* mebibytes(20);
    };
    await expect(target.write('ns/late/b1/dump', source(), interrupt.signal)).rejects.toThrow();
    await proxy.arrived;
    expect(partsOf(plain)).toEqual([]);
  } finally {
    proxy.server.close();
    await plain.stop();
  }
}, 120_000);

test('a backup that is interrupted tidies up only then', async () => {
  const plain = await S3Server.start({ buckets: ['backups'] });
  const proxy = await slowProxy(new URL(plain.endpoint), (url) => url.includes('partNumber=2&'));
  const interrupt = new AbortController();
  const job = new Conversation();
  try {
    // Random, so that what is packed still has several parts.
    job.write('dbop/dump.sql', dumpText.replace('USE', `${Array.from({ length: 35 }, () => `-- ${randomBytes(MIB / 2).toString('hex')}\n`).join('')}USE`));
    void proxy.onItsWay.then(() => interrupt.abort());
    let hasArrived = false;
    void proxy.arrived.then(() => (hasArrived = true));
    const s3 = { ...settings, ca: undefined, endpoint: `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}` };
    expect((await job.job('put', { target: { s3 } }, { signal: interrupt.signal })).result).toMatchObject({ outcome: 'failed', reason: 'Interrupted' });
    // The process would end here, and nobody could tidy up after it.
    expect(hasArrived).toBe(true);
    expect(partsOf(plain)).toEqual([]);
  } finally {
    job.end();
    proxy.server.close();
    await plain.stop();
  }
}, 120_000);

test('an upload that was never completed is swept once it is quiet', async () => {
  const target = await S3Target.connect(settings);
  const { CreateMultipartUploadCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { Agent } = await import('node:https');
  const client = new S3Client({ endpoint: server.endpoint, region: server.region, forcePathStyle: true, credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey }, requestHandler: { httpsAgent: new Agent({ ca: server.authority }) } });
  await client.send(new CreateMultipartUploadCommand({ Bucket: 'backups', Key: 'team/ns/stale/b1/dump' }));
  expect(await target.sweep('ns/stale', new Date(Date.now() - 60_000), signal)).toEqual([]);
  expect(await target.sweep('ns/stale', new Date(Date.now() + 60_000), signal)).toEqual(['ns/stale/b1/dump']);
  expect(await target.sweep('ns/stale', new Date(Date.now() + 60_000), signal)).toEqual([]);
}, 60_000);

test('a download whose connection breaks goes on where it stopped', async () => {
  const whole = await S3Target.connect(settings);
  await whole.write('ns/broken/b1/dump', mebibytes(12), signal);
  const proxy = await breakingProxy(new URL(server.endpoint), 5 * MIB);
  try {
    const target = await S3Target.connect({ ...settings, endpoint: `https://127.0.0.1:${(proxy.server.address() as AddressInfo).port}` });
    expect((await bytesOf(await target.read('ns/broken/b1/dump', signal))).equals(await bytesOf(mebibytes(12)))).toBe(true);
    expect(proxy.broken()).toBe(1);
  } finally {
    proxy.server.close();
  }
}, 120_000);

test('a whole backup goes there and comes back, and two namespaces never see each other', async () => {
  const job = new Conversation();
  try {
    const target = { s3: settings };
    expect((await job.job('put', { target, verify: true })).result).toMatchObject({ outcome: 'stored', backup: { location: 's3://backups/team/ns/shop/b1', verifiedAt: expect.any(String) as string } });
    expect((await job.job('get', { target, namespace: 'elsewhere' })).result).toMatchObject({ outcome: 'none' });
    expect((await job.job('get', { target })).result).toMatchObject({ outcome: 'restored', backup: { name: 'b1', rows: 3 } });
  } finally {
    job.end();
  }
}, 120_000);

test('a wrong key is told as what it is, not as an empty bucket', async () => {
  const wrong = mkdtempSync(join(tmpdir(), 'dbop-s3-'));
  const job = new Conversation();
  try {
    writeFileSync(join(wrong, 'AWS_ACCESS_KEY_ID'), server.accessKey);
    writeFileSync(join(wrong, 'AWS_SECRET_ACCESS_KEY'), 'something else');
    expect((await job.job('get', { target: { s3: { ...settings, credentials: wrong } } })).result).toMatchObject({ outcome: 'failed', reason: 'TargetFailed' });
  } finally {
    job.end();
    rmSync(wrong, { recursive: true, force: true });
  }
}, 120_000);

/** Passes requests on, save those that it refuses for good. */
async function refusingProxy(to: URL, isRefused: (url: string) => boolean): Promise<{ server: Server; refused: Promise<void> }> {
  const { promise: refused, resolve: refuse } = promised();
  const proxy = createHttpServer((request, response) => {
    if (isRefused(request.url ?? '')) {
      request.resume().on('end', () => {
        response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error><Code>AccessDenied</Code><Message>not this part</Message></Error>', refuse);
      });
      return;
    }
    const upstream = httpRequest({ host: to.hostname, port: to.port, method: request.method, path: request.url, headers: request.headers }, (reply) => reply.pipe(response.writeHead(reply.statusCode ?? 502, reply.headers)));
    request.pipe(upstream);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return { server: proxy, refused };
}

/** Passes requests on; those that are slow a moment after they have come whole, even if nobody waits for the answer any more. */
async function slowProxy(to: URL, isSlow: (url: string) => boolean): Promise<{ server: Server; onItsWay: Promise<void>; arrived: Promise<void> }> {
  const { promise: onItsWay, resolve: whole } = promised();
  const { promise: arrived, resolve: answered } = promised();
  const proxy = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const slow = isSlow(request.url ?? '');
      const pass = () =>
        httpRequest({ host: to.hostname, port: to.port, method: request.method, path: request.url, headers: request.headers }, (reply) => {
          reply.pipe(response.writeHead(reply.statusCode ?? 502, reply.headers));
          if (slow) reply.on('end', answered);
        }).end(Buffer.concat(chunks));
      if (!slow) return void pass();
      whole();
      setTimeout(pass, 1500);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return { server: proxy, onItsWay, arrived };
}

function promised(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => undefined as void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** Passes connections on, and breaks the first one that has carried so many bytes. */
async function breakingProxy(to: URL, after: number): Promise<{ server: Server; broken: () => number }> {
  let broken = 0;
  const proxy = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    let carried = 0;
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      carried += chunk.length;
      if (broken === 0 && carried > after) {
        broken += 1;
        client.destroy();
        upstream.destroy();
        return;
      }
      if (!client.write(chunk)) {
        upstream.pause();
        client.once('drain', () => upstream.resume());
      }
    });
    upstream.on('end', () => client.end());
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return { server: proxy, broken: () => broken };
}
