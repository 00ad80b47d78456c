import { setMaxListeners } from 'node:events';
import { Pool, type Dispatcher } from 'undici';
import { ApiError, TransportError, type ApiStatus } from './api-error';
import type { Random } from './backoff';
import type { Clock } from './clock';
import type { ClusterAccess, Credential } from './cluster-access';
import { connectorFor } from './connector';
import { wholeAnswer, type WholeAnswer } from './whole-answer';

/** One request, after the fact. */
export interface RequestRecord {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** HTTP status; undefined if no answer came. */
  readonly status?: number;
  /** Until the answer was there, in milliseconds; of a stream, until it began. */
  readonly durationMs: number;
}

/** One request, before the fact. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with query. */
  readonly path: string;
  readonly body?: string;
  /** @default application/json */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface TransportOptions {
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly connections: number;
  readonly onRequest?: (request: RequestRecord) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** How often a request is sent in all while the API server keeps asking to come back later. */
const MOST_ATTEMPTS = 10;
/** Shorter than the 90 s after which the API server closes an idle connection, so that no write meets a closing one. */
const KEEP_ALIVE_MS = 60_000;
/** How long to wait when the API server says 429 or 503 but not for how long. */
const UNSPOKEN_RETRY_SECONDS = 1;

/**
 * HTTP to one API server: pools, identity, and the few reasons to send something again (see `Client`).
 *
 * HTTP/1.1, because undici's HTTP/2 lets a request wait behind an open watch; hence one pool for requests, and one without
 * a bound for streams, which hold their connection for minutes.
 */
export class Transport {
  private pools: Pools;
  /** What stands before every path; empty where the API server has its address for itself. */
  private readonly base: string;

  constructor(
    private readonly access: ClusterAccess,
    private readonly options: TransportOptions,
  ) {
    this.pools = openPools(access, options);
    this.base = new URL(access.server).pathname.replace(/\/$/, '');
  }

  /** Sends a request and parses the answer. @throws ApiError, TransportError */
  async send<T>(request: TransportRequest): Promise<T> {
    const { text } = await this.exchange(request, (options) => wholeAnswer(this.pools.requests, options, request.signal));
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw failure(request, 'cannot read the answer', error);
    }
  }

  /** Sends a request whose answer is a stream; the caller reads it to its end or destroys it. @throws ApiError, TransportError */
  async open(request: TransportRequest): Promise<Dispatcher.ResponseData['body']> {
    const { body } = await this.exchange(request, async (options) => {
      const { statusCode: status, headers, body } = await this.pools.streams.request({ ...options, signal: request.signal, bodyTimeout: 0 });
      return { status, headers, body, text: status < 400 ? '' : await body.text().catch(() => '') };
    });
    return body;
  }

  /** Ends all connections; what is under way fails. */
  async close(): Promise<void> {
    await Promise.all([this.pools.requests.destroy(), this.pools.streams.destroy()]);
  }

  private async exchange<A extends WholeAnswer>(request: TransportRequest, ask: Ask<A>): Promise<A> {
    let unauthorized = false;
    let reconnected = false;
    for (let attempt = 1; ; attempt++) {
      const { token } = await this.credential(request);
      let answer: A;
      try {
        answer = await this.attempt(request, token, ask);
      } catch (error) {
        if (request.method === 'GET' && !reconnected && isBrokenConnection(error)) {
          reconnected = true;
          continue;
        }
        throw failure(request, 'no answer from the API server', error);
      }
      if (answer.status < 400) return answer;
      const refusal = refusalIn(request, answer);
      if (refusal.status === 401 && !unauthorized) {
        unauthorized = true;
        this.renewCredentials();
        continue;
      }
      if (!asksToComeBack(refusal) || attempt === MOST_ATTEMPTS) throw refusal;
      // Everybody who was turned away now was told the same time: without jitter all would be back together.
      const seconds = (refusal.retryAfterSeconds ?? UNSPOKEN_RETRY_SECONDS) * (1 + 0.1 * this.options.random());
      await this.options.clock.sleep(seconds * 1000, request.signal);
    }
  }

  /** A certificate was shown when a connection was opened, so a new one needs new connections; what runs on the old ones may end. */
  private renewCredentials(): void {
    this.access.credentials.refused();
    const old = this.pools;
    this.pools = openPools(this.access, this.options);
    void Promise.allSettled([old.requests.close(), old.streams.close()]);
  }

  private async credential(request: TransportRequest): Promise<Credential> {
    try {
      return await this.access.credentials.current();
    } catch (error) {
      throw failure(request, 'not sent, for want of credentials', error);
    }
  }

  private async attempt<A extends WholeAnswer>(request: TransportRequest, token: string | undefined, ask: Ask<A>): Promise<A> {
    request.signal?.throwIfAborted();
    // One signal may well end hundreds of requests at once; Node would take that for a leak.
    if (request.signal !== undefined) setMaxListeners(0, request.signal);
    const { clock, onRequest, timeoutMs } = this.options;
    const started = clock.monotonic();
    let status: number | undefined;
    try {
      const headers: Record<string, string> = { accept: 'application/json', 'user-agent': this.options.userAgent };
      if (token !== undefined) headers.authorization = `Bearer ${token}`;
      if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
      const limit = request.timeoutMs ?? timeoutMs;
      const answer = await ask({ method: request.method, path: this.base + request.path, body: request.body, headers, headersTimeout: limit, bodyTimeout: limit });
      status = answer.status;
      return answer;
    } finally {
      onRequest?.({ method: request.method, path: request.path, status, durationMs: clock.monotonic() - started });
    }
  }
}

/** One of the two ways to send something. */
type Ask<A> = (options: Dispatcher.DispatchOptions) => Promise<A>;

interface Pools {
  readonly requests: Pool;
  readonly streams: Pool;
}

function openPools(access: ClusterAccess, options: TransportOptions): Pools {
  const connect = connectorFor(access, options.timeoutMs);
  const common = { connect, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, keepAliveMaxTimeout: KEEP_ALIVE_MS };
  const { origin } = new URL(access.server);
  return {
    requests: new Pool(origin, { ...common, connections: options.connections }),
    streams: new Pool(origin, { ...common, connections: null }),
  };
}

/** The API server answers 429 before it does anything, and 503 with Retry-After likewise: sending again is safe for writes too. */
function asksToComeBack(refusal: ApiError): boolean {
  return refusal.status === 429 || (refusal.status === 503 && refusal.retryAfterSeconds !== undefined);
}

function refusalIn(request: TransportRequest, { status, headers, text }: WholeAnswer): ApiError {
  const retryAfter = Number(headers['retry-after'] ?? NaN);
  return new ApiError(request, status, parseStatus(text), Number.isFinite(retryAfter) ? retryAfter : undefined);
}

/** A proxy's answer may be HTML or nothing at all; then its beginning must do for a message. */
function parseStatus(text: string): ApiStatus {
  try {
    const body = JSON.parse(text) as ApiStatus;
    if (body.kind === 'Status') return body;
  } catch {
    // Not JSON: told below as it is.
  }
  return text.trim() === '' ? {} : { message: text.trim().slice(0, 500) };
}

function failure(request: TransportRequest, what: string, error: unknown): unknown {
  if (request.signal?.aborted === true) return request.signal.reason;
  return new TransportError(request, what, error);
}

function isBrokenConnection(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}
