import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { keyOf, keyText, type KubeObject, type ObjectKey } from '../kind/resource';
import { ApiError, TransportError } from './api-error';
import { keepSettled } from './apply';
import { nameOf, type Controller } from './controller';
import type { Environment } from './environment';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizer';
import type { InformerEvent } from './informer';
import { ownerLabel } from './manifest';
import { resultOf, type PassResult } from './metrics';
import { done, stuck, Terminal, wait, type Outcome } from './outcome';
import { PassContext } from './pass-context';
import { Queue } from './queue';
import { Reporter } from './report';
import { isSignificant } from './significance';
import { Views } from './views';

/** When an object that is stuck is looked at again, in case something changed of which no event tells. */
const STUCK_RECHECK_MS = 5 * 60_000;

/** A failure that may be over in a moment is told in the status only when it has come so often in a row. */
const TOLD_AFTER = 3;

/** One controller at work, from gaining the lead to losing it. Also the mark on events that its own writes bring about. */
export class ControllerRun {
  private readonly name: string;
  private readonly log: Logger;
  private readonly views: Views;
  private readonly queue: Queue;
  private readonly reporter: Reporter;
  /** Passes under way: when each began, and how to end it. */
  private readonly running = new Set<{ readonly since: number; readonly ending: AbortController }>();

  constructor(
    private readonly controller: Controller,
    private readonly environment: Environment,
  ) {
    this.name = nameOf(controller);
    this.log = environment.log.child({ controller: this.name, kind: controller.kind.kind });
    this.views = new Views(controller, environment);
    this.queue = new Queue({ backoff: controller.backoff, clock: environment.clock, observer: environment.metrics.queueObserver(this.name) });
    this.reporter = new Reporter(controller, environment, this.views.objects, this);
  }

  /**
   * Works until `stop` is aborted; resolves when the last pass has ended.
   * @param fence once aborted, passes under way are to end at once
   */
  async run(stop: AbortSignal, fence: AbortSignal): Promise<void> {
    const { concurrency = 8 } = this.controller;
    try {
      await this.views.waitForSync(stop);
    } catch (error) {
      if (stop.aborted) return;
      throw error;
    }
    this.environment.metrics.started(this.name, concurrency, () => this.longestMs());
    const endPasses = (): void => this.running.forEach(({ ending }) => ending.abort(fence.reason));
    fence.addEventListener('abort', endPasses, { once: true });
    const subscriptions = [
      this.views.objects.onEvent((event) => this.onObject(event)),
      ...[...this.views.owned.values()].map((informer) => informer.onEvent((event) => this.onChild(event))),
      ...[...this.views.watched.values()].map((informer) => informer.onEvent((event) => this.onWatched(event))),
    ];
    try {
      await this.queue.work(concurrency, (key) => this.pass(key), stop);
    } finally {
      for (const unsubscribe of subscriptions) unsubscribe();
      fence.removeEventListener('abort', endPasses);
    }
  }

  /** A pass for an object that is new, has changed in a way that matters, or is due to be looked at again. */
  private onObject(event: InformerEvent<KubeObject>): void {
    if (event.origin === this) return;
    if (event.type === 'updated' && !isToldAgain(event) && !isSignificant(event.previous, event.object)) return;
    this.queue.add(keyText(keyOf(event.object)));
  }

  /** A pass for the owner of a child, unless the owner's own pass made the change, or all its children are just being listed. */
  private onChild(event: InformerEvent<KubeObject>): void {
    if (event.origin === this) return;
    if (event.type === 'updated') keepSettled(event.previous, event.object);
    this.wake(statesIn(event).flatMap((state) => this.ownersOf(state)));
  }

  private onWatched(event: InformerEvent<KubeObject>): void {
    if (event.origin === this) return;
    try {
      const { wakes } = this.controller;
      this.wake(statesIn(event).flatMap((state) => (wakes === undefined ? this.ownersOf(state) : wakes.call(this.controller, state, (type) => this.views.reader(type)))));
    } catch (error) {
      this.log.error({ err: error, watched: event.object.kind, name: event.object.metadata.name }, 'wakes() threw; nothing was woken');
    }
  }

  private wake(keys: readonly ObjectKey[]): void {
    const known = keys.filter((key) => this.views.objects.get(key) !== undefined);
    // Each once: a pass begins as soon as it is asked for, and a second wish would bring another.
    for (const key of new Set(known.map(keyText))) this.queue.add(key);
  }

  private ownersOf({ metadata }: KubeObject): ObjectKey[] {
    const uids = [metadata.labels?.[ownerLabel], metadata.ownerReferences?.find((reference) => reference.controller === true)?.uid];
    return uids.flatMap((uid) => (uid === undefined ? [] : (this.views.keyOfUid(uid) ?? [])));
  }

  /** One pass over one object. Never rejects: whatever happens to it harms no other. */
  private async pass(key: string): Promise<void> {
    const object = this.views.objects.get(keyFrom(key));
    if (object === undefined) {
      this.reporter.forget(key);
      this.queue.forget(key);
      return;
    }
    const reconcileId = randomUUID();
    const { namespace, name, generation } = object.metadata;
    const log = this.log.child({ namespace, name, generation, reconcileID: reconcileId });
    const pass = { since: this.environment.clock.monotonic(), ending: new AbortController() };
    this.running.add(pass);
    try {
      const result = await this.passOver(object, { reconcileId, log, signal: pass.ending.signal });
      this.environment.metrics.passed(this.name, result, (this.environment.clock.monotonic() - pass.since) / 1000);
    } finally {
      this.running.delete(pass);
    }
  }

  private async passOver(object: KubeObject, about: { reconcileId: string; log: Logger; signal: AbortSignal }): Promise<PassResult> {
    const context = new PassContext({ ...about, controller: this.controller, environment: this.environment, views: this.views, object, origin: this });
    try {
      const outcome = await this.outcomeOf(context);
      if (outcome !== undefined) await this.reporter.report(this.latest(object), outcome, context.client);
      return this.settle(object, outcome ?? done(), about.log);
    } catch (error) {
      if (!about.signal.aborted) return this.failed(object, error as Error, context);
      about.log.info('pass ended early: the manager stops or no longer leads');
      return 'success';
    }
  }

  /** Runs the author's code. Nothing is to be reported of an object that is gone or going for good. */
  private async outcomeOf(context: PassContext): Promise<Outcome | undefined> {
    const { kind, finalizer } = this.controller;
    const { object } = context;
    try {
      if (object.metadata.deletionTimestamp !== undefined) return await this.finalize(context);
      if (finalizer !== undefined && !hasFinalizer(object, finalizer)) {
        // Before the first side effect, or a deletion in between would leave it behind.
        await this.views.objects.write(keyOf(object), this, () => addFinalizer(object, kind, finalizer, context.client));
      }
      return await this.controller.reconcile(context);
    } catch (error) {
      if (error instanceof Terminal) return stuck(error.reason, error.message);
      throw error;
    }
  }

  private async finalize(context: PassContext): Promise<Outcome | undefined> {
    const { kind, finalizer } = this.controller;
    if (finalizer === undefined || !hasFinalizer(context.object, finalizer)) return undefined;
    const outcome = await this.controller.finalize?.(context);
    if (outcome !== undefined && outcome.kind !== 'done') return outcome;
    await removeFinalizer(context.object, kind, finalizer, context.client);
    context.log.info('finalized');
    return undefined;
  }

  /** The one place that turns an outcome into what happens next. */
  private settle(object: KubeObject, outcome: Outcome, log: Logger): PassResult {
    const key = keyText(keyOf(object));
    this.queue.forget(key);
    switch (outcome.kind) {
      case 'done':
        log.debug('done');
        if (outcome.after !== undefined) this.queue.addAfter(key, outcome.after);
        break;
      case 'wait':
        log.debug({ reason: outcome.reason, after: outcome.after }, `waiting: ${outcome.message}`);
        if (outcome.after !== undefined) this.queue.addAfter(key, outcome.after);
        break;
      case 'stuck':
        log.warn({ reason: outcome.reason }, `stuck: ${outcome.message}`);
        this.queue.addAfter(key, STUCK_RECHECK_MS);
        break;
    }
    return resultOf(outcome);
  }

  private async failed(object: KubeObject, error: Error, { client, log }: PassContext): Promise<PassResult> {
    const key = keyText(keyOf(object));
    const retryInMs = this.queue.retry(key);
    const failures = this.queue.failures(key);
    log[isPassing(error) && failures < TOLD_AFTER ? 'info' : 'error']({ err: error, failures, retryInMs }, `pass failed: ${error.message}`);
    if (isPassing(error) && failures < TOLD_AFTER) return 'error';
    try {
      await this.reporter.report(this.latest(object), wait('ReconcileFailed', `${error.message}; trying again`, { warning: true }), client);
    } catch (second) {
      log.info({ err: second }, 'cannot tell of the failure in the status');
    }
    return 'error';
  }

  /** The object as the cache has it by now: the pass itself may have written to it. */
  private latest(object: KubeObject): KubeObject {
    const now = this.views.objects.get(keyOf(object));
    return now !== undefined && now.metadata.uid === object.metadata.uid && now.metadata.generation === object.metadata.generation ? now : object;
  }

  private longestMs(): number {
    const now = this.environment.clock.monotonic();
    return Math.max(0, ...[...this.running].map(({ since }) => now - since));
  }
}

/** A change of somebody else's lies hidden under a write of ours: there is nothing left to compare with. */
function isToldAgain({ object, previous }: InformerEvent<KubeObject> & { type: 'updated' }): boolean {
  return previous === object;
}

/** What an event tells of: of a change also the state before, because it may have been what tied the object to us. */
function statesIn(event: InformerEvent<KubeObject>): KubeObject[] {
  return event.type === 'updated' && !isToldAgain(event) ? [event.previous, event.object] : [event.object];
}

function keyFrom(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** Failures that mostly pass by themselves: a network that stutters, a cache that lags, an API server that is busy. */
function isPassing(error: Error): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TransportError) return true;
    if (cause instanceof ApiError) return cause.status === 409 || cause.status === 429 || cause.status >= 500;
  }
  return false;
}
