import { Command } from 'commander';
import type { DatabaseObject } from '../api/database';
import { engineOf } from '../engines/engine-of';
import { builtin } from '../kind/resource';
import type { Secret } from '../operator/accounts';
import { isNotFound } from '../runtime/api-error';
import type { ClientLogin } from './client-program';
import { findDatabase, withConnection, withConnectionFlags, type Connection, type ConnectionFlags } from './connection';
import { Failure } from './failure';
import type { Io } from './io';
import { MASK } from './masked';
import { formatted, withOutputFlag, type Format } from './output';

type Flags = ConnectionFlags & { readonly print?: boolean; readonly reveal?: boolean; readonly output?: Format };

/** `dbop connect`: the engine's own client, logged in. */
export function connectCommand(io: Io): Command {
  const command = new Command('connect')
    .description("Open the engine's own client (mysql, mariadb or psql) through a port-forward, logged in as the application.")
    .argument('<name>', 'name of the Database')
    .argument('[args...]', 'more arguments for the client, after --')
    .option('--print', 'print the connection string for applications of the cluster instead')
    .option('--reveal', 'with --print: with the password')
    .addHelpText(
      'after',
      `
The password goes to the client by a file that only you can read and that is gone afterwards.

Examples:
  ${io.name} connect orders
  ${io.name} connect orders -- -e 'select count(*) from items'
  ${io.name} connect orders --print

Exit code: that of the client, or 1.`,
    );
  return withOutputFlag(withConnectionFlags(command)).action((name: string, args: string[], flags: Flags, self: Command) => {
    if (flags.print !== true && (flags.reveal === true || flags.output !== undefined)) self.error('error: --reveal and --output belong to --print');
    return withConnection(flags, io, (connection) => connect(connection, name, args, flags, io));
  });
}

async function connect(connection: Connection, name: string, args: readonly string[], flags: Flags, io: Io): Promise<void> {
  const database = await findDatabase(connection, name, io);
  const login = await loginOf(connection, database, io);
  if (flags.print === true) return print(database, login, flags, io);
  const pod = await readyPod(connection, database, io);
  const { runClient } = await import('./client-run.js');
  const { openTunnel } = await import('./tunnel.js');
  const tunnel = await openTunnel(connection.client, { namespace: connection.namespace, name: pod, port: login.port }, (why) => io.err(`${io.name}: ${why}\n`));
  try {
    io.exitCode = await runClient(database.spec.engine, { ...login, host: '127.0.0.1', port: tunnel.port }, args, io);
  } finally {
    await tunnel.close();
  }
}

function print({ spec, status, metadata }: DatabaseObject, login: ClientLogin, flags: Flags, io: Io): void {
  const password = flags.reveal === true ? login.password : MASK;
  const { uri, jdbcUrl } = engineOf(spec.engine).connectionStrings({ ...login, password });
  const shown = (text: string) => (flags.reveal === true ? text : text.replaceAll(encodeURIComponent(MASK), MASK));
  if (flags.output !== undefined) return io.out(formatted({ ...login, password, uri: shown(uri), jdbcUrl: shown(jdbcUrl) }, flags.output));
  io.out(`${shown(uri)}\n`);
  if (flags.reveal !== true) io.err(`the password is in Secret ${status?.secretName ?? `${metadata.name}-app`}; --reveal prints it here\n`);
}

/** What the application connects by, from its Secret. */
async function loginOf({ client, namespace }: Connection, { metadata, status }: DatabaseObject, io: Io): Promise<ClientLogin> {
  const name = status?.secretName ?? `${metadata.name}-app`;
  const secret = await client.get<Secret>(builtin.Secret, { namespace, name }, { signal: io.signal }).catch((error: unknown) => {
    if (isNotFound(error)) throw new Failure(`Secret ${namespace}/${name} is not there yet: the database is ${status?.phase ?? 'not seen by an operator'}; see ${io.name} status ${metadata.name} -n ${namespace}`);
    throw error;
  });
  const value = (key: string) => {
    const encoded = secret.data?.[key];
    if (encoded === undefined) throw new Failure(`Secret ${namespace}/${name} has no key '${key}'; the operator puts it back if you delete the Secret`);
    return Buffer.from(encoded, 'base64').toString('utf8');
  };
  return { host: value('host'), port: Number(value('port')), username: value('username'), password: value('password'), database: value('database') };
}

async function readyPod({ client, namespace }: Connection, { metadata, status }: DatabaseObject, io: Io): Promise<string> {
  const { podStory } = await import('../operator/pod-story.js');
  const labelSelector = `app.kubernetes.io/instance=${metadata.name},app.kubernetes.io/component=server`;
  const pods = (await client.list(builtin.Pod, { namespace, labelSelector, signal: io.signal })).items.map(podStory);
  const ready = pods.find((pod) => pod.ready);
  if (ready !== undefined) return ready.name;
  throw new Failure(`no pod of ${namespace}/${metadata.name} is ready: ${pods[0]?.message ?? status?.message ?? 'there is none'}; see ${io.name} status ${metadata.name} -n ${namespace}`);
}
