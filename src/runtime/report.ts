import { keyOf, keyText, type Condition, type KubeObject } from '../kind/resource';
import { isNotFound } from './api-error';
import { conditionOf } from './conditions';
import type { Controller } from './controller';
import type { Environment } from './environment';
import type { ClientCalls } from './fence';
import type { Informer } from './informer';
import type { Outcome } from './outcome';
import { isOtherObject } from './refusal';
import { mergePatch, readyOf, statusAfter } from './status';

/** How an object stood after its last pass. */
interface Standing {
  readonly status: Condition['status'];
  readonly reason: string;
}

/**
 * Tells the cluster how a pass ended: one status write if anything in it differs, and an Event if the object now stands differently.
 *
 * Guarantees: an outcome that says what the status already says sends nothing, also in the first pass after a restart.
 */
export class Reporter {
  /** For kinds whose status has no conditions; the others' objects carry their standing themselves. */
  private readonly standings = new Map<string, Standing>();

  constructor(
    private readonly controller: Controller,
    private readonly environment: Pick<Environment, 'events' | 'clock' | 'manager'>,
    private readonly objects: Informer<KubeObject>,
    private readonly origin: unknown,
  ) {}

  async report(object: KubeObject & { status?: unknown }, outcome: Outcome, client: ClientCalls): Promise<void> {
    const { statusFields } = this.controller.kind;
    const after = statusAfter(object, statusFields, outcome, new Date(this.environment.clock.now()));
    const patch = mergePatch((object.status ?? {}) as Record<string, unknown>, after);
    const before = this.standing(object, patch === undefined ? outcome : undefined);
    if (patch !== undefined) await this.write(object, patch, client);
    const { status, reason } = readyOf(outcome);
    this.standings.set(keyText(keyOf(object)), { status, reason });
    this.tell(object, before, outcome);
  }

  /** An object is gone: nothing about it needs remembering. */
  forget(key: string): void {
    this.standings.delete(key);
  }

  private async write(object: KubeObject, patch: Record<string, unknown>, client: ClientCalls): Promise<void> {
    const { kind } = this.controller;
    try {
      const body = { metadata: { uid: object.metadata.uid }, status: patch };
      await this.objects.write(keyOf(object), this.origin, () => client.patch<KubeObject>(kind, keyOf(object), body, { subresource: 'status', fieldManager: this.environment.manager }));
    } catch (error) {
      if (isNotFound(error) || isOtherObject(error)) return;
      throw new Error(`cannot write status of ${kind.kind} ${keyText(keyOf(object))}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** How the object stood before. Where nobody knows, a status that needs no write says that nothing has changed. */
  private standing(object: KubeObject & { status?: unknown }, unchanged: Outcome | undefined): Standing | undefined {
    const ready = conditionOf((object.status as { conditions?: Condition[] } | undefined)?.conditions, 'Ready');
    return ready ?? this.standings.get(keyText(keyOf(object))) ?? (unchanged === undefined ? undefined : readyOf(unchanged));
  }

  private tell(object: KubeObject, before: Standing | undefined, outcome: Outcome): void {
    const { events } = this.environment;
    const { status, reason, message } = readyOf(outcome);
    if (before?.status === status && before.reason === reason) return;
    // That a new object has come to be ready at once is no news; that one is ready again, or at last, is.
    if (outcome.kind === 'done' && before === undefined) return;
    const isWarning = outcome.kind === 'stuck' || (outcome.kind === 'wait' && outcome.warning === true);
    events.send(object, { type: isWarning ? 'Warning' : 'Normal', reason, message, action: 'Reconcile' });
  }
}
