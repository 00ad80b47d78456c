import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../cluster/command';
import { freePorts } from '../../cluster/ports';
import { programs } from '../../cluster/programs';
import { TerminalProgress } from '../../cluster/progress';
import type { TestCluster } from './test-cluster';

export interface S3ServerOptions {
  /** Makes the server reachable for this cluster's pods; else only for this machine. */
  readonly cluster?: TestCluster;
  /** Speaks TLS with a certificate of an authority of its own (`server.authority`). @default false */
  readonly tls?: boolean;
  readonly buckets?: readonly string[];
}

/** A real S3 server (versitygw) on a folder of this machine, as a process of the test. */
export class S3Server {
  public readonly accessKey = 'test-access';
  public readonly secretKey = 'test-secret-key';
  public readonly region = 'us-east-1';

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    /** For example `http://10.213.0.1:21234`. Buckets are paths, not host names. */
    public readonly endpoint: string,
    /** The certificate of the authority, with `tls`. */
    public readonly authority: string | undefined,
  ) {}

  public static async start(options: S3ServerOptions = {}): Promise<S3Server> {
    const { versitygw } = await programs(['versitygw'], new TerminalProgress());
    const folder = mkdtempSync(join(tmpdir(), 's3-'));
    const address = options.cluster ? new URL(options.cluster.api.access.server).hostname : '127.0.0.1';
    const [port] = await freePorts(1, address);
    for (const bucket of options.buckets ?? []) mkdirSync(join(folder, 'data', bucket), { recursive: true });
    mkdirSync(join(folder, 'data'), { recursive: true });
    const tls = options.tls ? await makeCertificate(folder, address) : undefined;
    const args = ['-listen', `${address}:${port}`, '-folder', join(folder, 'data'), ...(tls ? ['-cert', tls.certificate, '-key', tls.key] : [])];
    const env = { ...process.env, ROOT_ACCESS_KEY: 'test-access', ROOT_SECRET_KEY: 'test-secret-key' };
    const child = spawn(versitygw, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    await untilListening(child, address, port!);
    return new S3Server(child, folder, `${tls ? 'https' : 'http'}://${address}:${port}`, tls?.authority);
  }

  /** The folder behind a bucket: objects are files. */
  public bucketFolder(bucket: string): string {
    return join(this.folder, 'data', bucket);
  }

  public async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    if (this.process.exitCode === null) {
      this.process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function makeCertificate(folder: string, address: string): Promise<{ certificate: string; key: string; authority: string }> {
  const { pki } = await programs(['pki'], new TerminalProgress());
  await run(pki, ['-dir', folder, '-issue', `name=s3,cn=s3,host=${address}`]);
  return { certificate: join(folder, 's3.crt'), key: join(folder, 's3.key'), authority: readFileSync(join(folder, 'ca.crt'), 'utf8') };
}

async function untilListening(child: ChildProcess, address: string, port: number): Promise<void> {
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`the S3 server ended with code ${child.exitCode}: ${said}`);
    if (await isListening(address, port)) return;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`the S3 server did not listen on ${address}:${port} within 15 s: ${said}`);
}

function isListening(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
