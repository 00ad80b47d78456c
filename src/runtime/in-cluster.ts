import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, type Clock } from './clock';
import type { ClusterAccess } from './cluster-access';
import { TokenFile } from './token-file';

/** Where the kubelet puts what a pod needs to speak to the API server. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  /** Where KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT stand. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @default where the kubelet mounts it */
  readonly folder?: string;
  readonly clock?: Clock;
}

/** Whether we run in a pod. */
export function isInCluster(env: InClusterOptions['env']): boolean {
  return env.KUBERNETES_SERVICE_HOST !== undefined && env.KUBERNETES_SERVICE_HOST !== '';
}

/**
 * The cluster that this pod runs in, as its service account.
 *
 * Guarantees: token and certificate authority are read anew as they are renewed.
 * @throws if this is no pod, or one without a service account token
 */
export async function inCluster({ env, folder = SERVICE_ACCOUNT, clock = systemClock }: InClusterOptions): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (host === undefined || host === '' || port === undefined || port === '') {
    throw new Error('not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; name a kubeconfig instead');
  }
  const credentials = new TokenFile(join(folder, 'token'), clock);
  await credentials.current();
  return {
    source: `the service account of this pod (${folder})`,
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: await readFile(join(folder, 'namespace'), 'utf8').then((text) => text.trim(), () => 'default'),
    ca: () => readFile(join(folder, 'ca.crt')),
    credentials,
  };
}
