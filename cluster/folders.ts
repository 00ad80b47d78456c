import { homedir } from 'node:os';
import { join } from 'node:path';

const product = 'cdk8s-database-operator';

/**
 * Where the things that can be built again rest: programs, packages and images, each under its version or the
 * hash of what it was made from. Deleting the folder costs time and nothing else.
 */
export function cacheFolder(...parts: string[]): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), product, ...parts);
}

/** Where clusters live, one folder each: keys, data, logs, volumes. `down` deletes the cluster's folder. */
export function clustersFolder(...parts: string[]): string {
  return join(process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), product, 'clusters', ...parts);
}

/** A folder of this test bed's own sources. */
export function sourceFolder(...parts: string[]): string {
  return join(__dirname, ...parts);
}
