import { setMaxListeners } from 'node:events';
import { apiVersionOf, type KubeObject, type ResourceType } from '../kind/resource';
import type { Random } from './backoff';
import type { Client } from './client';
import { systemClock, type Clock } from './clock';
import type { Informer, InformerSelection } from './informer';
import { typeText } from './resource-path';
import { SharedInformer } from './shared-informer';

/** How a cache behaves; all of it optional. */
export interface CacheOptions {
  /** Of `managedFields`, the entries of this manager are kept, and all others dropped. @default none is kept */
  readonly fieldManager?: string;
  /**
   * After how many seconds (and up to a quarter more) the API server ends a watch and we begin the next where it ended: so
   * long may a connection that died without a word go unnoticed. @default 240
   */
  readonly watchTimeoutSeconds?: number;
  /** Told of every list or watch that failed, and of every event handler that threw. Must not throw. */
  readonly onProblem?: (problem: CacheProblem) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A list or watch that failed, or a handler that threw. */
export interface CacheProblem {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly error: unknown;
  /** When it is tried again, in milliseconds; undefined if an event handler threw, which is not called again. */
  readonly retryInMs?: number;
}

/** The informers of a process: those who ask for the same selection of the same kind share one. */
export class Cache {
  private readonly informers = new Map<string, SharedInformer<KubeObject>>();
  private start?: (informer: SharedInformer<KubeObject>) => void;

  constructor(
    private readonly client: Pick<Client, 'pages' | 'watch'>,
    private readonly options: CacheOptions = {},
  ) {}

  /**
   * The informer for a selection; made at the first call, and started at once if the cache runs.
   * @throws if namespaces are named for a cluster-scoped kind, or none is left
   */
  informer<T extends KubeObject>(type: ResourceType, selection: InformerSelection = {}): Informer<T> {
    const { labelSelector, fieldSelector } = selection;
    const namespaces = checkedNamespaces(type, selection.namespaces);
    const id = JSON.stringify([apiVersionOf(type), type.plural, labelSelector, fieldSelector, namespaces]);
    let informer = this.informers.get(id);
    if (informer === undefined) {
      informer = this.create(type, { labelSelector, fieldSelector, namespaces });
      this.informers.set(id, informer);
      this.start?.(informer);
    }
    // What a type's objects look like is the caller's knowledge: the cache holds JSON.
    return informer as unknown as Informer<T>;
  }

  /** Whether the first list of every informer is complete. */
  get synced(): boolean {
    return [...this.informers.values()].every((informer) => informer.synced);
  }

  /** Resolves once the first list of every informer is complete. */
  async waitForSync(signal?: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.informers.values(), (informer) => informer.waitForSync(signal)));
  }

  /** Runs all informers, also those still to come, until the signal is aborted; resolves when all have stopped. To be called once. */
  async run(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    // Every informer listens to it; Node would take more than ten for a leak.
    setMaxListeners(0, signal);
    await new Promise<void>((resolve, reject) => {
      this.start = (informer) => {
        const run = informer.run(signal);
        run.catch(reject);
        running.push(run);
      };
      for (const informer of this.informers.values()) this.start(informer);
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.all(running);
  }

  private create(type: ResourceType, selection: InformerSelection): SharedInformer<KubeObject> {
    const { fieldManager, watchTimeoutSeconds = 240, onProblem, clock = systemClock, random = Math.random } = this.options;
    return new SharedInformer<KubeObject>(this.client, type, selection, {
      fieldManager,
      watchTimeoutSeconds,
      onProblem: (namespace, error, retryInMs) => onProblem?.({ type, namespace, error, retryInMs }),
      clock,
      random,
    });
  }
}

function checkedNamespaces(type: ResourceType, namespaces: readonly string[] | undefined): readonly string[] | undefined {
  if (namespaces === undefined) return undefined;
  if (!type.namespaced) throw new Error(`${typeText(type)} is cluster-scoped and can't be watched in namespaces (${namespaces.join(', ')}); leave them out`);
  if (namespaces.length === 0) throw new Error(`${typeText(type)} can't be watched in an empty list of namespaces; leave the list out to watch all`);
  return [...new Set(namespaces)].sort();
}
