import type { TextScan } from './text-scan';

const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const DOT = 0x2e;

/** Longer than any line that matters, save a COPY with a thousand columns, of which only the beginning matters. */
const MAX_LINE = 1024;

/**
 * Reads what pg_dump writes, one database after the other.
 *
 * A COPY counts only where pg_dump's own comment announces data: bodies of functions may hold lines that look like one.
 */
export class PostgresScan implements TextScan {
  readonly rows = new Map<string, number>();
  position?: string;

  private line = '';
  private database = 'postgres';
  /** The table whose data comes next. */
  private announced: string | undefined;
  /** The data is loaded by the name of the table that this one is a partition of. */
  private byRoot = false;
  private table: string | undefined;
  private count = 0;
  /** How many bytes of the current row have been seen while it could still be the end of the data. */
  private rowBytes = 0;
  private rowMayEnd = true;

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.table === undefined ? this.readLine(chunk, at) : this.readRows(chunk, at);
  }

  private readLine(chunk: Buffer, start: number): number {
    const newline = chunk.indexOf(NEWLINE, start);
    const end = newline < 0 ? chunk.length : newline;
    if (this.line.length < MAX_LINE) this.line += chunk.toString('latin1', start, Math.min(end, start + MAX_LINE - this.line.length));
    if (newline < 0) return chunk.length;
    const line = this.line;
    this.line = '';
    this.endLine(line);
    return newline + 1;
  }

  private endLine(line: string): void {
    if (line === '' || line === '--') return;
    const copy = this.announced !== undefined ? /^COPY ((?:"(?:[^"]|"")*"|[^\s."]+)\.(?:"(?:[^"]|"")*"|[^\s."]+)) /.exec(line) : null;
    if (copy?.[1] !== undefined) {
      this.table = `${this.database}.${this.byRoot ? this.announced : names(copy[1]).join('.')}`;
      this.count = 0;
      this.beginRow();
      return;
    }
    this.byRoot = this.announced !== undefined && line.startsWith('-- load via partition root ');
    if (this.byRoot) return;
    const [, name, schema] = /^-- Data for Name: (.*); Type: TABLE DATA; Schema: (.*); Owner: /.exec(line) ?? [];
    this.announced = name === undefined || schema === undefined ? undefined : plain(`${schema}.${name}`);
    const connect = /^\\connect (?:-reuse-previous=on )?(.*)$/.exec(line)?.[1];
    if (connect !== undefined) this.database = connected(connect);
    const position = /^-- dbop position (\S+)$/.exec(line)?.[1];
    if (position !== undefined) this.position = position;
  }

  private readRows(chunk: Buffer, start: number): number {
    let at = start;
    while (at < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline < 0 ? chunk.length : newline;
      for (let index = at; this.rowMayEnd && index < end; index += 1) this.see(chunk[index] as number);
      if (newline < 0) return chunk.length;
      if (this.rowMayEnd && this.rowBytes === 2) {
        this.rows.set(this.table as string, this.count);
        this.table = undefined;
        this.announced = undefined;
        this.byRoot = false;
        return newline + 1;
      }
      this.count += 1;
      this.beginRow();
      at = newline + 1;
    }
    return at;
  }

  private beginRow(): void {
    this.rowBytes = 0;
    this.rowMayEnd = true;
  }

  /** Data ends with a line of backslash and dot, which no row can be: a backslash in data is doubled. */
  private see(byte: number): void {
    this.rowMayEnd = (this.rowBytes === 0 && byte === BACKSLASH) || (this.rowBytes === 1 && byte === DOT);
    this.rowBytes += 1;
  }
}

/** The parts of a qualified name, without quotes. */
function names(qualified: string): string[] {
  return [...qualified.matchAll(/"((?:[^"]|"")*)"|([^."]+)/g)].map((match) => plain(match[1]?.replaceAll('""', '"') ?? match[2] ?? ''));
}

/** The database of a `\connect`: a name, a quoted name, or `"dbname='…'"` where the name has odd characters. */
function connected(text: string): string {
  const unquoted = /^"(.*)"$/.exec(text)?.[1]?.replaceAll('""', '"') ?? text;
  const named = /^dbname='(.*)'$/.exec(unquoted)?.[1];
  return plain(named === undefined ? unquoted : named.replace(/\\(.)/g, '$1'));
}

/** UTF-8 that was read byte by byte. */
function plain(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
