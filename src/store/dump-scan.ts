import type { EngineName } from '../engines/engine';
import { MysqlScan } from './mysql-scan';
import { PostgresScan } from './postgres-scan';
import type { TextScan } from './text-scan';

/** What a dump holds, learnt while it streams by. */
export interface DumpSummary {
  /** The engine and version that the first line names; undefined when it names none. */
  readonly engine?: string;
  readonly serverVersion?: string;
  readonly position?: string;
  /** Rows by table. */
  readonly rows: ReadonlyMap<string, number>;
  readonly bytes: number;
  /** True when the last line is the end marker, which is written only when every step of the dump went well. */
  readonly complete: boolean;
}

const FIRST_LINE = /^-- dbop dump \d+ (\w+) ([\w.]+)\n/;
const END_MARKER = Buffer.from('\n-- dbop dump completed\n');

/**
 * Counts tables and rows in the text of a dump. Chunks may be cut anywhere.
 *
 * Guarantees: constant memory apart from one entry a table; one pass over the bytes, no copies of them.
 */
export class DumpScan {
  private readonly text: TextScan;
  private head: Buffer = Buffer.alloc(0);
  private tail: Buffer = Buffer.alloc(0);
  private bytes = 0;

  constructor(engine: EngineName) {
    this.text = engine === 'mysql' ? new MysqlScan() : new PostgresScan();
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.head.length < 128) this.head = Buffer.concat([this.head, chunk.subarray(0, 128)]);
    this.tail = chunk.length >= END_MARKER.length ? Buffer.from(chunk.subarray(-END_MARKER.length)) : Buffer.concat([this.tail, chunk]).subarray(-END_MARKER.length);
    this.text.push(chunk);
  }

  summary(): DumpSummary {
    const [, engine, serverVersion] = FIRST_LINE.exec(this.head.toString('latin1')) ?? [];
    return { engine, serverVersion, position: this.text.position, rows: this.text.rows, bytes: this.bytes, complete: this.tail.equals(END_MARKER) };
  }
}
