import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FailureReason } from './result';
import { StoreError } from './store-error';
import type { Time } from './time';

/** Orders that the engine's container obeys. */
export type Order = 'facts' | 'dump' | 'load' | 'count' | 'keep' | 'end';

const POLL_MS = 100;
const BEAT_MS = 1000;
/** Silence after which the other container counts as dead, and the longer one before its first word: its image may be on its way. */
const PATIENCE_MS = 60_000;
const FIRST_PATIENCE_MS = 600_000;
/** How long a broken pipe waits for the engine's explanation. */
const EXPLANATION_MS = 5000;

/**
 * The store's half of the conversation with the engine's container: files in a folder that both mount.
 * `docs/backup-format.md` is the contract.
 *
 * Guarantees: `signal` is aborted, with a `StoreError` that says why, as soon as the engine says that it failed, or is silent for too long.
 */
export class Exchange {
  private readonly controller = new AbortController();
  private number = 0;

  constructor(
    private readonly folder: string,
    private readonly time: Time,
  ) {}

  /** Aborted when the conversation is over for a bad reason. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Where a FIFO or file of the conversation is. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Begins to beat and to listen. Ends when `stop` is aborted; an abort for another reason ends the conversation. */
  async begin(stop: AbortSignal): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    stop.addEventListener('abort', () => this.controller.abort(stop.reason), { once: true });
    void this.beat(stop).catch(() => undefined);
    void this.listen(stop).catch(() => undefined);
    await this.appears('engine.ready');
  }

  /** Gives an order and returns the engine's answer. */
  async order(order: Order): Promise<string> {
    return (await this.give(order)).answer;
  }

  /** Gives an order; the answer comes when the work that goes on beside it is done. */
  async give(order: Order): Promise<{ readonly answer: Promise<string> }> {
    this.number += 1;
    const number = this.number;
    await this.put(`order-${number}`, `${order}\n`);
    if (order === 'end') return { answer: Promise.resolve('') };
    const answer = this.appears(`answer-${number}`).then(() => readFile(this.path(`answer-${number}`), 'utf8'));
    // Whoever awaits it sees the failure; nobody may, when the work beside it failed first.
    answer.catch(() => undefined);
    return { answer };
  }

  /** A file for the engine; its name appears when it is whole. */
  async put(name: string, text: string): Promise<void> {
    await writeFile(this.path(`.${name}`), text, { mode: 0o600 });
    await rename(this.path(`.${name}`), this.path(name));
  }

  /** Tells the engine to stop. */
  async fail(reason: FailureReason): Promise<void> {
    await this.put('store.failed', `${reason}\n`).catch(() => undefined);
  }

  /**
   * What the engine says about a failure that we only saw as a broken pipe or a short stream; the error itself if it says nothing.
   * @param answer of the order that went wrong: an engine that answers has no complaint of its own
   */
  async explained(error: unknown, answer: Promise<string>): Promise<unknown> {
    const stop = new AbortController();
    const silence = this.time.sleep(EXPLANATION_MS, AbortSignal.any([stop.signal, this.signal]));
    await Promise.race([silence, answer]).catch(() => undefined);
    stop.abort();
    await silence.catch(() => undefined);
    return this.signal.aborted ? this.signal.reason : error;
  }

  private async appears(name: string): Promise<void> {
    while (!(await exists(this.path(name)))) await this.time.sleep(POLL_MS, this.signal);
  }

  private async beat(stop: AbortSignal): Promise<void> {
    for (let count = 1; !stop.aborted; count += 1) {
      await writeFile(this.path('store.beat'), `${count}\n`, { mode: 0o600 });
      await this.time.sleep(BEAT_MS, stop);
    }
  }

  private async listen(stop: AbortSignal): Promise<void> {
    let heard = '';
    let heardAt = this.time.now().getTime();
    while (!stop.aborted) {
      const failure = await text(this.path('engine.failed'));
      if (failure !== '') {
        const [reason = 'Internal', ...words] = failure.trimEnd().split('\n');
        this.controller.abort(new StoreError(reason as FailureReason, words.join(' ')));
        return;
      }
      const beat = await text(this.path('engine.beat'));
      const now = this.time.now().getTime();
      if (beat !== heard) [heard, heardAt] = [beat, now];
      const patience = heard === '' ? FIRST_PATIENCE_MS : PATIENCE_MS;
      if (now - heardAt > patience) {
        this.controller.abort(new StoreError('EngineSilent', `the engine container has been silent for ${patience / 1000} s; it was probably killed: see its state in the pod`));
        return;
      }
      await this.time.sleep(POLL_MS, stop);
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function text(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
