import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { systemClock, type Clock } from './clock';
import type { ClusterAccess, Credential, Credentials } from './cluster-access';
import { ExecPlugin, type ExecPluginConfig } from './exec-plugin';
import { TokenFile } from './token-file';

export interface KubeconfigOptions {
  /** Files, as in KUBECONFIG: of two entries of one name the first counts. */
  readonly files: readonly string[];
  /** @default the current-context of the first file that names one */
  readonly context?: string;
  /** The environment that credential plugins are given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
}

/**
 * The cluster and the user that a kubeconfig's context names.
 *
 * Supports certificates and keys (inline or in files, which are read anew for every connection), tokens, token files and
 * credential plugins. What would change who we are or how we connect and is not supported is refused, not ignored.
 *
 * @throws if a file can't be read, or what it says is incomplete, contradictory or not supported
 */
export async function kubeconfig({ files, context: wanted, env, clock = systemClock }: KubeconfigOptions): Promise<ClusterAccess> {
  const configs = await Promise.all(files.map(readConfig));
  const source = files.join(', ');
  const name = wanted ?? configs.map((config) => config.content['current-context']).find((current) => current !== undefined && current !== '');
  if (name === undefined) throw new Error(`${source}: there is no current-context; name one of: ${names(configs, 'contexts')}`);
  const context = find(configs, 'contexts', name, source);
  const cluster = find(configs, 'clusters', context.entry.cluster ?? '', source);
  const user = context.entry.user === undefined || context.entry.user === '' ? undefined : find(configs, 'users', context.entry.user, source);
  const where = `${source}: context ${name}`;
  return {
    source: where,
    namespace: context.entry.namespace ?? 'default',
    ...clusterPart(where, cluster),
    credentials: user === undefined ? anonymous : credentials(where, user, cluster, env, clock),
  };
}

interface Cluster {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
}

interface User {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly exec?: ExecPluginConfig;
  readonly [other: string]: unknown;
}

interface Context {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

interface Content {
  readonly 'current-context'?: string;
  readonly clusters?: readonly { readonly name: string; readonly cluster: Cluster }[] | null;
  readonly users?: readonly { readonly name: string; readonly user: User }[] | null;
  readonly contexts?: readonly { readonly name: string; readonly context: Context }[] | null;
}

interface Config {
  readonly folder: string;
  readonly content: Content;
}

/** An entry, and the folder of its file, from which its relative paths count. */
interface Found<Entry> {
  readonly entry: Entry;
  readonly folder: string;
}

interface Sections {
  readonly clusters: Cluster;
  readonly users: User;
  readonly contexts: Context;
}

const anonymous: Credentials = { current: () => Promise.resolve({}), refused: () => {} };

async function readConfig(file: string): Promise<Config> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(`cannot read kubeconfig ${file}: ${(cause as Error).message}`, { cause });
  }
  let content: unknown;
  try {
    content = parse(text);
  } catch (cause) {
    // The parser's message shows the line it stumbled on, which may hold a key; where it is must do.
    const at = (cause as { linePos?: readonly { line: number }[] }).linePos?.[0]?.line;
    throw new Error(`kubeconfig ${file} is not YAML${at === undefined ? '' : ` (line ${at})`}`);
  }
  if (typeof content !== 'object' || content === null) throw new Error(`kubeconfig ${file} is empty`);
  return { folder: dirname(resolve(file)), content };
}

function find<Section extends keyof Sections>(configs: readonly Config[], section: Section, name: string, source: string): Found<Sections[Section]> {
  const singular = section.slice(0, -1);
  for (const { folder, content } of configs) {
    const named = content[section]?.find((candidate) => candidate.name === name) as Record<string, unknown> | undefined;
    if (named !== undefined) return { folder, entry: (named[singular] ?? {}) as Sections[Section] };
  }
  throw new Error(`${source}: there is no ${singular} '${name}'; there are: ${names(configs, section)}`);
}

function names(configs: readonly Config[], section: keyof Sections): string {
  return configs.flatMap(({ content }) => (content[section] ?? []).map(({ name }) => name)).join(', ') || 'none';
}

function clusterPart(where: string, { entry, folder }: Found<Cluster>): Pick<ClusterAccess, 'server' | 'ca' | 'insecureSkipTlsVerify' | 'tlsServerName'> {
  const { server, 'insecure-skip-tls-verify': insecure, 'tls-server-name': tlsServerName } = entry;
  if (server === undefined || !/^https?:\/\//.test(server)) throw new Error(`${where}: 'server' (${server ?? 'none'}) is no http or https URL`);
  if (entry['proxy-url'] !== undefined) throw new Error(`${where}: 'proxy-url' (${entry['proxy-url']}) is not supported; reach the API server directly, or through a forwarded port`);
  const ca = material(folder, entry['certificate-authority-data'], entry['certificate-authority']);
  if (insecure === true && ca !== undefined) throw new Error(`${where}: 'insecure-skip-tls-verify' and a certificate authority contradict each other; drop the former`);
  return { server: server.replace(/\/$/, ''), ca, insecureSkipTlsVerify: insecure, tlsServerName };
}

/** Ways of saying who one is that newer Kubernetes no longer knows, or that would change whose rights we act with. */
const REFUSED = { username: 'basic authentication', 'auth-provider': 'auth-provider', as: 'impersonation', 'as-uid': 'impersonation', 'as-groups': 'impersonation', 'as-user-extra': 'impersonation' };

function credentials(where: string, { entry, folder }: Found<User>, cluster: Found<Cluster>, env: KubeconfigOptions['env'], clock: Clock): Credentials {
  for (const [field, what] of Object.entries(REFUSED)) {
    if (entry[field] !== undefined) throw new Error(`${where}: '${field}' (${what}) is not supported; use a token, a client certificate or a credential plugin`);
  }
  const certificate = material(folder, entry['client-certificate-data'], entry['client-certificate']);
  const key = material(folder, entry['client-key-data'], entry['client-key']);
  if ((certificate === undefined) !== (key === undefined)) throw new Error(`${where}: the user has a client ${key === undefined ? 'certificate without its key' : 'key without its certificate'}`);
  const token = tokenSource(entry, folder, cluster, env, clock);
  if (certificate === undefined || key === undefined) return token;
  return {
    current: async (): Promise<Credential> => ({ certificate: await certificate(), key: await key(), ...(await token.current()) }),
    refused: () => token.refused(),
  };
}

/** As kubectl does: a token file counts more than a token, and either more than a plugin. */
function tokenSource(user: User, folder: string, cluster: Found<Cluster>, env: KubeconfigOptions['env'], clock: Clock): Credentials {
  if (user.tokenFile !== undefined && user.tokenFile !== '') return new TokenFile(resolve(folder, user.tokenFile), clock);
  if (user.token !== undefined && user.token !== '') {
    const credential = { token: user.token };
    return { current: () => Promise.resolve(credential), refused: () => {} };
  }
  if (user.exec === undefined || user.exec === null) return anonymous;
  const { entry } = cluster;
  const info = { server: entry.server ?? '', 'certificate-authority-data': entry['certificate-authority-data'], 'insecure-skip-tls-verify': entry['insecure-skip-tls-verify'], 'tls-server-name': entry['tls-server-name'] };
  return new ExecPlugin(user.exec, { folder, cluster: info, env, clock });
}

/** A certificate or key, inline (which counts more) or in a file; undefined if there is neither. */
function material(folder: string, inline: string | undefined, file: string | undefined): (() => Promise<Buffer>) | undefined {
  if (inline !== undefined && inline !== '') {
    const content = Buffer.from(inline, 'base64');
    return () => Promise.resolve(content);
  }
  return file === undefined || file === '' ? undefined : () => readFile(resolve(folder, file));
}
