import { execFile } from 'node:child_process';
import { isAbsolute, resolve } from 'node:path';
import type { Clock } from './clock';
import type { Credential, Credentials } from './cluster-access';

/** The `exec` section of a kubeconfig user. */
export interface ExecPluginConfig {
  readonly apiVersion?: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly interactiveMode?: string;
  readonly provideClusterInfo?: boolean;
}

/** What an ExecCredential says of the cluster, for plugins that want to know. */
export interface ExecClusterInfo {
  readonly server: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
}

/** The versions of the protocol that are still in use; they differ in nothing that we use. */
const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
/** So long before it expires a credential is replaced, so that none expires on its way. */
const LEEWAY_MS = 10_000;
/** A plugin may ask a cloud, but must not hang. */
const TIMEOUT_MS = 60_000;

/** Credentials from a program, as cloud providers use it; run once, and again when what it gave expires or is refused. */
export class ExecPlugin implements Credentials {
  private latest?: Promise<Issued>;
  private expires = Infinity;

  constructor(
    private readonly config: ExecPluginConfig,
    private readonly context: {
      /** Folder of the kubeconfig, from which a relative path counts. */
      readonly folder: string;
      readonly cluster: ExecClusterInfo;
      readonly env: Readonly<Record<string, string | undefined>>;
      readonly clock: Clock;
    },
  ) {
    const { apiVersion, command, interactiveMode } = config;
    if (apiVersion === undefined || !API_VERSIONS.includes(apiVersion)) {
      throw new Error(`credential plugin ${command}: apiVersion (${apiVersion ?? 'none'}) is not known; ${API_VERSIONS.join(' and ')} are`);
    }
    if (interactiveMode === 'Always') {
      throw new Error(`credential plugin ${command}: interactiveMode is Always, but an operator has no terminal to type at; use other credentials`);
    }
  }

  async current(): Promise<Credential> {
    if (this.latest === undefined || this.context.clock.now() >= this.expires - LEEWAY_MS) {
      this.expires = Infinity;
      this.latest = this.run();
    }
    const running = this.latest;
    try {
      const { credential, expires } = await running;
      if (this.latest === running) this.expires = expires;
      return credential;
    } catch (error) {
      if (this.latest === running) this.latest = undefined;
      throw error;
    }
  }

  refused(): void {
    this.latest = undefined;
  }

  private async run(): Promise<Issued> {
    const { command, args, env: more, apiVersion, provideClusterInfo, installHint } = this.config;
    const { folder, cluster, env, clock } = this.context;
    const program = /[\\/]/.test(command) && !isAbsolute(command) ? resolve(folder, command) : command;
    const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...(provideClusterInfo === true ? { cluster } : {}) } };
    const added = Object.fromEntries((more ?? []).map(({ name, value }) => [name, value]));
    const output = await execute(program, args ?? [], { ...env, ...added, KUBERNETES_EXEC_INFO: JSON.stringify(info) }, installHint);
    return parse(command, output, apiVersion, clock);
  }
}

interface Issued {
  readonly credential: Credential;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

function execute(program: string, args: readonly string[], env: NodeJS.ProcessEnv, installHint: string | undefined): Promise<string> {
  return new Promise((done, fail) => {
    execFile(program, args, { env, timeout: TIMEOUT_MS, maxBuffer: 1 << 20 }, (error, stdout, stderr) => {
      if (error === null) return done(stdout);
      // Node's own message repeats the arguments, which may be nobody's business.
      const code = error.code === 'ENOENT' ? 'there is no such program' : error.killed === true ? `no answer within ${TIMEOUT_MS / 1000} s` : `it ended with ${error.code ?? error.signal}`;
      const said = stderr.trim() === '' ? '' : `: ${stderr.trim().slice(0, 500)}`;
      fail(new Error(`credential plugin ${program}: ${code}${said}${error.code === 'ENOENT' && installHint !== undefined ? `; ${installHint.trim()}` : ''}`));
    }).stdin?.end();
  });
}

interface ExecCredential {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly status?: { readonly token?: string; readonly clientCertificateData?: string; readonly clientKeyData?: string; readonly expirationTimestamp?: string };
}

function parse(command: string, output: string, apiVersion: string | undefined, clock: Clock): Issued {
  let answer: ExecCredential;
  try {
    answer = JSON.parse(output) as ExecCredential;
  } catch {
    // The output is left out on purpose: it may hold a token.
    throw new Error(`credential plugin ${command}: its output is not JSON; it must print an ExecCredential`);
  }
  if (answer.kind !== 'ExecCredential' || answer.apiVersion !== apiVersion) {
    throw new Error(`credential plugin ${command}: it printed ${answer.kind ?? 'no kind'} (${answer.apiVersion ?? 'no apiVersion'}); an ExecCredential (${apiVersion}) was asked for`);
  }
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
  if (token === undefined && certificate === undefined) {
    throw new Error(`credential plugin ${command}: it gave neither a token nor a client certificate`);
  }
  const expires = expirationTimestamp === undefined ? Infinity : Date.parse(expirationTimestamp);
  if (Number.isNaN(expires)) throw new Error(`credential plugin ${command}: 'expirationTimestamp' (${expirationTimestamp}) is no RFC 3339 time`);
  if (expires <= clock.now()) throw new Error(`credential plugin ${command}: what it gave expired at ${expirationTimestamp}; log in again, or check the clock`);
  return { credential: { token, certificate, key }, expires };
}
