import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** One request, as the API server recorded it. */
export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly impersonatedUser?: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly namespace?: string; readonly name?: string; readonly apiGroup?: string };
  readonly responseStatus?: { readonly code: number };
  /** Among others `authorization.k8s.io/decision`: allow or forbid. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The API server's record of who asked for what, from the moment this object was made. */
export class AuditLog {
  private readonly start: number;

  public constructor(private readonly file: string) {
    const open = openSync(file, 'r');
    this.start = fstatSync(open).size;
    closeSync(open);
  }

  /** All finished requests since, in the order in which they finished; long-running ones count once they started. */
  public events(filter: (event: AuditEvent) => boolean = () => true): AuditEvent[] {
    return this.text()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(filter);
  }

  /** Of one user, whether by own right or through impersonation. */
  public eventsOf(username: string): AuditEvent[] {
    return this.events((event) => (event.impersonatedUser ?? event.user).username === username);
  }

  private text(): string {
    const open = openSync(this.file, 'r');
    try {
      const buffer = Buffer.alloc(Math.max(0, fstatSync(open).size - this.start));
      readSync(open, buffer, 0, buffer.length, this.start);
      return buffer.toString();
    } finally {
      closeSync(open);
    }
  }
}
