import type { EngineName } from '../engines/engine';

/** What a client needs to know to log in. */
export interface ClientLogin {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** How an engine's client is started. The password stands in a file alone: arguments and environment can be read by others. */
export interface ClientProgram {
  /** Programs that will do, the best one first. */
  readonly programs: readonly string[];
  /** What the file with the password holds. */
  readonly secretFile: string;
  /** Arguments before those of the user. @param file where the secret file is */
  arguments(file: string): string[];
  /** Variables beside those of the user. @param file where the secret file is */
  environment(file: string): Record<string, string>;
}

/** The client of an engine, ready to log in. */
export function clientProgram(engine: EngineName, login: ClientLogin): ClientProgram {
  return engine === 'mysql' ? mysqlClient(login) : postgresClient(login);
}

function mysqlClient({ host, port, username, password, database }: ClientLogin): ClientProgram {
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`;
  const options = { host, port: String(port), protocol: 'tcp', user: quoted(username), password: quoted(password) };
  return {
    programs: ['mysql', 'mariadb'],
    secretFile: [
      '[client]',
      ...Object.entries(options).map(([name, value]) => `${name}=${value}`),
      '[mysql]',
      `database=${quoted(database)}`,
      // MariaDB's client checks names in certificates; the server made its own, and the tunnel is encrypted by the API server.
      '[mariadb-client]',
      'skip-ssl-verify-server-cert',
      '',
    ].join('\n'),
    // Instead of ~/.my.cnf, which could name another user or socket.
    arguments: (file) => [`--defaults-file=${file}`],
    environment: () => ({}),
  };
}

function postgresClient({ host, port, username, password, database }: ClientLogin): ClientProgram {
  const escaped = (text: string) => text.replace(/[\\:]/g, '\\$&');
  return {
    programs: ['psql'],
    secretFile: `${[host, String(port), database, username, password].map(escaped).join(':')}\n`,
    arguments: () => [],
    environment: (file) => ({ PGPASSFILE: file, PGHOST: host, PGPORT: String(port), PGUSER: username, PGDATABASE: database, PGSSLMODE: 'prefer' }),
  };
}
