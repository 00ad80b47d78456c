import { builtin, keyText, type ObjectKey } from '../kind/resource';
import { isNotFound } from '../runtime/api-error';
import type { Clock } from '../runtime/clock';
import type { ClientCalls } from '../runtime/fence';
import type { Secret } from './accounts';

/** How long a Secret that is not ours is believed, and how long that there is none: somebody is waited for to create it. */
const BELIEVED_MS = 30_000;
const MISSED_MS = 5_000;

/**
 * Secrets that users supply. They carry none of our labels, so the cache, which is narrowed to what is ours, doesn't hold them:
 * they are asked for by name, at most once in a while.
 */
export class SuppliedSecrets {
  private readonly known = new Map<string, { secret: Secret | undefined; at: number }>();

  constructor(private readonly clock: Clock) {}

  /** The Secret, or undefined if there is none of that name. */
  async get(client: ClientCalls, key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
    const before = this.known.get(keyText(key));
    if (before !== undefined && this.clock.monotonic() - before.at < (before.secret === undefined ? MISSED_MS : BELIEVED_MS)) return before.secret;
    const secret = await client.get<Secret>(builtin.Secret, key, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    this.known.set(keyText(key), { secret, at: this.clock.monotonic() });
    return secret;
  }
}
