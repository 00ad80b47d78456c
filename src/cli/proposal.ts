import type { Database, DatabaseObject } from '../api/database';
import type { KubeObject } from '../kind/resource';
import { isNotFound } from '../runtime/api-error';
import type { Client } from '../runtime/client';
import { Failure } from './failure';

/** A Database as it is and as it would be if a file were applied. */
export interface Proposal {
  readonly live?: DatabaseObject;
  readonly proposed: DatabaseObject;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Asks the API server what would come of applying an object, and keeps nothing: it fills in defaults, merges what others have
 * set, and refuses what it would refuse (a volume that shrinks, another engine) in its own words.
 * @param written the spec as the file has it, without defaults
 */
export async function propose(client: Client, kind: typeof Database, database: DatabaseObject, written: object, signal: AbortSignal): Promise<Proposal> {
  const { name, namespace } = database.metadata;
  const wish = { ...database, spec: written } as KubeObject;
  const live = await client.get<DatabaseObject>(kind, { name, namespace }, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (live === undefined) return { proposed: (await client.create(kind, wish, { dryRun: true, signal })) as DatabaseObject };
  if (live.metadata.deletionTimestamp !== undefined) throw new Failure(`Database ${namespace}/${name} is being deleted since ${live.metadata.deletionTimestamp}; it can be made again when it is gone`);
  const before = live.metadata.annotations?.[LAST_APPLIED];
  const proposed =
    before === undefined
      ? await client.apply<DatabaseObject>(kind, wish, { fieldManager: applierOf(live), force: true, dryRun: true, signal })
      : await client.patch<DatabaseObject>(kind, { name, namespace }, { spec: mergePatch((JSON.parse(before) as { spec?: object }).spec ?? {}, written) }, { dryRun: true, signal });
  return { live, proposed };
}

/** Whoever has applied the object by server-side apply, and would do so again; else kubectl. */
function applierOf({ metadata: { managedFields = [] } }: KubeObject): string {
  const applied = managedFields.find(({ operation, subresource, manager }) => operation === 'Apply' && !subresource && manager !== 'dbop');
  return applied?.manager ?? 'kubectl';
}

/** As `kubectl apply` does: what the file has is set, what it had the last time and has no longer goes, all else stays. */
export function mergePatch(before: object, after: object): Record<string, unknown> {
  const gone = Object.keys(before).filter((name) => !(name in after)).map((name) => [name, null]);
  const set = Object.entries(after).map(([name, value]) => {
    const old = (before as Record<string, unknown>)[name];
    return [name, isMap(value) ? mergePatch(isMap(old) ? old : {}, value) : value];
  });
  return Object.fromEntries([...gone, ...set]) as Record<string, unknown>;
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
