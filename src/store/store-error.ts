import type { FailureReason } from './result';

/** A failure that the operator shows: one word for programs, a sentence for people. */
export class StoreError extends Error {
  constructor(
    readonly reason: FailureReason,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'StoreError';
  }
}

/** Any error as one of ours. A full volume or a lost bucket is the target's, so say what was done there. */
export function storeError(error: unknown, reason: FailureReason, doing: string): StoreError {
  return error instanceof StoreError ? error : new StoreError(reason, `${doing}: ${error instanceof Error ? error.message : String(error)}`, error);
}
