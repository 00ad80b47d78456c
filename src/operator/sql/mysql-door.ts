import { setImmediate } from 'node:timers/promises';
import { createConnection } from 'mysql2';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { Duplex } from 'node:stream';
import { peerFingerprint, SqlError, type Login, type SqlDoor, type SqlSession } from './door';

const DENIED = new Set(['ER_ACCESS_DENIED_ERROR', 'ER_ACCOUNT_HAS_BEEN_LOCKED', 'ER_MUST_CHANGE_PASSWORD_LOGIN']);
const NEEDS_RESTART = new Set(['ER_INCORRECT_GLOBAL_LOCAL_VAR', 'ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION']);
/** A server that hangs must not hold a worker for long. */
const CONNECT_TIMEOUT_MS = 10_000;

/** MySQL, through mysql2. */
export const mysqlDoor: SqlDoor = {
  async open(stream: Duplex, host: string, login: Login): Promise<SqlSession> {
    const connection = createConnection({
      stream: () => stream,
      host,
      user: login.username,
      password: login.password,
      database: login.database,
      connectTimeout: CONNECT_TIMEOUT_MS,
      ssl: login.ca === undefined ? undefined : { ca: login.ca, verifyIdentity: true },
    });
    let last: Error | undefined;
    // Without a listener a connection that breaks would end the process.
    connection.on('error', (error) => (last = error));
    try {
      await new Promise((resolve, reject) => connection.once('connect', resolve).once('error', reject));
      // Escaping on our side is only sound while the session reads a backslash as an escape.
      await connection.promise().query("SET SESSION sql_mode = ''");
      return new MysqlSession(connection.promise());
    } catch (error) {
      stream.destroy();
      // Why a handshake failed is told a moment after the end of the connection that it caused.
      await setImmediate();
      throw translated(codeOf(error) === 'PROTOCOL_CONNECTION_LOST' ? last : error, 'cannot log in');
    }
  },
};

class MysqlSession implements SqlSession {
  constructor(private readonly connection: Connection) {}

  async version(): Promise<string> {
    const [rows] = await this.query<{ version: string } & RowDataPacket>('SELECT VERSION() AS version', []);
    return (rows?.version ?? '').replace(/-.*/, '');
  }

  async setPassword(account: string, password: string): Promise<void> {
    const keepsOld = (await this.keepsTwoPasswords()) ? ' RETAIN CURRENT PASSWORD' : '';
    for (const host of await this.hostsOf(account)) {
      await this.query(`ALTER USER ?@? IDENTIFIED BY ?${keepsOld}`, [account, host, password]);
    }
  }

  async discardOldPassword(account: string): Promise<void> {
    if (!(await this.keepsTwoPasswords())) return;
    for (const host of await this.hostsOf(account)) {
      await this.query('ALTER USER ?@? DISCARD OLD PASSWORD', [account, host]);
    }
  }

  async setParameter(name: string, value: string): Promise<'applied' | 'needs-restart'> {
    return this.setGlobal(name, literal(this.connection, value));
  }

  async resetParameter(name: string): Promise<'applied' | 'needs-restart'> {
    return this.setGlobal(name, 'DEFAULT');
  }

  async isClosed(): Promise<boolean> {
    const [row] = await this.query<{ closed: number } & RowDataPacket>('SELECT @@GLOBAL.super_read_only AS closed', []);
    return row?.closed === 1;
  }

  get certificate(): string | undefined {
    // The socket as it became by TLS; mysql2 keeps it on the connection beneath the one with promises.
    return peerFingerprint((this.connection as unknown as { connection: { stream: unknown } }).connection.stream);
  }

  async reloadCertificate(): Promise<void> {
    await this.query('ALTER INSTANCE RELOAD TLS', []);
  }

  async close(): Promise<void> {
    this.connection.destroy();
  }

  private async setGlobal(name: string, expression: string): Promise<'applied' | 'needs-restart'> {
    // The option file spells names with dashes as well as underscores; SQL only with underscores.
    const variable = this.connection.escapeId(name.replaceAll('-', '_'));
    try {
      await this.connection.query(`SET GLOBAL ${variable} = ${expression}`);
      return 'applied';
    } catch (error) {
      if (NEEDS_RESTART.has(codeOf(error))) return 'needs-restart';
      throw translated(error, `cannot set ${name}`);
    }
  }

  /** An account is a name and a host pattern; root may have several, and all must follow. */
  private async hostsOf(account: string): Promise<string[]> {
    const rows = await this.query<{ host: string } & RowDataPacket>('SELECT host AS host FROM mysql.user WHERE user = ?', [account]);
    if (rows.length === 0) throw new SqlError('refused', `account ${account} does not exist in the server`);
    return rows.map((row) => row.host);
  }

  private async keepsTwoPasswords(): Promise<boolean> {
    const [major = 0, minor = 0, patch = 0] = (await this.version()).split('.').map(Number);
    return major > 8 || (major === 8 && (minor > 0 || patch >= 14));
  }

  private async query<Row extends RowDataPacket>(text: string, values: string[]): Promise<Row[]> {
    try {
      const [rows] = await this.connection.query<Row[]>(text, values);
      return rows;
    } catch (error) {
      throw translated(error, 'the server refused a statement');
    }
  }
}

/** SET GLOBAL takes numbers bare, with the suffix that the option file knows, and words quoted. */
function literal(connection: Connection, value: string): string {
  const sized = /^(\d+)([KMGT])$/i.exec(value);
  if (sized) return String(BigInt(sized[1]!) << BigInt(10 * ('KMGT'.indexOf(sized[2]!.toUpperCase()) + 1)));
  return /^-?\d+(\.\d+)?$/.test(value) ? value : connection.escape(value);
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? '');
}

/** The driver's message names statement and server, never the password: mysql2 keeps the statement in another property. */
function translated(error: unknown, doing: string): SqlError {
  if (error instanceof SqlError) return error;
  const code = codeOf(error);
  const sqlState = (error as { sqlState?: unknown }).sqlState;
  const kind = DENIED.has(code) ? 'denied' : sqlState === undefined ? 'unreachable' : 'refused';
  return new SqlError(kind, `${doing}: ${(error as Error).message}`);
}
