import type { Time } from './time';

const EVERY_MS = 2000;

/**
 * What a Job is at.
 * - backup: `connect`, `dump`, `marked` (the end marker was seen), `stored` (the artifact has its name), `recorded` (the manifest too);
 *   to prove it `load`, `count`, `verified`.
 * - restore: `connect`, `chosen`, `load`, `keep` (all was loaded; the directory gets its name), `kept`.
 */
export type Stage = 'connect' | 'dump' | 'marked' | 'stored' | 'recorded' | 'load' | 'count' | 'verified' | 'chosen' | 'keep' | 'kept';

/** How far a Job is. */
export interface StageLine {
  readonly stage: Stage;
  /** Bytes of the dump that went by in this stage; for `dump` and `load`. */
  readonly bytes?: number;
  /** Bytes that it will be in the end, where that is known. */
  readonly of?: number;
}

/** Tells how far the work is, one JSON line a stage and one every other second in between: the last such line of the container's log is the state. */
export class Progress {
  private at: StageLine = { stage: 'connect' };
  private bytes = 0;
  private toldAt = 0;

  constructor(
    private readonly time: Time,
    private readonly write: (line: string) => void,
  ) {}

  /** A stage is reached. */
  reach(stage: Stage, of?: number): void {
    this.bytes = 0;
    this.at = { stage, of };
    this.toldAt = this.time.now().getTime();
    this.tell(this.at);
  }

  /** Passes bytes of the stage on, and counts them. */
  async *counted(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of source) {
      this.advance(chunk.length);
      yield chunk;
    }
  }

  /** Counts bytes of the stage. */
  advance(bytes: number): void {
    this.bytes += bytes;
    const now = this.time.now().getTime();
    if (now - this.toldAt < EVERY_MS) return;
    this.toldAt = now;
    this.tell({ ...this.at, bytes: this.bytes });
  }

  /** Something a person may want to know. */
  note(message: string): void {
    this.tell({ message });
  }

  private tell(what: object): void {
    this.write(`${JSON.stringify({ time: this.time.now().toISOString(), ...what })}\n`);
  }
}

/** The newest stage that a piece of the store's log tells; undefined when it tells none. */
export function lastStage(log: string): StageLine | undefined {
  for (const line of log.trimEnd().split('\n').reverse()) {
    try {
      const value = JSON.parse(line) as Partial<StageLine>;
      if (typeof value.stage === 'string') return { stage: value.stage, bytes: value.bytes, of: value.of };
    } catch {
      // Half a line, or somebody else's: the one before may tell.
    }
  }
  return undefined;
}
