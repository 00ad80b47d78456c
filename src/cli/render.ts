import { Command } from 'commander';
import { kindsOf, withKindFlags, type ConnectionFlags } from './connection';
import type { Io } from './io';
import { usualOperator, withOperatorFlags, type OperatorFlags } from './operator-of';
import { formatted, withOutputFlag, type Format } from './output';

type Flags = ConnectionFlags & OperatorFlags & { readonly filename: string; readonly output?: Format };

/** `dbop render`: the children of a Database, without a cluster. */
export function renderCommand(io: Io): Command {
  const command = new Command('render')
    .description('Print the children that the operator makes for each Database of a file, as YAML. No cluster is asked.')
    .requiredOption('-f, --filename <file>', "file with Database objects, or '-' for standard input")
    .addHelpText(
      'after',
      `
What only a cluster knows is left out: passwords (masked), the UID of the owner, Jobs of a restore.

Examples:
  ${io.name} render -f orders.yaml
  kubectl get db orders -o yaml | ${io.name} render -f - | grep image:

Exit code: 0, or 1 if an object is refused; then nothing is printed but why.`,
    );
  return withOutputFlag(withKindFlags(withOperatorFlags(command, { image: 'the release of this version', namespace: 'dbop-system' }))).action((flags: Flags) => render(flags, io));
}

async function render(flags: Flags, io: Io): Promise<void> {
  const { parseDatabases, readManifests } = await import('./database-file.js');
  const { renderedChildren } = await import('./rendering.js');
  const { database: kind } = await kindsOf(flags, io);
  const { databases, others } = parseDatabases(await readManifests(flags.filename, io), flags.filename, { kind, namespace: flags.namespace });
  const operator = usualOperator(flags, io);
  const children = await Promise.all(databases.map((database) => renderedChildren(database, { operator, signal: io.signal })));
  if (others.length > 0) io.err(`left out, because only Databases have children: ${others.join(', ')}\n`);
  io.out(formatted(children.flat(), flags.output ?? 'yaml'));
}
