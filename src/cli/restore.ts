import { Command, InvalidArgumentError } from 'commander';
import type { DatabaseObject } from '../api/database';
import type { DatabaseBackupObject } from '../api/database-backup';
import { isAlreadyExists, isNotFound } from '../runtime/api-error';
import { withConnection, withConnectionFlags, type Connection, type ConnectionFlags } from './connection';
import { Failure } from './failure';
import type { Io } from './io';
import { formatted, withOutputFlag, withoutManagedFields, type Format } from './output';
import type { Overrides, Source } from './restored-database';

type From = { readonly kind: 'backup' | 'database'; readonly name: string };
type Flags = ConnectionFlags & Overrides & { readonly from: From; readonly dryRun?: boolean; readonly output?: Format };

/** `dbop restore`: a new database from a backup. */
export function restoreCommand(io: Io): Command {
  const command = new Command('restore')
    .description('Create a new database that is filled from a backup. An existing database is never touched.')
    .argument('<name>', 'name of the new Database')
    .requiredOption('--from <source>', 'backup/NAME for that DatabaseBackup, or database/NAME for the newest good backup of a database, existing or gone', parseFrom)
    .option('--version <version>', 'version of the new server (default: that of the source)')
    .option('--size <size>', 'size of its volume (default: that of the source)')
    .option('--engine <engine>', 'mysql or postgres, where the source is gone and nobody knows it')
    .option('--image <image>', 'image of the new server (default: that of the source)')
    .option('--dry-run', 'print the Database instead of creating it, for a repository of manifests')
    .addHelpText(
      'after',
      `
The new database has the shape of the source: engine, version, size, settings, and where backups rest. It waits until the
backup is there, and starts when it is restored.

Examples:
  ${io.name} restore orders-friday --from backup/orders-20260130-020000
  ${io.name} restore orders-copy --from database/orders -n shop
  ${io.name} restore orders-18 --from database/orders --version 18 --dry-run > orders-18.yaml

Exit code: 0 when the Database is created, else 1. Follow it with: ${io.name} status NAME -w`,
    );
  return withOutputFlag(withConnectionFlags(command)).action((name: string, flags: Flags) => withConnection(flags, io, (connection) => restore(connection, name, flags, io)));
}

async function restore(connection: Connection, name: string, flags: Flags, io: Io): Promise<void> {
  const { restoredDatabase } = await import('./restored-database.js');
  const { client, database: kind, namespace } = connection;
  if ((await find<DatabaseObject>(connection, 'database', name, io)) !== undefined) throw taken(namespace, name, flags.from);
  const { version, size, engine, image } = flags;
  const wish = restoredDatabase(kind, { namespace, name }, await sourceOf(connection, flags.from, io), { version, size, engine, image });
  if (flags.dryRun === true) return io.out(formatted(wish, flags.output ?? 'yaml'));
  const created = await client.create<DatabaseObject>(kind, wish, { fieldManager: 'dbop-cli', signal: io.signal }).catch((error: unknown) => {
    throw isAlreadyExists(error) ? taken(namespace, name, flags.from) : error;
  });
  io.out(flags.output === undefined ? `Database ${name} is created and will be filled from ${flags.from.kind} ${flags.from.name}; follow it with: ${io.name} status ${name} -n ${namespace} -w\n` : formatted(withoutManagedFields(created), flags.output));
}

async function sourceOf(connection: Connection, from: From, io: Io): Promise<Source> {
  if (from.kind === 'database') return { from: { database: from.name }, database: await find(connection, 'database', from.name, io) };
  const backup = await find<DatabaseBackupObject>(connection, 'backup', from.name, io);
  if (backup === undefined) {
    const all = (await connection.client.list(connection.backup, { namespace: connection.namespace, signal: io.signal })).items.map(({ metadata }) => metadata.name);
    throw new Failure(`there is no DatabaseBackup '${from.name}' in namespace ${connection.namespace}; there ${all.length === 0 ? 'is none at all' : `are: ${all.join(', ')}`}`);
  }
  if (backup.status?.phase === 'Failed') throw new Failure(`DatabaseBackup ${from.name} failed and holds nothing to restore: ${backup.status.message ?? 'no reason was given'}`);
  return { from: { backup: from.name }, backup, database: await find(connection, 'database', backup.spec.database, io) };
}

async function find<T extends DatabaseObject | DatabaseBackupObject>(connection: Connection, kind: 'database' | 'backup', name: string, io: Io): Promise<T | undefined> {
  return connection.client.get<T>(connection[kind], { namespace: connection.namespace, name }, { signal: io.signal }).catch((error: unknown) => {
    // A missing kind is 404 as well, but names no object.
    if (isNotFound(error) && error.details.name === name) return undefined;
    throw error;
  });
}

function taken(namespace: string, name: string, from: From): Failure {
  return new Failure(
    `Database ${namespace}/${name} exists, and a restore never goes over one that does: choose another name (such as ${name}-restored), look at its data there, and point the application to it; ` +
      `or delete ${name} first (its last backup is taken then) and run this again. The source was ${from.kind}/${from.name}.`,
  );
}

function parseFrom(text: string): From {
  const [, kind, name] = /^(backup|database)\/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(text) ?? [];
  if (kind === undefined || name === undefined) throw new InvalidArgumentError('Write backup/NAME or database/NAME.');
  return { kind: kind as From['kind'], name };
}
