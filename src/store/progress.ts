import type { Time } from './time';

const EVERY_MS = 2000;

/** Tells how far the work is, as one JSON line every other second: the last line of the container's log is the state. */
export class Progress {
  private bytes = 0;
  private toldAt = 0;

  constructor(
    private readonly time: Time,
    private readonly write: (line: string) => void,
  ) {}

  /** Counts bytes of a stage. */
  advance(stage: 'dump', bytes: number): void {
    this.bytes += bytes;
    const now = this.time.now().getTime();
    if (now - this.toldAt < EVERY_MS) return;
    this.toldAt = now;
    this.tell({ stage, bytes: this.bytes });
  }

  /** Something a person may want to know. */
  note(message: string): void {
    this.tell({ message });
  }

  private tell(what: object): void {
    this.write(`${JSON.stringify({ time: this.time.now().toISOString(), ...what })}\n`);
  }
}
