import type { Command } from 'commander';
import type { Database, DatabaseObject } from '../api/database';
import type { DatabaseBackup } from '../api/database-backup';
import type { Client } from '../runtime/client';
import { Failure } from './failure';
import type { Io } from './io';

/** Where a command works, in the words of kubectl. */
export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly group?: string;
}

/** A cluster to talk to, and our kinds as it serves them. */
export interface Connection {
  readonly client: Client;
  readonly namespace: string;
  readonly database: typeof Database;
  readonly backup: typeof DatabaseBackup;
}

/** Gives a command the options by which it finds its cluster. */
export function withConnectionFlags(command: Command): Command {
  return withKindFlags(command)
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG, or ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)');
}

/** Those of them that a command without a cluster has too. */
export function withKindFlags(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the object or of the context)')
    .option('--group <group>', 'API group under which Database and DatabaseBackup are served (env DBOP_GROUP; default: dbop.dev)');
}

/** Our kinds under the group that is meant. */
export async function kindsOf(flags: ConnectionFlags, io: Pick<Io, 'env'>): Promise<Pick<Connection, 'database' | 'backup'>> {
  const { Database } = await import('../api/database.js');
  const { DatabaseBackup } = await import('../api/database-backup.js');
  const group = flags.group ?? io.env.DBOP_GROUP ?? Database.group;
  return { database: Database.withGroup(group), backup: DatabaseBackup.withGroup(group) };
}

/** Does some work with a cluster, and lets go of its connections afterwards. */
export async function withConnection<T>(flags: ConnectionFlags, io: Io, work: (connection: Connection) => Promise<T>): Promise<T> {
  const { Client } = await import('../runtime/client.js');
  const { findCluster } = await import('../runtime/find-cluster.js');
  const access = await findCluster({ kubeconfig: flags.kubeconfig, context: flags.context, env: io.env });
  const client = new Client(access, { userAgent: 'dbop' });
  try {
    return await work({ client, namespace: flags.namespace ?? access.namespace, ...(await kindsOf(flags, io)) });
  } finally {
    await client.close();
  }
}

/** A Database of the connection's namespace, or an error that names those that are there. */
export async function findDatabase({ client, namespace, database }: Connection, name: string, io: Pick<Io, 'signal'>): Promise<DatabaseObject> {
  const { signal } = io;
  const { items } = await client.list<DatabaseObject>(database, { namespace, fieldSelector: `metadata.name=${name}`, signal });
  if (items[0] !== undefined) return items[0];
  const others = (await client.list<DatabaseObject>(database, { namespace, signal })).items.map(({ metadata }) => metadata.name);
  throw new Failure(`there is no Database '${name}' in namespace ${namespace}; ${others.length === 0 ? 'there is none at all: is it another one (-n)?' : `there are: ${others.join(', ')}`}`);
}
