import { Command } from 'commander';
import { withConnection, withConnectionFlags, type ConnectionFlags } from './connection';
import type { Io } from './io';
import { withOperatorFlags, type OperatorFlags } from './operator-of';
import { formatted, withOutputFlag, type Format } from './output';

type Flags = ConnectionFlags & OperatorFlags & { readonly filename: string; readonly output?: Format };

/** Exit code for "there are changes", as `diff` and `terraform plan -detailed-exitcode` have it. */
const CHANGES = 2;

/** `dbop plan`: what the operator would do, before anything is applied. */
export function planCommand(io: Io): Command {
  const command = new Command('plan')
    .description('Show what the operator would create, change and delete if the Databases of a file were applied. Nothing is changed.')
    .requiredOption('-f, --filename <file>', "file with Database objects, or '-' for standard input")
    .addHelpText(
      'after',
      `
The cluster is asked what is there, and by dry run what would become of it; secrets are masked. You need the right to get,
list and patch the children.

Examples:
  ${io.name} plan -f orders.yaml
  git diff --name-only main -- databases | xargs -n1 ${io.name} plan -n shop -f

Exit code: 0 no changes, 2 changes, 1 an error, or a change that would be refused.`,
    );
  return withOutputFlag(withConnectionFlags(withOperatorFlags(command, { image: 'that of the running operator', namespace: 'where its Deployment is found' }))).action((flags: Flags) => plan(flags, io));
}

async function plan(flags: Flags, io: Io): Promise<void> {
  const { parseDatabases, readManifests } = await import('./database-file.js');
  const { planDatabase } = await import('./planning.js');
  const { planText } = await import('./diff-view.js');
  const { operatorOf } = await import('./operator-of.js');
  const text = await readManifests(flags.filename, io);
  await withConnection(flags, io, async (connection) => {
    const file = parseDatabases(text, flags.filename, { kind: connection.database, namespace: flags.namespace, fallbackNamespace: connection.namespace });
    if (file.others.length > 0) io.err(`left out, because the operator looks after Databases only: ${file.others.join(', ')}\n`);
    const options = { operator: await operatorOf(connection.client, flags, io), signal: io.signal };
    const reports = await Promise.all(file.databases.map((database, i) => planDatabase(connection, database, file.written[i]!, options)));
    io.out(flags.output === undefined ? reports.map((report) => planText(report, io)).join('\n') : formatted(reports, flags.output));
    const actions = reports.flatMap(({ changes }) => changes.map(({ action }) => action));
    const refused = reports.some((report) => report.refused !== undefined) || actions.includes('refused');
    io.exitCode = refused ? 1 : actions.some((action) => action !== 'none') ? CHANGES : 0;
  });
}
