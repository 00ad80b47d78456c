import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { parse } from 'yaml';

/** How to reach an API server, and as whom. */
export interface Access {
  readonly server: string;
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface Reply<T = unknown> {
  readonly status: number;
  readonly body: T;
}

/**
 * The test bed's own way to an API server: plain requests and watches, nothing remembered, nothing retried.
 * The product's client is what is being tested, so the tests must not stand on it.
 */
export class ApiServer {
  private readonly agent: Agent;

  public constructor(public readonly access: Access) {
    this.agent = new Agent({ keepAlive: true, ca: access.ca, cert: access.certificate, key: access.key });
  }

  /** Of a kubeconfig's current context. @throws Error when it logs in by a plugin, which this simple client can't. */
  public static fromKubeconfig(file: string): ApiServer {
    return new ApiServer(readAccess(file));
  }

  /** One request, JSON in and out; any status is a result. */
  public async request<T = unknown>(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<Reply<T>> {
    const response = await this.open(method, path, body, contentType);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isJson = response.headers['content-type']?.includes('json');
    return { status: response.statusCode ?? 0, body: (isJson ? JSON.parse(text) : text) as T };
  }

  /** Like `request`, but a status of 400 and above is an error that carries the API server's own words. */
  public async demand<T = unknown>(method: string, path: string, body?: unknown, contentType?: string): Promise<T> {
    const reply = await this.request<T>(method, path, body, contentType);
    if (reply.status >= 400) {
      const message = (reply.body as { message?: string } | undefined)?.message ?? String(reply.body);
      throw new Error(`${method} ${path} failed: ${message} (${reply.status})`);
    }
    return reply.body;
  }

  /** The response as it comes in, for watches and logs. The caller reads it to its end or destroys it. */
  public open(method: string, path: string, body?: unknown, contentType = 'application/json', signal?: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(path, this.access.server);
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = contentType;
    if (this.access.token) headers['authorization'] = `Bearer ${this.access.token}`;
    return new Promise((resolve, reject) => {
      const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
      const outgoing = send(url, { method, headers, signal, ...(url.protocol === 'http:' ? {} : { agent: this.agent }) }, resolve);
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Lets go of idle connections, so that the process can end. */
  public close(): void {
    this.agent.destroy();
  }
}

interface KubeconfigFile {
  'current-context'?: string;
  contexts?: { name: string; context: { cluster: string; user: string } }[];
  clusters?: { name: string; cluster: { server: string; 'certificate-authority'?: string; 'certificate-authority-data'?: string } }[];
  users?: { name: string; user: UserEntry }[];
}

interface UserEntry {
  token?: string;
  exec?: unknown;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
}

function readAccess(file: string): Access {
  const config = parse(readFileSync(file, 'utf8')) as KubeconfigFile;
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context;
  const cluster = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users?.find(({ name }) => name === context?.user)?.user;
  if (!cluster || !user) throw new Error(`${file}: its current context names no cluster and user; choose one with 'kubectl config use-context'`);
  if (user.exec) throw new Error(`${file}: it logs in by a plugin, which the tests don't run; give one with a certificate or a token`);
  return {
    server: cluster.server,
    ca: dataOrFile(cluster['certificate-authority-data'], cluster['certificate-authority']),
    certificate: dataOrFile(user['client-certificate-data'], user['client-certificate']),
    key: dataOrFile(user['client-key-data'], user['client-key']),
    token: user.token,
  };
}

function dataOrFile(data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString();
  return file ? readFileSync(file, 'utf8') : undefined;
}
