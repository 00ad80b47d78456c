import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** Who logs in. */
export interface Login {
  readonly username: string;
  readonly password: string;
  /** @default none (MySQL), the maintenance database (PostgreSQL) */
  readonly database?: string;
  /** PEM of the authority that must have signed the server's certificate. @default encrypted where the server offers it, without proof of who answers */
  readonly ca?: string;
}

/**
 * The only way to a running database server: one per engine.
 * Passwords travel over the connection alone, never by an argument list or a log.
 */
export interface SqlDoor {
  /**
   * Logs in over a connection that is already made.
   * @param host name that the server's certificate must be for
   * @throws SqlError: `denied` for a wrong password, `unreachable` when nobody answers
   */
  open(stream: Duplex, host: string, login: Login): Promise<SqlSession>;
}

/** A logged-in session. Close it. */
export interface SqlSession {
  /** The server's own version, such as `9.7.4`. */
  version(): Promise<string>;

  /**
   * Gives an account a new password. Open connections go on.
   *
   * Guarantees: where the engine can (MySQL since 8.0.14), the current password stays valid until `discardOldPassword`.
   */
  setPassword(account: string, password: string): Promise<void>;

  /** Ends the password before the current one, where the engine kept it. */
  discardOldPassword(account: string): Promise<void>;

  /**
   * Sets a parameter of the running server, or learns that only a restart can.
   * @throws SqlError `refused` with the server's own words if the value is wrong
   */
  setParameter(name: string, value: string): Promise<'applied' | 'needs-restart'>;

  /** Gives a parameter its default back, or learns that only a restart can. */
  resetParameter(name: string): Promise<'applied' | 'needs-restart'>;

  /** Whether the server was started closed: nobody's writes are taken. Asked as the operator. */
  isClosed(): Promise<boolean>;

  /** Fingerprint of the certificate that the server showed; undefined on a connection without TLS. */
  readonly certificate?: string;

  /** Makes the server read its certificate anew, for the connections to come. */
  reloadCertificate(): Promise<void>;

  close(): Promise<void>;
}

/** Fingerprint of the certificate at the other end of a TLS connection. */
export function peerFingerprint(stream: unknown): string | undefined {
  return stream instanceof TLSSocket ? stream.getPeerX509Certificate()?.fingerprint256 : undefined;
}

/** Why a server didn't do what was asked. */
export type SqlErrorKind = 'denied' | 'unreachable' | 'refused';

/** An error of a database server, told apart by what to do next. */
export class SqlError extends Error {
  constructor(
    readonly kind: SqlErrorKind,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'SqlError';
  }
}
