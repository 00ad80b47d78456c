import type { TextScan } from './text-scan';

const NEWLINE = 0x0a;
const QUOTE = 0x27;
const OPEN = 0x28;
const CLOSE = 0x29;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const TICK = 0x60;
const LETTER_V = 0x56;

/** Longer than any head that is looked for: a keyword and an identifier of 64 characters, each up to four bytes and doubled. */
const MAX_HEAD = 1024;
/** Most values are shorter: to look at them byte by byte costs less than a call. */
const NEAR = 48;
/** A set of GTIDs has one line a server that ever wrote. */
const MAX_POSITION = 1024 * 1024;

/**
 * Where the scanner is in the text.
 * - `head`: at the start of a line, until enough of it is there to know what it is.
 * - `skip`: in a line that doesn't matter.
 * - `columns`: after the table's name of an INSERT, before VALUES.
 * - `values`: between the rows of an INSERT or in one.
 * - `string`, `escape`: in a quoted value; after a backslash there.
 * - `position`: in the statement that names the GTIDs.
 */
type State = 'head' | 'skip' | 'columns' | 'values' | 'string' | 'escape' | 'position';

/** Reads what mysqldump writes. */
export class MysqlScan implements TextScan {
  readonly rows = new Map<string, number>();
  position?: string;

  private state: State = 'head';
  private head = '';
  private taken = 0;
  private database = '';
  private table = '';
  private count = 0;
  private depth = 0;
  private inTicks = false;
  /** Bodies of routines, triggers and events hold statements that are not the dump's own. */
  private inBody = false;

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.step(chunk, at);
  }

  private step(chunk: Buffer, at: number): number {
    switch (this.state) {
      case 'head':
        return this.readHead(chunk, at);
      case 'skip': {
        const end = chunk.indexOf(NEWLINE, at);
        if (end < 0) return chunk.length;
        this.state = 'head';
        return end + 1;
      }
      case 'columns':
        return this.readColumns(chunk, at);
      case 'values':
        return this.readValues(chunk, at);
      case 'string':
        return this.readString(chunk, at);
      case 'escape':
        this.state = 'string';
        return at + 1;
      case 'position':
        return this.readPosition(chunk, at);
    }
  }

  private readHead(chunk: Buffer, start: number): number {
    const before = this.head.length;
    const newline = chunk.indexOf(NEWLINE, start);
    const end = Math.min(newline < 0 ? chunk.length : newline, start + MAX_HEAD - before);
    const head = this.head + chunk.toString('latin1', start, end);
    if (end === newline) {
      // Short lines may be whole statements: an INSERT of one small row, say.
      if (!this.inBody && this.beginStatement(head)) return start + this.taken - before;
      this.endLine(head);
      return newline + 1;
    }
    if (!mayMatter(head) || (this.inBody && !mayEndBody(head))) {
      this.begin('skip');
      return end;
    }
    if (!this.inBody && this.beginStatement(head)) return start + this.taken - before;
    if (head.length >= MAX_HEAD) this.begin('skip');
    else this.head = head;
    return end;
  }

  /** Goes on after the head of a statement that spans more than a line may; `taken` is how much of the head that was. */
  private beginStatement(head: string): boolean {
    if (head.startsWith(GTIDS)) {
      this.begin('position');
      this.taken = GTIDS.length;
      return true;
    }
    // The space is what tells the name's end from a doubled backquote within it.
    const match = /^INSERT (?:IGNORE )?INTO `((?:[^`]|``)+)` /.exec(head);
    if (match?.[1] === undefined) return false;
    this.begin('columns');
    this.taken = match[0].length;
    this.table = `${this.database}.${name(match[1])}`;
    this.count = 0;
    this.inTicks = false;
    return true;
  }

  private endLine(line: string): void {
    this.head = '';
    if (line === 'DELIMITER ;;') this.inBody = true;
    else if (line === 'DELIMITER ;') this.inBody = false;
    if (this.inBody) return;
    const use = /^USE `(.*)`;$/.exec(line);
    if (use?.[1] !== undefined) this.database = name(use[1]);
    const table = /^CREATE TABLE (?:IF NOT EXISTS )?`((?:[^`]|``)*)` \(/.exec(line);
    if (table?.[1] !== undefined) this.rows.set(`${this.database}.${name(table[1])}`, 0);
  }

  private readColumns(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === TICK) this.inTicks = !this.inTicks;
      else if (byte === LETTER_V && !this.inTicks) {
        this.depth = 0;
        this.state = 'values';
        return at + 1;
      }
    }
    return chunk.length;
  }

  private readValues(chunk: Buffer, start: number): number {
    let depth = this.depth;
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.depth = depth;
        this.state = 'string';
        return at + 1;
      }
      if (byte === OPEN) {
        if (depth === 0) this.count += 1;
        depth += 1;
      } else if (byte === CLOSE) depth -= 1;
      else if (byte === SEMICOLON && depth === 0) {
        this.rows.set(this.table, (this.rows.get(this.table) ?? 0) + this.count);
        this.begin('skip');
        return at + 1;
      }
    }
    this.depth = depth;
    return chunk.length;
  }

  private readString(chunk: Buffer, start: number): number {
    const near = Math.min(start + NEAR, chunk.length);
    let at = start;
    for (; at < near; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) return this.endString(at);
      if (byte === BACKSLASH) at += 1;
    }
    // What is long is searched by the processor's own means.
    let quote = chunk.indexOf(QUOTE, at);
    let backslash = chunk.indexOf(BACKSLASH, at);
    while (backslash >= 0 && (quote < 0 || backslash < quote)) {
      at = backslash + 2;
      backslash = chunk.indexOf(BACKSLASH, at);
      if (quote >= 0 && quote < at) quote = chunk.indexOf(QUOTE, at);
    }
    if (quote >= 0 && at <= quote) return this.endString(quote);
    if (at > chunk.length) this.state = 'escape';
    return chunk.length;
  }

  private endString(at: number): number {
    this.state = 'values';
    return at + 1;
  }

  private readPosition(chunk: Buffer, start: number): number {
    const end = chunk.indexOf(SEMICOLON, start);
    this.head += chunk.toString('latin1', start, end < 0 ? chunk.length : end);
    if (end < 0 && this.head.length < MAX_POSITION) return chunk.length;
    // `=/*!80000 '+'*/ 'uuid:1-5,\nuuid:1-9'`: the last quoted text.
    this.position = /'([^']*)'\s*$/.exec(this.head)?.[1]?.replace(/\s/g, '');
    this.begin('skip');
    return end < 0 ? chunk.length : end + 1;
  }

  private begin(state: State): void {
    this.state = state;
    this.head = '';
  }
}

const GTIDS = 'SET @@GLOBAL.GTID_PURGED';
const DELIMITER = 'DELIMITER ';
const HEADS = ['INSERT ', 'CREATE TABLE ', 'USE `', DELIMITER, GTIDS];

function mayMatter(head: string): boolean {
  return HEADS.some((known) => head.startsWith(known) || known.startsWith(head));
}

function mayEndBody(head: string): boolean {
  return head.startsWith(DELIMITER) || DELIMITER.startsWith(head);
}

/** An identifier between backquotes, as it was named; the bytes are UTF-8 that was read one by one. */
function name(quoted: string): string {
  return Buffer.from(quoted.replaceAll('``', '`'), 'latin1').toString('utf8');
}
