import { builtin } from '../../kind/resource';
import { decoded, encoded, type Secret } from '../accounts';
import type { Pass } from '../life';
import { serviceHost, type DatabasePlan } from '../plan';
import { isStale, makeAuthority, makeServerCertificate, type KeyedCertificate } from './certificate';

/** By what a server proves who it is. */
export interface ServerIdentity {
  readonly authority: KeyedCertificate;
  readonly server: KeyedCertificate;
}

/** Names of the two Secrets: the authority's key is never mounted into a pod. */
export function identityNames(plan: DatabasePlan): { readonly authority: string; readonly server: string } {
  return { authority: `${plan.server.name}-ca`, server: `${plan.server.name}-tls` };
}

/** The identity that stands in the Secrets, made anew where it is missing, stale or for other names. */
export function serverIdentity({ context, plan }: Pass): ServerIdentity {
  const now = new Date(context.clock.now());
  const secrets = context.read<Secret>(builtin.Secret);
  const names = identityNames(plan);
  const authority = read(secrets.get(names.authority)) ?? makeAuthority(`${plan.server.name}.${plan.server.namespace}`, now);
  const before = read(secrets.get(names.server));
  const hosts = hostsOf(plan);
  const server = before !== undefined && !isStale(before.certificate, authority.certificate, hosts, now) ? before : makeServerCertificate(authority, hosts, now);
  return { authority, server };
}

/** What the two Secrets hold. */
export function identityData({ authority, server }: ServerIdentity): { readonly authority: Record<string, string>; readonly server: Record<string, string> } {
  const keyed = ({ certificate, key }: KeyedCertificate) => ({ 'tls.crt': encoded(certificate), 'tls.key': encoded(key) });
  return { authority: keyed(authority), server: { ...keyed(server), 'ca.crt': encoded(authority.certificate) } };
}

function hostsOf(plan: DatabasePlan): string[] {
  const { service, headlessService } = plan.names;
  const { namespace } = plan.server;
  return [serviceHost(plan), service, `${service}.${namespace}`, `${service}.${namespace}.svc.cluster.local`, `*.${headlessService}.${namespace}.svc`, `*.${headlessService}.${namespace}.svc.cluster.local`];
}

function read(secret: Secret | undefined): KeyedCertificate | undefined {
  const certificate = secret && decoded(secret, 'tls.crt');
  const key = secret && decoded(secret, 'tls.key');
  return certificate && key ? { certificate, key } : undefined;
}
