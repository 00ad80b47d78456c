import type { Database, DatabaseObject, DatabaseSpec } from '../api/database';
import type { DatabaseBackupObject } from '../api/database-backup';
import { apiVersionOf } from '../kind/resource';
import { Failure } from './failure';

/** What a new database is restored from. */
export interface Source {
  readonly from: { readonly backup: string } | { readonly database: string };
  /** The database that the backup is of, as far as it still exists. */
  readonly database?: DatabaseObject;
  readonly backup?: DatabaseBackupObject;
}

/** What the new one shall have in another way. */
export interface Overrides {
  readonly engine?: string;
  readonly version?: string;
  readonly size?: string;
  readonly image?: string;
}

/** Fields that belong to the life of the source, not to its shape. */
const OWN_LIFE = ['restore', 'paused', 'hibernated', 'deletionProtection', 'rotatePasswords'] as const satisfies readonly (keyof DatabaseSpec)[];

/**
 * A new Database that is filled from a backup: of the same shape as the source (backups are found where the source keeps its
 * own), and waiting until there is a backup instead of starting empty.
 */
export function restoredDatabase(kind: typeof Database, key: { readonly namespace: string; readonly name: string }, source: Source, overrides: Overrides): DatabaseObject {
  const where = `${key.namespace}/${key.name}`;
  kind.checkName(key.name, where);
  const shape: Record<string, unknown> = { ...source.database?.spec };
  for (const field of OWN_LIFE) delete shape[field];
  const spec = {
    ...shape,
    ...fromBackup(source),
    ...Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined)),
    restore: { policy: 'Required', from: source.from },
  };
  const missing = ['engine', 'version', 'size'].filter((field) => !(field in spec));
  if (missing.length > 0) throw new Failure(`${where}: the source database is gone, so nobody knows its ${missing.join(', ')}; give ${missing.map((field) => `--${field}`).join(', ')}`);
  if (overrides.version !== undefined && overrides.version !== shape.version && shape.image !== undefined && overrides.image === undefined) {
    throw new Failure(`${where}: the source runs the image ${String(shape.image)}, which is not of version ${overrides.version}; name one that is with --image`);
  }
  // Checked, but sent as it is: defaults are for the API server to fill in.
  kind.check(spec, where);
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { ...key }, spec: spec as unknown as DatabaseSpec };
}

/** A backup knows by what it was made, also when its database is gone. */
function fromBackup({ database, backup }: Source): { engine?: string; version?: string } {
  if (database !== undefined || backup?.status?.engine === undefined) return {};
  const { engine, version } = backup.status;
  return { engine, ...(version !== undefined && { version: release(engine, version) }) };
}

/** The part of a server's version that a spec names: 9.7.1-log → 9.7, 17.2 (Debian) → 17. */
function release(engine: string, version: string): string {
  const parts = /^[0-9]+(\.[0-9]+)*/.exec(version)?.[0].split('.') ?? [];
  return parts.slice(0, engine === 'postgres' ? 1 : 2).join('.');
}
