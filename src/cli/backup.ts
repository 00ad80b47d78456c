import { Command, Option } from 'commander';
import type { DatabaseBackupObject } from '../api/database-backup';
import { apiVersionOf } from '../kind/resource';
import { byteText } from '../operator/byte-text';
import { findDatabase, withConnection, withConnectionFlags, type Connection, type ConnectionFlags } from './connection';
import { Failure } from './failure';
import type { Io } from './io';
import { formatted, withOutputFlag, withoutManagedFields, type Format } from './output';
import { timeout } from './timeout';

type Flags = ConnectionFlags & { readonly name?: string; readonly wait?: boolean; readonly verify: boolean; readonly timeout: number; readonly output?: Format };

/** `dbop backup`: asks for a backup now. */
export function backupCommand(io: Io): Command {
  const command = new Command('backup')
    .description('Take a backup of a database now.')
    .argument('<name>', 'name of the Database')
    .option('--name <backup>', 'name of the DatabaseBackup (default: NAME and the time)')
    .option('--no-verify', 'do not restore it into a throw-away server to prove it (default: as the Database says)')
    .option('--wait', 'wait until it is stored, and proved if it is to be')
    .addOption(new Option('--timeout <duration>', 'how long to wait, such as 90s, 30m or 2h').argParser(timeout).default(timeout('1h'), '1h'))
    .addHelpText(
      'after',
      `
Examples:
  ${io.name} backup orders --wait
  ${io.name} backup orders -n shop --name before-migration --wait && ./migrate.sh

Exit code: 0 when it is asked for, or with --wait when it is good; 1 if it failed or was not ready in time.`,
    );
  return withOutputFlag(withConnectionFlags(command)).action((name: string, flags: Flags) => withConnection(flags, io, (connection) => takeBackup(connection, name, flags, io)));
}

async function takeBackup(connection: Connection, database: string, flags: Flags, io: Io): Promise<void> {
  const { client, backup: kind, namespace } = connection;
  await findDatabase(connection, database, io);
  const name = flags.name ?? `${database}-${stamp(io.clock.now())}`;
  kind.checkName(name, `${namespace}/${name}`);
  const wish = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, namespace },
    spec: { database, ...(!flags.verify && { verify: false }) },
  } satisfies DatabaseBackupObject;
  const asked = await client.create<DatabaseBackupObject>(kind, wish, { fieldManager: 'dbop-cli', signal: io.signal });
  if (flags.wait !== true) {
    return io.out(flags.output === undefined ? `DatabaseBackup ${name} is asked for; follow it with: kubectl get dbb ${name} -n ${namespace} -w\n` : formatted(withoutManagedFields(asked), flags.output));
  }
  const done = await outcomeOf(connection, asked, flags, io);
  if (flags.output !== undefined) io.out(formatted(withoutManagedFields(done), flags.output));
  if (done.status?.phase === 'Failed') throw new Failure(`backup ${name} of ${namespace}/${database} failed: ${done.status.message ?? 'no reason was given'}`);
  if (flags.output === undefined) io.out(`${told(done)}\n`);
}

/** Follows a backup to its end. */
async function outcomeOf({ client, backup: kind, namespace }: Connection, asked: DatabaseBackupObject, flags: Flags, io: Io): Promise<DatabaseBackupObject> {
  const { follow, followed } = await import('./follow.js');
  const { newsTeller } = await import('./timeline.js');
  const { name } = asked.metadata;
  const news = newsTeller([]);
  let last = asked;
  let deleted = false;
  const late = AbortSignal.timeout(flags.timeout);
  const selection = { namespaces: [namespace], fieldSelector: `metadata.name=${name}` };
  const seen = followed<DatabaseBackupObject>({
    type: kind,
    selection,
    tell: ({ type, object }) => {
      last = object;
      deleted = type === 'deleted';
      if (news(object, object.status) && object.status?.phase !== undefined && flags.output === undefined) io.err(`${[object.status.phase, object.status.message].filter(Boolean).join(': ')}\n`);
      return deleted || object.status?.phase === 'Succeeded' || object.status?.phase === 'Failed';
    },
  });
  await follow(client, [seen], AbortSignal.any([io.signal, late])).catch((error: unknown) => {
    if (!late.aborted || io.signal.aborted) throw error;
    const why = last.status?.message ?? `no operator has taken it up; does one run, and does it look after namespace ${namespace}?`;
    throw new Failure(`backup ${name} was not ready in ${flags.timeout / 1000} s: ${why}. It goes on; see: kubectl get dbb ${name} -n ${namespace}`);
  });
  if (deleted) throw new Failure(`backup ${name} was deleted before it was complete`);
  return last;
}

function told({ metadata, status }: DatabaseBackupObject): string {
  const size = `${byteText(status?.bytes ?? 0)}, ${status?.tables ?? 0} tables, ${status?.rows ?? 0} rows`;
  return `backup ${metadata.name} is stored${status?.verified === true ? ' and proved' : ', not proved'} (${size}) at ${status?.location ?? 'an unknown place'}`;
}

/** A moment as it fits into a name: 20260131-154500. */
function stamp(now: number): string {
  return new Date(now).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
}
