import type { Context } from '../runtime/context';
import type { Clock } from '../runtime/clock';
import { lastStage, type StageLine } from '../store/progress';
import type { JobFact } from './job-fact';
import type { Pod } from './pod-story';

/** How far a Job is, and for how long it has not got any further, as far as this process has seen. */
export interface JobStanding extends StageLine {
  readonly quietMs: number;
}

interface Known {
  readonly askedAt: number;
  readonly movedAt: number;
  readonly line?: StageLine;
}

/** How long an answer is believed: a backup of hours needs no more than a status write now and then. */
const BELIEVED_MS = 10_000;
/** Room for a note or two after the last stage. */
const LINES = 5;

/**
 * How far Jobs are, by the log of their store.
 *
 * Guarantees: at most one request a Job in ten seconds, and none for one that is younger; a log that can't be read tells nothing and fails nothing.
 */
export class JobProgress {
  private readonly known = new Map<string, Known>();

  constructor(private readonly clock: Clock) {}

  /**
   * @param pod the one that is at work for the Job
   * @returns undefined while nothing is known
   */
  async of({ client, signal }: Pick<Context, 'client' | 'signal'>, { uid }: Pick<JobFact, 'uid'>, pod: Pod | undefined): Promise<JobStanding | undefined> {
    const now = this.clock.monotonic();
    const before = this.known.get(uid) ?? { askedAt: now, movedAt: now };
    const isDue = now - before.askedAt >= BELIEVED_MS && pod !== undefined && isWriting(pod);
    const known = isDue ? moved(before, await this.ask(client, pod, signal), now) : before;
    this.known.set(uid, known);
    return known.line && { ...known.line, quietMs: now - known.movedAt };
  }

  /** A Job that has ended gets no further. */
  forget(uid: string): void {
    this.known.delete(uid);
  }

  private async ask(client: Context['client'], { metadata: { namespace = '', name } }: Pod, signal: AbortSignal): Promise<StageLine | undefined> {
    try {
      const log = await client.logs(namespace, name, { container: 'store', tailLines: LINES, signal });
      let text = '';
      for await (const chunk of log) text += String(chunk);
      return lastStage(text);
    } catch {
      // It is gone by now, or nobody may read it: what is known stays.
      signal.throwIfAborted();
      return undefined;
    }
  }
}

/** There is a log only while the store runs. */
function isWriting({ status }: Pod): boolean {
  return status?.containerStatuses?.some(({ name, state }) => name === 'store' && state?.running !== undefined) ?? false;
}

function moved(before: Known, line: StageLine | undefined, now: number): Known {
  const stands = line === undefined || (line.stage === before.line?.stage && line.bytes === before.line.bytes);
  return stands ? { ...before, askedAt: now } : { askedAt: now, movedAt: now, line };
}
