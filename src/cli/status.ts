import { Command } from 'commander';
import type { DatabaseObject } from '../api/database';
import { findDatabase, withConnection, withConnectionFlags, type Connection, type ConnectionFlags } from './connection';
import type { Io } from './io';
import { formatted, withOutputFlag, withoutManagedFields, type Format } from './output';

type Flags = ConnectionFlags & { readonly allNamespaces?: boolean; readonly watch?: boolean; readonly output?: Format };

/** `dbop status`: how databases fare. */
export function statusCommand(io: Io): Command {
  const command = new Command('status')
    .description('Tell how databases fare: all of a namespace as a table, or the whole story of one.')
    .argument('[name]', 'name of a Database')
    .option('-A, --all-namespaces', 'the databases of all namespaces')
    .option('-w, --watch', 'go on telling what changes, until Ctrl-C or the end of the database')
    .addHelpText(
      'after',
      `
No right to read Secrets is needed.

Examples:
  ${io.name} status -A
  ${io.name} status orders -n shop
  ${io.name} status orders -w
  ${io.name} status orders -o json | jq .database.status.phase

Exit code: 0, or 1 if there is no such database.`,
    );
  return withOutputFlag(withConnectionFlags(command)).action((name: string | undefined, flags: Flags, self: Command) => {
    if (flags.watch === true && flags.output !== undefined) self.error("error: --watch is for people and --output for programs; use 'kubectl get db -w -o json' for both");
    if (name !== undefined && flags.allNamespaces === true) self.error('error: a name and --all-namespaces exclude each other; name the namespace with -n');
    return withConnection(flags, io, (connection) => (name === undefined ? all(connection, flags, io) : one(connection, name, flags, io)));
  });
}

async function all({ client, database, namespace }: Connection, flags: Flags, io: Io): Promise<void> {
  const { databaseTable } = await import('./story-view.js');
  const where = flags.allNamespaces === true ? undefined : namespace;
  const { items } = await client.list<DatabaseObject>(database, { namespace: where, signal: io.signal });
  if (flags.output !== undefined) return io.out(formatted(withoutManagedFields(items), flags.output));
  const view = () => ({ color: io.color, now: io.clock.now(), withNamespace: where === undefined });
  if (items.length > 0 || flags.watch === true) io.out(databaseTable(items, view()));
  else io.err(`no databases in ${where === undefined ? 'any namespace' : `namespace ${where}`}\n`);
  if (flags.watch !== true) return;
  const { rowTeller } = await import('./timeline.js');
  const { followed, follow } = await import('./follow.js');
  const tell = rowTeller(items, (changed) => io.out(databaseTable([changed], view()).split('\n').slice(1).join('\n')));
  await untilInterrupted(io, follow(client, [followed({ type: database, selection: { namespaces: where === undefined ? undefined : [where] }, tell })], io.signal));
}

async function one(connection: Connection, name: string, flags: Flags, io: Io): Promise<void> {
  const { gatherStory } = await import('./story.js');
  const { storyText } = await import('./story-view.js');
  const story = await gatherStory(connection, await findDatabase(connection, name, io), io.signal);
  if (flags.output !== undefined) return io.out(formatted(withoutManagedFields(story), flags.output));
  io.out(storyText(story, { color: io.color, now: io.clock.now() }));
  if (flags.watch !== true) return;
  const { followStory } = await import('./timeline.js');
  io.out('\n');
  await untilInterrupted(io, followStory(connection, story, io));
}

/** Ctrl-C is how a watch ends: no failure. */
async function untilInterrupted(io: Io, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!io.signal.aborted) throw error;
  });
}
