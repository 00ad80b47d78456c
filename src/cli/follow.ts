import type { KubeObject, ResourceType } from '../kind/resource';
import { Cache, type CacheProblem } from '../runtime/cache';
import type { Client } from '../runtime/client';
import type { InformerEvent, InformerSelection } from '../runtime/informer';

/** A kind to follow, and what to do at each change. */
export interface Followed<T extends KubeObject> {
  readonly type: ResourceType;
  readonly selection: InformerSelection;
  /** Called for all that is there, then for all that happens. @returns true when enough is seen */
  readonly tell: (event: InformerEvent<T>) => boolean | void;
}

/** One thing to follow; keeps its type to itself. */
export function followed<T extends KubeObject>(what: Followed<T>): Followed<KubeObject> {
  return what as unknown as Followed<KubeObject>;
}

/**
 * Follows objects by watch, through broken connections, until one of the tellers has seen enough or the signal is aborted.
 *
 * @throws when the API server refuses from the start, for it won't change its mind: no such kind, no right
 */
export async function follow(client: Client, all: readonly Followed<KubeObject>[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const end = new AbortController();
  let failure: Error | undefined;
  const fail = ({ error }: CacheProblem) => {
    const status = (error as { status?: number }).status;
    if (status !== 403 && status !== 404 && status !== 401) return;
    failure = error as Error;
    end.abort();
  };
  const cache = new Cache(client, { onProblem: fail });
  for (const { type, selection, tell } of all) {
    cache.informer(type, selection).onEvent((event) => {
      if (!end.signal.aborted && tell(event) === true) end.abort();
    });
  }
  await cache.run(AbortSignal.any([end.signal, signal]));
  if (failure !== undefined) throw failure;
  if (!end.signal.aborted) signal.throwIfAborted();
}
