import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { decoded, type Secret } from '../accounts';
import { certificatesIn, type GivenCertificate } from './certificate';

const KEYS = ['tls.crt', 'tls.key', 'ca.crt'] as const;

/**
 * Reads a Secret of type kubernetes.io/tls and tries whether a server with it would be believed: clients that verify would
 * all fail at once if it weren't.
 * @param host name by which the server is reached
 */
export function givenCertificate(name: string, secret: Secret | undefined, host: string, now: Date): GivenCertificate {
  const unusable = (why: string): GivenCertificate => ({ kind: 'unusable', why: `Secret ${name} ${why}` });
  if (secret === undefined) return unusable(`does not exist; create it with the keys ${KEYS.join(', ')}, as cert-manager does`);
  const missing = KEYS.filter((key) => !decoded(secret, key));
  if (missing.length > 0) return unusable(`has no ${missing.join(' and no ')}; add ${missing.length === 1 ? 'the key' : 'the keys'}`);
  const [certificate, key, authority] = KEYS.map((each) => decoded(secret, each)!) as [string, string, string];
  const [server, ...between] = parsed(certificate);
  const authorities = parsed(authority);
  const privateKey = parsedKey(key);
  if (server === undefined) return unusable('has no PEM certificate in tls.crt; write the server’s certificate there, then those between it and the authority');
  if (authorities.length === 0) return unusable('has no PEM certificate in ca.crt; write the authority’s certificate there');
  if (privateKey === undefined) return unusable('has no PEM private key without a passphrase in tls.key; write it there');
  if (!server.checkPrivateKey(privateKey)) return unusable('has a tls.key that does not belong to its tls.crt; write both from the same request');
  if (server.checkHost(host) === undefined) return unusable(`has a certificate for ${server.subjectAltName ?? 'no name'}, which must also name DNS:${host}`);
  if (Date.parse(server.validTo) <= now.getTime()) return unusable(`has a certificate that ended on ${server.validTo}; renew it`);
  if (Date.parse(server.validFrom) > now.getTime()) return unusable(`has a certificate that begins on ${server.validFrom}; take one that is valid now`);
  if (!leadsTo(server, between, authorities)) return unusable('has a tls.crt that its ca.crt did not sign; write the authority that did, and in tls.crt those between');
  return { kind: 'usable', server: { certificate, key }, authority };
}

/** Whether a chain of signatures leads from a certificate to one of the authorities. */
function leadsTo(certificate: X509Certificate, between: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  const signed = (issuer: X509Certificate) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  if (authorities.some(signed)) return true;
  const next = between.find(signed);
  return next !== undefined && leadsTo(next, between.filter((other) => other !== next), authorities);
}

function parsed(pem: string): X509Certificate[] {
  try {
    return certificatesIn(pem).map((each) => new X509Certificate(each));
  } catch {
    return [];
  }
}

function parsedKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
