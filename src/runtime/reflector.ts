import type { KubeObject, ResourceType } from '../kind/resource';
import { ApiError, isGone } from './api-error';
import { Backoff, type BackoffOptions, type Random } from './backoff';
import type { Client } from './client';
import type { Selection } from './client-options';
import type { Clock } from './clock';
import type { Mirror } from './mirror';

export interface ReflectorOptions {
  /** For how long the API server is asked to keep a watch, in seconds; up to a quarter more, so that not all end together. */
  readonly watchTimeoutSeconds: number;
  /** Told of every failure, and when it will be tried again. */
  readonly onProblem: (error: unknown, retryInMs: number) => void;
  /** The mirror knows more than before. */
  readonly onProgress: () => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** What a reflector does next. */
type State =
  /** Reads everything, and thereby learns where to watch from. */
  | { readonly phase: 'list' }
  /** Follows what happens after a version. Fresh: nothing has been told since the list. */
  | { readonly phase: 'watch'; readonly from: string; readonly fresh: boolean }
  /** Something failed: waits before it goes on. */
  | { readonly phase: 'wait'; readonly error: unknown; readonly ms: number; readonly then: State };

const BACKOFF: BackoffOptions = { initialMs: 800, maxMs: 30_000, jitter: 0.5 };
/** How much longer than agreed a watch may stay open before it counts as dead. */
const OVERTIME_MS = 15_000;
/** A watch that ends sooner than this without having told anything is a failure, whatever the API server calls it. */
const SHORTEST_WATCH_MS = 1_000;

/**
 * Keeps a mirror true for one namespace, or for all: lists, watches from where the list ended, and goes on from where a
 * watch broke off. Gives up only when its signal is aborted.
 */
export class Reflector<T extends KubeObject> {
  private readonly backoff: Backoff;

  constructor(
    private readonly client: Pick<Client, 'pages' | 'watch'>,
    private readonly type: ResourceType,
    private readonly selection: Selection,
    private readonly mirror: Mirror<T>,
    private readonly options: ReflectorOptions,
  ) {
    this.backoff = new Backoff(BACKOFF, options.random);
  }

  /** Resolves when the signal is aborted. @param onSynced called when the first list is complete */
  async run(signal: AbortSignal, onSynced: () => void): Promise<void> {
    let state: State = { phase: 'list' };
    let synced = false;
    while (!signal.aborted) {
      const next = await this.step(state, signal);
      if (state.phase === 'list' && next.phase === 'watch' && !synced) {
        synced = true;
        onSynced();
      }
      state = next;
    }
  }

  private async step(state: State, signal: AbortSignal): Promise<State> {
    switch (state.phase) {
      case 'list':
        return await this.list(signal);
      case 'watch':
        return await this.watch(state, signal);
      case 'wait':
        if (!signal.aborted) this.options.onProblem(state.error, state.ms);
        await this.options.clock.sleep(state.ms, signal).catch(() => {});
        return state.then;
    }
  }

  private async list(signal: AbortSignal): Promise<State> {
    const { namespace } = this.selection;
    let version: string | undefined;
    try {
      for await (const page of this.client.pages<T>(this.type, { ...this.selection, signal })) {
        if (version === undefined) this.mirror.beginList(namespace, page.resourceVersion);
        version = page.resourceVersion;
        this.mirror.listed(namespace, page.items);
      }
    } catch (error) {
      return this.waitAfter(error, { phase: 'list' });
    }
    this.mirror.endList(namespace);
    this.options.onProgress();
    return { phase: 'watch', from: version ?? '', fresh: true };
  }

  private async watch(state: State & { phase: 'watch' }, signal: AbortSignal): Promise<State> {
    const { clock, random, watchTimeoutSeconds } = this.options;
    const { namespace } = this.selection;
    const timeoutSeconds = Math.ceil(watchTimeoutSeconds * (1 + 0.25 * random()));
    const end = new AbortController();
    const stop = (): void => end.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const cancelDeadline = clock.setTimer(timeoutSeconds * 1000 + OVERTIME_MS, () => end.abort(new SilentWatch(timeoutSeconds)));
    const started = clock.monotonic();
    let { from, fresh } = state;
    try {
      for await (const event of this.client.watch<T>(this.type, { ...this.selection, resourceVersion: from, timeoutSeconds, signal: end.signal })) {
        this.mirror.watched(namespace, event);
        this.options.onProgress();
        from = event.object.metadata.resourceVersion ?? from;
        if (fresh) this.backoff.reset();
        fresh = false;
      }
    } catch (error) {
      // A watch that held so long was healthy, however it ended.
      if (clock.monotonic() - started >= BACKOFF.maxMs) this.backoff.reset();
      return this.afterBrokenWatch(error, { phase: 'watch', from, fresh });
    } finally {
      cancelDeadline();
      signal.removeEventListener('abort', stop);
    }
    if (clock.monotonic() - started < SHORTEST_WATCH_MS && from === state.from) {
      return this.waitAfter(new Error(`the watch of ${this.type.plural} ended as soon as it began`), { phase: 'watch', from, fresh });
    }
    this.backoff.reset();
    return { phase: 'watch', from, fresh };
  }

  private afterBrokenWatch(error: unknown, watch: State & { phase: 'watch' }): State {
    if (error instanceof SilentWatch) {
      this.options.onProblem(error, 0);
      return watch;
    }
    // A version that is too old right after it was listed would be so again: no use in hurrying.
    if (isGone(error) && !watch.fresh) return { phase: 'list' };
    return this.waitAfter(error, isTransient(error) ? watch : { phase: 'list' });
  }

  private waitAfter(error: unknown, then: State): State {
    const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    return { phase: 'wait', error, ms: Math.max(this.backoff.next(), asked), then };
  }
}

/** Whether the same watch may work later. If not, only a list can tell where to watch from. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  if (error.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')) return false;
  return error.status === 429 || error.status >= 500;
}

class SilentWatch extends Error {
  constructor(timeoutSeconds: number) {
    super(`the API server should have ended the watch after ${timeoutSeconds} s and did not: the connection is taken for dead`);
  }
}
