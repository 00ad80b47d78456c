import { keyText, type KubeObject, type ObjectKey, type ResourceType } from '../kind/resource';
import type { Random } from './backoff';
import type { Client } from './client';
import type { CancelTimer, Clock } from './clock';
import { indexes, type EventHandler, type IndexFunction, type Informer, type InformerEvent, type InformerSelection } from './informer';
import { labelSelector } from './label-selector';
import { Mirror, type Scope } from './mirror';
import { Reflector } from './reflector';
import { typeText } from './resource-path';

export interface SharedInformerOptions {
  readonly fieldManager?: string;
  readonly watchTimeoutSeconds: number;
  readonly onProblem: (namespace: Scope, error: unknown, retryInMs: number | undefined) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** The informer that the cache hands out: a mirror, one reflector per namespace, and those who listen. */
export class SharedInformer<T extends KubeObject> implements Informer<T> {
  private readonly mirror: Mirror<T>;
  private readonly handlers = new Set<EventHandler<T>>();
  private readonly unsynced: Set<Scope>;
  private readonly waiters = new Set<{ readonly isOver: () => boolean; readonly resolve: () => void }>();

  constructor(
    private readonly client: Pick<Client, 'pages' | 'watch'>,
    readonly type: ResourceType,
    readonly selection: InformerSelection,
    private readonly options: SharedInformerOptions,
  ) {
    this.unsynced = new Set(selection.namespaces ?? [undefined]);
    this.mirror = new Mirror<T>({
      fieldManager: options.fieldManager,
      belongs: membership(selection),
      scopeOf: ({ metadata }) => (selection.namespaces === undefined ? undefined : metadata.namespace),
      emit: (event) => this.emit(event),
    });
    this.mirror.store.addIndex(indexes.owner, ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []);
    if (type.namespaced) this.mirror.store.addIndex(indexes.namespace, ({ metadata }) => [metadata.namespace ?? '']);
  }

  get synced(): boolean {
    return this.unsynced.size === 0;
  }

  get size(): number {
    return this.mirror.store.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.mirror.store.get(keyText(key))?.object;
  }

  list(namespace?: string): T[] {
    return namespace === undefined ? this.mirror.store.list() : this.mirror.store.byIndex(indexes.namespace, namespace);
  }

  byIndex(index: string, value: string): T[] {
    return this.mirror.store.byIndex(index, value);
  }

  addIndex(name: string, values: IndexFunction<T>): void {
    if (!this.mirror.store.hasIndex(name)) this.mirror.store.addIndex(name, values);
  }

  onEvent(handler: EventHandler<T>, { resyncMs }: { readonly resyncMs?: number } = {}): () => void {
    for (const object of this.list()) this.tell(handler, { type: 'added', object });
    this.handlers.add(handler);
    const stopResync = resyncMs === undefined ? undefined : this.remind(handler, resyncMs);
    return () => {
      this.handlers.delete(handler);
      stopResync?.();
    };
  }

  async write(key: ObjectKey, origin: unknown, send: () => Promise<T>): Promise<T> {
    const claim = this.mirror.claim(key, origin);
    let written: T | undefined;
    try {
      written = await send();
      return written;
    } finally {
      this.mirror.settle(claim, written);
      this.wakeWaiters();
    }
  }

  async seen(written: KubeObject, signal?: AbortSignal): Promise<void> {
    const { namespaces } = this.selection;
    if (namespaces !== undefined && !namespaces.includes(written.metadata.namespace ?? '')) {
      throw new Error(`cannot wait for ${typeText(this.type)} ${keyText(written.metadata)}: this informer watches only ${namespaces.join(', ')}`);
    }
    await this.until(() => this.mirror.knows(written), signal);
  }

  async waitForSync(signal?: AbortSignal): Promise<void> {
    await this.until(() => this.synced, signal);
  }

  /** Lists and watches until the signal is aborted. To be called once. */
  async run(signal: AbortSignal): Promise<void> {
    const { labelSelector, fieldSelector } = this.selection;
    await Promise.all(
      [...this.unsynced].map(async (namespace) => {
        const reflector = new Reflector<T>(this.client, this.type, { namespace, labelSelector, fieldSelector }, this.mirror, {
          ...this.options,
          onProblem: (error, retryInMs) => this.options.onProblem(namespace, error, retryInMs),
          onProgress: () => this.wakeWaiters(),
        });
        await reflector.run(signal, () => {
          this.unsynced.delete(namespace);
          this.wakeWaiters();
        });
      }),
    );
  }

  private emit(event: InformerEvent<T>): void {
    for (const handler of this.handlers) this.tell(handler, event);
  }

  /** A handler that throws must not keep others from hearing, nor stop the watch. */
  private tell(handler: EventHandler<T>, event: InformerEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.options.onProblem(event.object.metadata.namespace, error, undefined);
    }
  }

  private remind(handler: EventHandler<T>, ms: number): CancelTimer {
    let cancel = this.options.clock.setTimer(ms, () => {
      for (const object of this.list()) this.tell(handler, { type: 'resynced', object });
      cancel = this.remind(handler, ms);
    });
    return () => cancel();
  }

  private until(isOver: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      if (isOver()) return resolve();
      const abort = (): void => {
        this.waiters.delete(waiter);
        reject(signal?.reason as Error);
      };
      const waiter = {
        isOver,
        resolve: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.waiters.add(waiter);
    });
  }

  private wakeWaiters(): void {
    for (const waiter of this.waiters) {
      if (!waiter.isOver()) continue;
      this.waiters.delete(waiter);
      waiter.resolve();
    }
  }
}

/** Which objects the API server would list, as far as we can tell ourselves: of fields it knows more than we do. */
function membership({ labelSelector: labels, fieldSelector, namespaces }: InformerSelection): (object: KubeObject) => boolean {
  if (fieldSelector !== undefined) return () => false;
  const matches = labelSelector(labels ?? '');
  const allowed = namespaces === undefined ? undefined : new Set(namespaces);
  return ({ metadata }) => matches(metadata.labels) && (allowed === undefined || allowed.has(metadata.namespace ?? ''));
}
