import { createSecureContext, type ConnectionOptions, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { ClusterAccess, Credential } from './cluster-access';

/** Whom to trust, and who we are. */
export type TlsOptions = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;

/**
 * What TLS needs to know about the other side and about us, as of now: certificates in files may have been renewed since
 * the last connection.
 */
export async function tlsOptions(access: ClusterAccess, credential: Credential): Promise<TlsOptions> {
  return {
    ca: await access.ca?.(),
    cert: credential.certificate,
    key: credential.key,
    rejectUnauthorized: access.insecureSkipTlsVerify !== true,
    ...(access.tlsServerName === undefined ? {} : { servername: access.tlsServerName }),
  };
}

/**
 * Opens connections for undici, each with the certificates of its moment. As long as these are the same, TLS sessions are
 * resumed; under another identity they never are.
 */
export function connectorFor(access: ClusterAccess, timeoutMs: number): buildConnector.connector {
  let last: { readonly tls: TlsOptions; readonly connect: buildConnector.connector } | undefined;
  return (target, callback) => {
    access.credentials
      .current()
      .then((credential) => tlsOptions(access, credential))
      .then((tls) => {
        // Certificates are parsed once, not for each of many connections.
        if (last === undefined || !sameIdentity(last.tls, tls)) last = { tls, connect: connectorWith(tls, timeoutMs) };
        return last;
      })
      .then(
        ({ tls, connect }) => connect({ ...target, servername: tls.servername ?? target.servername }, callback),
        (error: Error) => callback(error, null),
      );
  };
}

function connectorWith({ ca, cert, key, ...peer }: TlsOptions, timeoutMs: number): buildConnector.connector {
  return buildConnector({ ...peer, secureContext: parsed({ ca, cert, key }), timeout: timeoutMs, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS });
}

function parsed(certificates: Pick<TlsOptions, 'ca' | 'cert' | 'key'>): SecureContext {
  try {
    return createSecureContext(certificates);
  } catch (error) {
    throw new Error(`cannot read the certificates for it: ${(error as Error).message}`, { cause: error });
  }
}

/** After this much silence the kernel starts asking whether the other side is still there. */
const KEEP_ALIVE_PROBE_MS = 15_000;

function sameIdentity(a: TlsOptions, b: TlsOptions): boolean {
  return String(a.ca) === String(b.ca) && String(a.cert) === String(b.cert) && String(a.key) === String(b.key);
}
