import { builtin } from '../../src/kind/resource';
import { isNotFound } from '../../src/runtime/api-error';
import { Client } from '../../src/runtime/client';
import { findCluster } from '../../src/runtime/find-cluster';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';

// Real requests on a machine that may be busy with other tests.
jest.setTimeout(60_000);

let cluster: TestCluster;
let namespace: string;
let client: Client;

/** Says a line on its log when told to, and answers on port 8080 with what it is sent. */
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'talker' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'main',
        image: 'busybox',
        command: ['sh', '-c', 'echo started; mkfifo /tmp/say; nc -ll -p 8080 -e cat & while true; do cat /tmp/say; done'],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
      },
    ],
  },
};

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 1 });
  namespace = await makeNamespace(cluster);
  client = new Client(await findCluster({ kubeconfig: cluster.kubeconfig }));
  await client.create(builtin.Pod, { ...pod, metadata: { ...pod.metadata, namespace } });
  const isReady = (conditions: { type: string; status: string }[] | undefined): boolean => conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name: 'talker' }, (found) => isReady((found?.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions), { what: 'Ready', withinMs: 120_000 });
}, firstUpTimeoutMs);

afterAll(async () => {
  await client.close();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const sh = (script: string, stdin?: string): ReturnType<Client['exec']> => client.exec(namespace, 'talker', ['sh', '-c', script], { stdin });

async function readAll(stream: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as string));
  return Buffer.concat(chunks);
}

describe('exec', () => {
  test('gives both outputs and the exit code', async () => {
    await expect(sh('echo out; echo err >&2; exit 3')).resolves.toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  test('a command that reads its input to the end learns where that is', async () => {
    await expect(sh('wc -c', 'x'.repeat(1_000_000))).resolves.toMatchObject({ exitCode: 0, stdout: '1000000\n' });
  });

  test('much output arrives whole', async () => {
    const { stdout } = await sh('head -c 5000000 /dev/zero | tr "\\0" x');
    expect(stdout.length).toBe(5_000_000);
  });

  test('a program that is not there is told, and a pod that is not there is not found', async () => {
    await expect(client.exec(namespace, 'talker', ['/no/such/program'])).rejects.toThrow(/no such file or directory|not found/);
    const error = await client.exec(namespace, 'nobody', ['true']).catch((error: unknown) => error);
    expect(isNotFound(error)).toBe(true);
  });

  test('ends with its signal', async () => {
    const stop = new AbortController();
    const running = client.exec(namespace, 'talker', ['sleep', '3600'], { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
  });
});

describe('logs', () => {
  test('give what was said so far, and end', async () => {
    const log = await client.logs(namespace, 'talker', { container: 'main', tailLines: 1000 });
    expect((await readAll(log)).toString()).toMatch(/^started\n/);
  });

  test('go on as more is said, until they are destroyed', async () => {
    const log = await client.logs(namespace, 'talker', { follow: true });
    let heard = '';
    await sh('echo said later >/tmp/say');
    for await (const chunk of log) {
      heard += String(chunk);
      if (heard.includes('said later')) break;
    }
    expect(log.destroyed).toBe(true);
  });
});

describe('port-forward', () => {
  test('carries bytes both ways, unchanged', async () => {
    const stream = await client.portForward(namespace, 'talker', 8080);
    const sent = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => (i * 31) % 256));
    stream.write(sent);
    const back: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream) {
      back.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes === sent.length) break;
    }
    expect(Buffer.concat(back).equals(sent)).toBe(true);
  });

  test('a port on which nobody listens makes the stream fail with the reason', async () => {
    const stream = await client.portForward(namespace, 'talker', 9);
    await expect(readAll(stream)).rejects.toThrow(/the pod refused the connection: .*connection refused/i);
  });
});
