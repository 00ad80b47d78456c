import { Duplex, Readable } from 'node:stream';
import WebSocket, { type ClientOptions } from 'ws';
import { ApiError, TransportError, type ApiStatus } from './api-error';
import type { CallOptions, ExecResult } from './client-options';
import type { ClusterAccess } from './cluster-access';
import { tlsOptions } from './connector';

/** Knows how to close stdin alone, which a command that reads to the end waits for; Kubernetes 1.30 and later. */
const V5 = 'v5.channel.k8s.io';
const V4 = 'v4.channel.k8s.io';

/** The first byte of each message says what it belongs to. */
const channels = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  /** How a command ended, as a `Status`. */
  status: 3,
  /** Followed by the channel that is closed (v5 only). */
  close: 255,
} as const;

/** Exec and port-forward: a pod's streams over WebSocket. */
export class PodStreams {
  constructor(
    private readonly access: ClusterAccess,
    private readonly options: { readonly userAgent: string; readonly timeoutMs: number },
  ) {}

  async exec(path: string, stdin: string | Readable | undefined, call: CallOptions): Promise<ExecResult> {
    const socket = await this.open(path, [V5, V4], call);
    const request = { method: 'GET', path };
    if (stdin !== undefined && socket.protocol !== V5) {
      socket.terminate();
      throw new TransportError(request, 'cannot feed stdin', `the API server speaks only ${V4}, which can't tell the command where its input ends; Kubernetes 1.30 or later is needed`);
    }
    const output: Record<number, Buffer[]> = { [channels.stdout]: [], [channels.stderr]: [], [channels.status]: [] };
    socket.on('message', (message: Buffer) => output[message[0] ?? -1]?.push(message.subarray(1)));
    const input = stdin === undefined ? undefined : new Input(socket, stdin);
    socket.resume();
    await closed(socket, request, call.signal).finally(() => input?.end());
    if (input?.failure !== undefined) throw input.failure;
    const text = (channel: number): string => Buffer.concat(output[channel] ?? []).toString('utf8');
    return { exitCode: exitCode(request, text(channels.status)), stdout: text(channels.stdout), stderr: text(channels.stderr) };
  }

  async portForward(path: string, call: CallOptions): Promise<Duplex> {
    return new PortStream(await this.open(path, [V4], call), { method: 'GET', path }, call.signal);
  }

  private async open(path: string, protocols: string[], { signal, timeoutMs }: CallOptions): Promise<WebSocket> {
    const credential = await this.access.credentials.current();
    const headers: Record<string, string> = { 'user-agent': this.options.userAgent };
    if (credential.token !== undefined) headers.authorization = `Bearer ${credential.token}`;
    const handshakeTimeout = timeoutMs ?? this.options.timeoutMs;
    const options: ClientOptions = { ...(await tlsOptions(this.access, credential)), headers, handshakeTimeout, perMessageDeflate: false };
    signal?.throwIfAborted();
    const socket = new WebSocket(this.access.server.replace(/^http/, 'ws').replace(/\/$/, '') + path, protocols, options);
    return await opened(socket, { method: 'GET', path }, signal);
  }
}

interface Request {
  readonly method: string;
  readonly path: string;
}

/** Resolves with the socket paused, so that nothing is lost before somebody listens. */
function opened(socket: WebSocket, request: Request, signal: AbortSignal | undefined): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const abort = (): void => fail(signal?.reason as Error);
    const fail = (error: Error): void => {
      signal?.removeEventListener('abort', abort);
      socket.on('error', () => {}).terminate();
      reject(error);
    };
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', (error) => fail(new TransportError(request, 'cannot open a stream to the pod', error)));
    socket.once('unexpected-response', (_, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => fail(new ApiError(request, response.statusCode ?? 500, parseStatus(Buffer.concat(chunks).toString('utf8')))));
    });
    socket.once('open', () => {
      signal?.removeEventListener('abort', abort);
      socket.removeAllListeners('error').removeAllListeners('unexpected-response');
      socket.pause();
      resolve(socket);
    });
  });
}

/** What a command reads: sent as fast as it takes it, then closed. */
class Input {
  /** Why the input could not be read to its end; the command was ended for that. */
  failure?: Error;
  private isOver = false;
  private readonly chunks: Readable;

  constructor(
    private readonly socket: WebSocket,
    stdin: string | Readable,
  ) {
    this.chunks = typeof stdin === 'string' ? Readable.from([stdin]) : stdin;
    this.feed().catch((error: Error) => {
      if (this.isOver) return;
      this.failure = error;
      socket.terminate();
    });
  }

  /** The command has ended, whether or not it read everything. */
  end(): void {
    this.isOver = true;
    this.chunks.destroy();
  }

  private async feed(): Promise<void> {
    for await (const chunk of this.chunks) await this.send(channels.stdin, chunk as Buffer | string);
    await this.send(channels.close, Buffer.of(channels.stdin));
  }

  private async send(channel: number, content: Buffer | string): Promise<void> {
    // A command may end without reading on; that its input is then refused is no failure.
    await new Promise<void>((resolve) => this.socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(content as string)]), () => resolve()));
  }
}

function closed(socket: WebSocket, request: Request, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => socket.terminate();
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', (error) => reject(new TransportError(request, 'the stream to the pod broke', error)));
    socket.once('close', () => {
      signal?.removeEventListener('abort', abort);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    });
  });
}

function exitCode(request: Request, text: string): number {
  const status = parseStatus(text);
  if (status.status === 'Success') return 0;
  const code = status.details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message;
  if (code !== undefined) return Number(code);
  if (text === '') throw new TransportError(request, 'the stream to the pod ended', 'the command neither succeeded nor failed');
  throw new ApiError(request, status.code ?? 500, status);
}

function parseStatus(text: string): ApiStatus {
  try {
    return JSON.parse(text) as ApiStatus;
  } catch {
    return text === '' ? {} : { message: text.slice(0, 500) };
  }
}

/**
 * One forwarded port as a stream. Channel 0 carries data and channel 1 the kubelet's complaint, such as that nobody
 * listens; the first message on each only repeats the port number.
 */
class PortStream extends Duplex {
  private readonly greeted = new Set<number>();

  constructor(
    private readonly socket: WebSocket,
    private readonly request: Request,
    signal: AbortSignal | undefined,
  ) {
    super({ signal });
    socket.on('message', (message: Buffer) => this.receive(message));
    socket.on('error', (error) => this.destroy(new TransportError(request, 'the port-forward broke', error)));
    socket.on('close', () => this.push(null));
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.send(Buffer.concat([Buffer.of(0), chunk]), done);
  }

  /** The protocol can't close one direction alone. */
  override _final(done: (error?: Error | null) => void): void {
    this.socket.close();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.socket.terminate();
    done(error);
  }

  private receive(message: Buffer): void {
    const channel = message[0] ?? -1;
    if (!this.greeted.has(channel)) {
      this.greeted.add(channel);
    } else if (channel === 0) {
      if (message.length > 1 && !this.push(message.subarray(1))) this.socket.pause();
    } else {
      this.destroy(new TransportError(this.request, 'the pod refused the connection', message.toString('utf8', 1).trim()));
    }
  }
}
