import type { KubeObject, ResourceType } from '../kind/resource';
import type { Random } from './backoff';
import type { Client } from './client';
import type { Clock } from './clock';
import type { Informer, InformerSelection } from './informer';

export interface CacheOptions {
  /** Of `managedFields`, the entries of this manager are kept, and all others dropped. @default none is kept */
  readonly fieldManager?: string;
  /** Told of every list or watch that failed, and when it will be tried again. */
  readonly onProblem?: (problem: CacheProblem) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A list or watch that failed. */
export interface CacheProblem {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly error: unknown;
  /** When it is tried again, in milliseconds. */
  readonly retryInMs: number;
}

/** The informers of a process: those who ask for the same selection of the same kind share one. */
export class Cache {
  constructor(
    readonly client: Client,
    readonly options: CacheOptions = {},
  ) {}

  /** The informer for a selection; made at the first call, and started at once if the cache has been. */
  informer<T extends KubeObject>(_type: ResourceType, _selection?: InformerSelection): Informer<T> {
    throw new Error('unfinished');
  }

  /** Starts all informers, also those still to come, and runs them until the signal is aborted; resolves when all have stopped. */
  run(_signal: AbortSignal): Promise<void> {
    throw new Error('unfinished');
  }

  /** Whether the first list of every informer is complete. */
  get synced(): boolean {
    throw new Error('unfinished');
  }

  /** Resolves once the first list of every informer is complete. */
  waitForSync(_signal?: AbortSignal): Promise<void> {
    throw new Error('unfinished');
  }
}
