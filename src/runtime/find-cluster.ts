import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Clock } from './clock';
import type { ClusterAccess } from './cluster-access';
import { inCluster, isInCluster } from './in-cluster';
import { kubeconfig } from './kubeconfig';

/** Where to look for a cluster; all of it optional. */
export interface FindClusterOptions {
  /** Path of a kubeconfig. @default what is found (see `findCluster`) */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. @default its current one */
  readonly context?: string;
  /** @default the process's own environment */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
}

/**
 * The cluster to work on: a kubeconfig that is named; else those in KUBECONFIG; else, in a pod, its own cluster; else
 * ~/.kube/config.
 * @throws if there is none, or the one found is no good: a later place is never tried instead
 */
export async function findCluster(options: FindClusterOptions = {}): Promise<ClusterAccess> {
  const { context, env = process.env, clock } = options;
  if (options.kubeconfig !== undefined) return await kubeconfig({ files: [options.kubeconfig], context, env, clock });
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) return await kubeconfig({ files: listed, context, env, clock });
  // A context can only be meant of a kubeconfig, even in a pod.
  if (isInCluster(env) && context === undefined) return await inCluster({ env, clock });
  const usual = join(env.HOME ?? homedir(), '.kube', 'config');
  const isThere = await access(usual).then(() => true, () => false);
  if (!isThere) throw new Error(`no cluster to work on: no kubeconfig is named, KUBECONFIG is not set, this is no pod, and ${usual} does not exist`);
  return await kubeconfig({ files: [usual], context, env, clock });
}
