import { builtin } from '../../kind/resource';
import { decoded, encoded, type Secret } from '../accounts';
import type { Pass } from '../life';
import { serviceHost, type DatabasePlan } from '../plan';
import { certificatesIn, fingerprintOf, isOld, isStale, makeAuthority, makeServerCertificate, type GivenCertificate, type KeyedCertificate } from './certificate';

/** An authority of our own. */
interface Authority extends KeyedCertificate {
  /** The one before, while the server's certificate is still of its signing. */
  readonly former?: string;
}

/** By what a server proves who it is, and by what everybody else verifies that. */
export interface ServerIdentity {
  readonly server: KeyedCertificate;
  /** PEM of every authority that the certificate which the server shows may come from. */
  readonly trust: string;
  /** Undefined where the certificate comes from a Secret of the user's. */
  readonly authority?: Authority;
}

/** What an identity is chosen from. */
export interface IdentityFacts {
  readonly authority?: Authority;
  readonly before?: Pick<ServerIdentity, 'server' | 'trust'>;
  readonly given?: GivenCertificate;
  /** Fingerprint of the certificate that the running server shows. */
  readonly shown?: string;
}

/** Names of the two Secrets: the authority's key is never mounted into a pod. */
export function identityNames(plan: DatabasePlan): { readonly authority: string; readonly server: string } {
  return { authority: `${plan.server.name}-ca`, server: `${plan.server.name}-tls` };
}

/** The identity that this pass wants the server to have. */
export function serverIdentity({ context, plan, facts }: Pass): ServerIdentity {
  const secrets = context.read<Secret>(builtin.Secret);
  const names = identityNames(plan);
  const shown = facts.server?.kind === 'answers' ? facts.server.certificate : undefined;
  const seen = { authority: readAuthority(secrets.get(names.authority)), before: readIdentity(secrets.get(names.server)), given: facts.certificate, shown };
  return chosenIdentity(seen, { name: `${plan.server.name}.${plan.server.namespace}`, hosts: hostsOf(plan) }, new Date(context.clock.now()));
}

/**
 * Chooses what the server proves itself by: the given certificate, or one of our own authority, made anew where it is missing, stale or
 * for other names.
 *
 * Guarantees: a certificate that can't be taken changes nothing. Whatever the server shows is trusted: authorities go out of `trust` only once
 * it has shown a certificate of the others. A new authority of ours is trusted at once, and signs from the next renewal on: by then everybody
 * has read it.
 */
export function chosenIdentity(seen: IdentityFacts, of: { readonly name: string; readonly hosts: readonly string[] }, now: Date): ServerIdentity {
  const { given, before } = seen;
  if (given?.kind === 'usable') return { server: given.server, trust: trust(seen, given.server, [given.authority]) };
  if (given !== undefined && before !== undefined && seen.authority === undefined) return before;
  const authority = currentAuthority(seen.authority, of.name, now);
  const issuers = [authority.certificate, ...(authority.former === undefined ? [] : [authority.former])];
  const server = before !== undefined && !isStale(before.server.certificate, issuers, of.hosts, now) ? before.server : makeServerCertificate(authority, of.hosts, now);
  const { former, ...own } = authority;
  const needsFormer = former !== undefined && isStale(server.certificate, [own.certificate], of.hosts, now);
  return { server, authority: needsFormer ? authority : own, trust: trust(seen, server, needsFormer ? issuers : [own.certificate]) };
}

/** What the two Secrets hold; of the authority's, nothing where it isn't ours. */
export function identityData({ authority, server, trust: trusted }: ServerIdentity): { readonly authority?: Record<string, string>; readonly server: Record<string, string> } {
  const keyed = ({ certificate, key }: KeyedCertificate) => ({ 'tls.crt': encoded(certificate), 'tls.key': encoded(key) });
  return {
    authority: authority && { ...keyed(authority), ...(authority.former !== undefined && { 'former.crt': encoded(authority.former) }) },
    server: { ...keyed(server), 'ca.crt': encoded(trusted) },
  };
}

/** Past two thirds of its life an authority is followed by a new one. */
function currentAuthority(seen: Authority | undefined, name: string, now: Date): Authority {
  if (seen === undefined) return makeAuthority(name, now);
  return isOld(seen.certificate, now) ? { ...makeAuthority(name, now), former: seen.certificate } : seen;
}

function trust({ before, shown }: IdentityFacts, server: KeyedCertificate, authorities: readonly string[]): string {
  const stillShown = before === undefined || shown === fingerprintOf(server.certificate) ? [] : [before.trust];
  return [...new Set([...authorities, ...stillShown].flatMap(certificatesIn))].join('');
}

function hostsOf(plan: DatabasePlan): string[] {
  const { service, headlessService } = plan.names;
  const { namespace } = plan.server;
  return [serviceHost(plan), service, `${service}.${namespace}`, `${service}.${namespace}.svc.cluster.local`, `*.${headlessService}.${namespace}.svc`, `*.${headlessService}.${namespace}.svc.cluster.local`];
}

function readAuthority(secret: Secret | undefined): Authority | undefined {
  const keyed = secret && readKeyed(secret);
  const former = secret && decoded(secret, 'former.crt');
  return keyed && { ...keyed, ...(former && { former }) };
}

function readIdentity(secret: Secret | undefined): IdentityFacts['before'] {
  const server = secret && readKeyed(secret);
  const trusted = secret && decoded(secret, 'ca.crt');
  return server && trusted ? { server, trust: trusted } : undefined;
}

function readKeyed(secret: Secret): KeyedCertificate | undefined {
  const [certificate, key] = [decoded(secret, 'tls.crt'), decoded(secret, 'tls.key')];
  return certificate && key ? { certificate, key } : undefined;
}
