import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { closedHostRulesFile, postgres } from '../../engines/postgres';
import { peerFingerprint, SqlError, type Login, type SqlDoor, type SqlSession } from './door';
import { elementsOf } from './postgres-list';

/** SQLSTATE class 28: wrong password, or no such role. */
const DENIED_CLASS = '28';
const CONNECT_TIMEOUT_MS = 10_000;

/** What a parameter of the server may do to sessions must not keep the operator from taking that parameter back. */
const UNHINDERED = { default_transaction_read_only: 'off', statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0, idle_session_timeout: 0 };

/** PostgreSQL, through pg. */
export const postgresDoor: SqlDoor = {
  async open(stream: Duplex, host: string, login: Login): Promise<SqlSession> {
    const client = new Client({
      stream: () => alreadyConnected(stream),
      host,
      user: login.username,
      password: login.password,
      database: login.database ?? 'postgres',
      // Others come to see how applications fare: they take the settings as those do.
      options: login.username === postgres.accounts.operator ? optionsOf(UNHINDERED) : undefined,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ssl: login.ca === undefined ? undefined : { ca: login.ca },
    });
    // Without a listener a connection that breaks while idle would end the process.
    client.on('error', () => undefined);
    let distrust: Error | undefined;
    const { connection } = client as unknown as { connection: EventEmitter & { stream: Duplex } };
    connection.once('sslconnect', () => connection.stream.once('error', (error) => (distrust = error)));
    try {
      await client.connect();
      return new PostgresSession(client);
    } catch (error) {
      stream.destroy();
      // Why a handshake failed is told a moment after the end of the connection that it caused.
      await setImmediate();
      throw translated(distrust ?? error, 'cannot log in');
    }
  },
};

class PostgresSession implements SqlSession {
  constructor(private readonly client: Client) {}

  async version(): Promise<string> {
    const rows = await this.query<{ server_version: string }>('SHOW server_version');
    return (rows[0]?.server_version ?? '').replace(/[^0-9.].*/, '');
  }

  async setPassword(account: string, password: string): Promise<void> {
    // The verifier, not the password: a server that logs statements then logs nothing that opens a door.
    // Through a function of the server's own, because no account but a superuser may change the superuser's.
    await this.query('SELECT dbop.set_password($1, $2)', [account, scramVerifier(password)]);
  }

  /** PostgreSQL keeps one password per role: there is nothing to discard. */
  async discardOldPassword(): Promise<void> {}

  async setParameter(name: string, value: string): Promise<'applied' | 'needs-restart'> {
    if (await this.needsRestart(name)) return 'needs-restart';
    // ALTER SYSTEM also checks the value, and doesn't have to wait until the kubelet has renewed the mounted file.
    await this.alterSystem(`SET ${escapeIdentifier(name.toLowerCase())} = ${elementsOf(name, value).map(escapeLiteral).join(', ')}`, name);
    return 'applied';
  }

  async resetParameter(name: string): Promise<'applied' | 'needs-restart'> {
    if (await this.needsRestart(name)) return 'needs-restart';
    // A mere RESET would leave the value to the mounted file, which still has the former one until the kubelet renews it.
    const [setting] = await this.query<{ boot_val: string | null }>('SELECT boot_val FROM pg_settings WHERE name = $1', [name.toLowerCase()]);
    return this.setParameter(name, setting?.boot_val ?? '');
  }

  async isClosed(): Promise<boolean> {
    const [row] = await this.query<{ hba_file: string }>('SHOW hba_file');
    return row?.hba_file.endsWith(`/${closedHostRulesFile}`) ?? false;
  }

  get certificate(): string | undefined {
    return peerFingerprint((this.client as unknown as { connection: { stream: unknown } }).connection.stream);
  }

  async reloadCertificate(): Promise<void> {
    await this.query('SELECT pg_reload_conf()');
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private async needsRestart(name: string): Promise<boolean> {
    const [setting] = await this.query<{ context: string }>('SELECT context FROM pg_settings WHERE name = $1', [name.toLowerCase()]);
    if (setting === undefined) throw new SqlError('refused', `cannot set ${name}: the server knows no such parameter`);
    return setting.context === 'postmaster' || setting.context === 'internal';
  }

  private async alterSystem(change: string, name: string): Promise<void> {
    try {
      await this.client.query(`ALTER SYSTEM ${change}`);
      await this.client.query('SELECT pg_reload_conf()');
    } catch (error) {
      throw translated(error, `cannot set ${name}`);
    }
  }

  private async query<Row extends object>(text: string, values: string[] = []): Promise<Row[]> {
    try {
      return (await this.client.query<Row>(text, values)).rows;
    } catch (error) {
      throw translated(error, 'the server refused a statement');
    }
  }
}

/** pg dials by itself; ours is dialled already (through a Service or a port-forward), so its `connect` only reports that. */
function alreadyConnected(stream: Duplex): Duplex {
  const chain = () => stream;
  return Object.assign(stream, {
    connect: () => {
      process.nextTick(() => stream.emit('connect'));
      return stream;
    },
    setNoDelay: chain,
    setKeepAlive: chain,
    ref: chain,
    unref: chain,
  });
}

function optionsOf(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`).join(' ');
}

/** RFC 5803, as `psql \password` sends it. */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const key = (name: string) => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(key('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${key('Server Key').toString('base64')}`;
}

function translated(error: unknown, doing: string): SqlError {
  if (error instanceof SqlError) return error;
  const code = (error as { code?: string }).code ?? '';
  const fromServer = (error as { severity?: string }).severity !== undefined;
  const kind = !fromServer ? 'unreachable' : code.startsWith(DENIED_CLASS) ? 'denied' : 'refused';
  return new SqlError(kind, `${doing}: ${(error as Error).message}`);
}
