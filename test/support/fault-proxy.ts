import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { Agent, type RequestOptions, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '../../cluster/api-server';
import { type Fault, type FaultRule, type ProxiedRequest, isWatchFault, matches } from './fault';
import { passOn, statusBody } from './pass-on';

export interface FaultProxyOptions {
  /** Acts as this user, for example `system:serviceaccount:shop:operator`, with its rights and no others. */
  readonly as?: string;
}

/**
 * A proxy in front of an API server that counts and records every request, and harms those it is told to.
 *
 * Guarantees: without rules it changes nothing. It speaks plain HTTP to clients on the loopback address and acts with
 * the rights of the access it was given, unless the client brings a token of its own.
 */
export class FaultProxy {
  private readonly started = Date.now();
  private readonly rules: { rule: FaultRule; seen: number }[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly folder = mkdtempSync(join(tmpdir(), 'fault-proxy-'));
  private recorded: ProxiedRequest[] = [];
  private readonly agentWithoutCertificate: Agent;
  private cutMode: 'reset' | 'hang' | undefined;

  private constructor(
    private readonly access: Access,
    private readonly options: FaultProxyOptions,
    private readonly server: Server,
    private readonly agent: Agent,
  ) {
    this.agentWithoutCertificate = new Agent({ keepAlive: true, ca: access.ca });
  }

  public static async start(access: Access, options: FaultProxyOptions = {}): Promise<FaultProxy> {
    const server = createServer();
    const agent = new Agent({ keepAlive: true, ca: access.ca, cert: access.certificate, key: access.key });
    const proxy = new FaultProxy(access, options, server, agent);
    // A watch is silent for as long as nothing happens.
    server.requestTimeout = 0;
    server.on('connection', (socket) => proxy.adopt(socket));
    server.on('request', (request, response) => void proxy.handle(request, response));
    server.on('upgrade', (request, socket, head) => proxy.upgrade(request, socket as Socket, head));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  public get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The path of a kubeconfig that leads through this proxy. */
  public get kubeconfig(): string {
    const file = join(this.folder, 'kubeconfig');
    const named = (what: string, value: object): object => ({ name: 'proxy', [what]: value });
    writeFileSync(file, JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'proxy',
      clusters: [named('cluster', { server: this.url })],
      users: [named('user', {})],
      contexts: [named('context', { cluster: 'proxy', user: 'proxy' })],
    }));
    return file;
  }

  /** From now on, requests that match meet the fault; the rule told first wins. Returns the way to end it. */
  public inject(rule: FaultRule): () => void {
    const entry = { rule, seen: 0 };
    this.rules.push(entry);
    return () => {
      const index = this.rules.indexOf(entry);
      if (index >= 0) this.rules.splice(index, 1);
    };
  }

  /** Cuts the client off: open connections are closed, new requests reset, or hang as behind a broken network. */
  public cut(how: 'reset' | 'hang' = 'reset'): void {
    this.cutMode = how;
    if (how === 'reset') for (const socket of this.sockets) socket.destroy();
  }

  /** Ends `cut`, all rules, and closes what hangs. */
  public mend(): void {
    if (this.cutMode === 'hang') for (const socket of this.sockets) socket.destroy();
    this.cutMode = undefined;
    this.rules.length = 0;
  }

  public requests(filter: (request: ProxiedRequest) => boolean = () => true): ProxiedRequest[] {
    return this.recorded.filter(filter);
  }

  /** Requests that may have changed the cluster. */
  public writes(): ProxiedRequest[] {
    return this.requests((request) => request.isWrite);
  }

  /** Starts counting anew. */
  public forget(): void {
    this.recorded = [];
  }

  public async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.agent.destroy();
    this.agentWithoutCertificate.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private adopt(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    // A client that goes away in mid-air is part of the game.
    socket.on('error', () => undefined);
  }

  private async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await this.record(incoming);
    if (this.cutMode === 'hang') return;
    if (this.cutMode === 'reset') return void incoming.socket.destroy();
    const fault = this.faultFor(request);
    request.fault = fault?.kind;
    switch (fault?.kind) {
      case 'hang':
        return;
      case 'delay':
        await sleep(fault.ms);
        break;
      case 'status':
        return this.answer(request, response, fault);
      case 'reset':
        if (fault.when === 'before') return void incoming.socket.destroy();
        break;
      default:
    }
    const watchFault = fault && isWatchFault(fault) ? fault : undefined;
    await passOn({ options: this.upstream(incoming), request, response, watchFault, isLost: fault?.kind === 'reset' });
  }

  private answer(request: ProxiedRequest, response: ServerResponse, fault: Extract<Fault, { kind: 'status' }>): void {
    request.status = fault.status;
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (fault.retryAfterSeconds !== undefined) headers['retry-after'] = String(fault.retryAfterSeconds);
    response.writeHead(fault.status, headers).end(JSON.stringify(statusBody(fault.status, fault.reason, fault.message)));
  }

  private async record(incoming: IncomingMessage): Promise<ProxiedRequest> {
    const url = new URL(incoming.url ?? '/', this.url);
    const method = incoming.method ?? 'GET';
    const atMs = Date.now() - this.started;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const isWatch = ['true', '1'].includes(url.searchParams.get('watch') ?? '');
    const request: ProxiedRequest = {
      method,
      path: url.pathname,
      query: url.searchParams,
      isWatch,
      isWrite: !['GET', 'HEAD', 'OPTIONS'].includes(method),
      userAgent: incoming.headers['user-agent'],
      body: Buffer.concat(chunks).toString(),
      atMs,
      status: undefined,
      upstreamStatus: undefined,
      fault: undefined,
    };
    this.recorded.push(request);
    return request;
  }

  private faultFor(request: ProxiedRequest): Fault | undefined {
    for (const entry of this.rules) {
      if (!matches(entry.rule, request)) continue;
      const after = entry.rule.after ?? 0;
      entry.seen += 1;
      if (entry.seen > after && entry.seen <= after + (entry.rule.times ?? Infinity)) return entry.rule.fault;
    }
    return undefined;
  }

  private upstream(incoming: IncomingMessage): RequestOptions {
    const url = new URL(this.access.server);
    const headers: IncomingMessage['headers'] = { ...incoming.headers, host: url.host };
    delete headers['transfer-encoding'];
    if (this.access.token) headers['authorization'] ??= `Bearer ${this.access.token}`;
    if (this.options.as) headers['impersonate-user'] = this.options.as;
    // The certificate would outrank a token that the client brings.
    const agent = incoming.headers['authorization'] ? this.agentWithoutCertificate : this.agent;
    return { host: url.hostname, port: url.port || 443, method: incoming.method, path: incoming.url, headers, agent };
  }

  /** Exec and port-forward: two raw streams, joined. */
  private upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    if (this.cutMode !== undefined) return void socket.destroy();
    const outgoing = httpsRequest(this.upstream(incoming));
    outgoing.on('error', () => socket.destroy());
    outgoing.on('response', (reply) => {
      socket.write(`HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}\r\nconnection: close\r\n\r\n`);
      reply.pipe(socket);
    });
    outgoing.on('upgrade', (reply, upstream: Socket, upstreamHead) => {
      const lines = reply.rawHeaders.flatMap((name, index, all) => (index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : []));
      socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
      socket.write(upstreamHead);
      upstream.write(head);
      upstream.on('error', () => socket.destroy());
      upstream.on('close', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
      upstream.pipe(socket).pipe(upstream);
    });
    outgoing.end();
  }
}
