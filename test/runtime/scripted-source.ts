import type { KubeObject, ResourceType } from '../../src/kind/resource';
import { ApiError } from '../../src/runtime/api-error';
import type { Client, ListOptions, ObjectList, WatchEvent, WatchOptions } from '../../src/runtime/client';

/** What a watch does: tells events in turn; an error is thrown; a function is waited for; 'hang' waits until it is aborted; then it ends. */
export type Script = (WatchEvent<KubeObject> | Error | (() => Promise<void>) | 'hang')[];

/**
 * Stands in for a client where the test must decide what each list and watch does, to the order of events: the real API
 * server's side of this is in cache.control-plane.test.ts.
 */
export class ScriptedSource implements Pick<Client, 'pages' | 'watch'> {
  /** `list`, or `watch` with the version it begins after. */
  readonly calls: string[] = [];
  readonly timeouts: (number | undefined)[] = [];

  constructor(
    private readonly lists: (ObjectList<KubeObject>[] | Error)[],
    readonly watches: Script[],
  ) {}

  async *pages<T extends KubeObject>(_type: ResourceType, { namespace, signal }: ListOptions = {}): AsyncGenerator<ObjectList<T>, void, undefined> {
    this.calls.push(namespace === undefined ? 'list' : `list ${namespace}`);
    signal?.throwIfAborted();
    const next = this.lists.shift();
    if (next === undefined) return await forever(signal);
    if (next instanceof Error) throw next;
    yield* next as ObjectList<T>[];
  }

  async *watch<T extends KubeObject>(_type: ResourceType, { resourceVersion, timeoutSeconds, signal }: WatchOptions): AsyncGenerator<WatchEvent<T>, void, undefined> {
    this.calls.push(`watch ${resourceVersion}`);
    this.timeouts.push(timeoutSeconds);
    for (const next of this.watches.shift() ?? (['hang'] as const)) {
      if (next === 'hang') await forever(signal);
      else if (next instanceof Error) throw next;
      else if (typeof next === 'function') await next();
      else yield next as WatchEvent<T>;
    }
  }
}

export const configMap = (name: string, version: number, namespace = 'shop'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, uid: `uid-${name}`, resourceVersion: String(version) },
});

export const page = (version: number, ...items: KubeObject[]): ObjectList<KubeObject> => ({ items, resourceVersion: String(version) });
export const modified = (name: string, version: number): WatchEvent<KubeObject> => ({ type: 'MODIFIED', object: configMap(name, version) });
export const bookmark = (version: number): WatchEvent<KubeObject> => ({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } });
export const refusal = (status: number, retryAfterSeconds?: number): ApiError => new ApiError({ method: 'GET', path: '/x' }, status, {}, retryAfterSeconds);

function forever(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
}
