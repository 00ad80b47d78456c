import { setTimeout as delay } from 'node:timers/promises';

/** The clock of the store, injected so that tests need no real seconds. */
export interface Time {
  now(): Date;
  /** @throws the signal's reason when it is aborted first */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The clock on the wall. */
export const systemTime: Time = {
  now: () => new Date(),
  async sleep(milliseconds, signal) {
    try {
      await delay(milliseconds, undefined, { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  },
};
