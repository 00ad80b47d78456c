import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** What was asked of the API server, as its audit log has it. */
interface AuditLine {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code: number };
}

const writeVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/**
 * Counts the writes of one user in the API server's audit log, from the moment it was made: refused ones too, and such as change
 * nothing, because each costs the API server its work. The log may be rotated meanwhile.
 */
export class AuditTail {
  private descriptor: number;
  private position: number;
  private rest = '';
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly file: string,
    private readonly username: string,
  ) {
    this.descriptor = openSync(file, 'r');
    this.position = fstatSync(this.descriptor).size;
  }

  /** Writes so far. */
  total(): number {
    this.advance();
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Writes so far by what they did, such as `patch statefulsets`. */
  byKind(): Record<string, number> {
    this.advance();
    return Object.fromEntries([...this.counts].sort(([a], [b]) => a.localeCompare(b)));
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private advance(): void {
    this.readOn();
    if (statSync(this.file).ino === fstatSync(this.descriptor).ino) return;
    this.readOn();
    closeSync(this.descriptor);
    this.descriptor = openSync(this.file, 'r');
    this.position = 0;
    this.readOn();
  }

  private readOn(): void {
    const buffer = Buffer.alloc(fstatSync(this.descriptor).size - this.position);
    this.position += readSync(this.descriptor, buffer, 0, buffer.length, this.position);
    const lines = (this.rest + buffer.toString()).split('\n');
    this.rest = lines.pop() ?? '';
    // Most lines are somebody else's: not worth parsing while the programs are being measured.
    for (const line of lines) if (line.includes(this.username)) this.take(JSON.parse(line) as AuditLine);
  }

  private take({ verb, user, objectRef, responseStatus }: AuditLine): void {
    if (user.username !== this.username || !writeVerbs.has(verb)) return;
    const resource = [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/');
    const refused = (responseStatus?.code ?? 0) >= 400 ? ` (${responseStatus?.code})` : '';
    const key = `${verb} ${resource}${refused}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }
}
