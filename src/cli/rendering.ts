import type { DatabaseObject } from '../api/database';
import type { KubeObject } from '../kind/resource';
import { ApiError } from '../runtime/api-error';
import type { ClientCalls } from '../runtime/fence';
import { LiveChildren } from './live-children';
import { masked } from './masked';
import type { Operator } from './operator-of';
import { Rehearsal } from './rehearsal';

/**
 * The children that a new database has once it runs, by the operator's own code. Only what the cluster alone knows is left
 * out: the passwords and the UID of the owner.
 */
export async function renderedChildren(database: DatabaseObject, options: { readonly operator: Operator; readonly signal: AbortSignal }): Promise<KubeObject[]> {
  const rehearsal = await Rehearsal.of(database, { ...options, client: emptyCluster, children: LiveChildren.none });
  return (await rehearsal.children()).map(({ child }) => masked(child));
}

/** Stands for a cluster in which there is nothing yet: a rehearsal asks it for single objects and for nothing else. */
const emptyCluster = {
  get: (type: { plural: string }, { name }: { name: string }) => Promise.reject(new ApiError({ method: 'GET', path: `${type.plural}/${name}` }, 404, { reason: 'NotFound' })),
} as Partial<ClientCalls> as ClientCalls;
