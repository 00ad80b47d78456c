import { Database } from '../api/database';
import { DatabaseBackup, type DatabaseBackupObject } from '../api/database-backup';
import { databaseControllers } from '../constructs/database-controllers';
import type { Context } from '../runtime/context';
import type { Controller } from '../runtime/controller';
import { backupController } from './backup-controller';
import type { BackupRun } from './backup-health';
import { targetOf } from './backup-record';
import { databasePlan, databaseStatus, type Outside } from './database-api';
import { databaseController, type DatabaseLifeOptions } from './database-life';
import type { Story } from './plan';
import { recordBackups } from './record-backups';

/** What our own operator is made from. */
export interface DatabaseOperatorOptions extends DatabaseLifeOptions {
  /** Group under which our kinds are served. @default dbop.dev */
  readonly group?: string;
}

/** The controllers of our own kinds: `Database` and `DatabaseBackup`. */
export function controllers(options: DatabaseOperatorOptions): Controller[] {
  const database = options.group === undefined ? Database : Database.withGroup(options.group);
  const backup = options.group === undefined ? DatabaseBackup : DatabaseBackup.withGroup(options.group);
  const { storeImage } = options;
  const declared = databaseControllers(options.group);
  const life = databaseController<typeof Database>(
    {
      declaration: declared.database,
      plan: (context) => databasePlan(context.object, { storeImage, backupOf: sourceOf(context, backup) }),
      duties: (context, plan) => recordBackups(context, plan, backup),
      lastBackup: (context) => newestBackup(context, backup),
      lastRun: (context) => newestRun(context, backup),
      wakes: (record) => [{ namespace: record.metadata.namespace, name: (record as DatabaseBackupObject).spec.database }],
      status: databaseStatus,
    },
    options,
  );
  return [life, backupController({ declaration: declared.backup, database, storeImage })];
}

/** The backup that ended last, good or not, that is on record. */
function newestRun(context: Context<typeof Database>, kind: typeof DatabaseBackup): BackupRun | undefined {
  const runs = recordsOf(context, kind).flatMap(({ metadata, status }): BackupRun[] => {
    if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') return [];
    return [{ name: metadata.name, at: status.completedAt ?? metadata.creationTimestamp ?? '', failure: status.phase === 'Failed' ? (status.message ?? 'no reason was told') : undefined }];
  });
  return runs.sort((left, right) => right.at.localeCompare(left.at))[0];
}

/** The newest good backup that is on record. */
function newestBackup(context: Context<typeof Database>, kind: typeof DatabaseBackup): Story['lastBackup'] {
  const good = recordsOf(context, kind).filter(({ status }) => status?.phase === 'Succeeded');
  const [newest] = good.sort((left, right) => (right.status?.completedAt ?? '').localeCompare(left.status?.completedAt ?? ''));
  return newest?.status?.completedAt === undefined ? undefined : { name: newest.metadata.name, at: newest.status.completedAt, verified: newest.status.verified === true };
}

function recordsOf(context: Context<typeof Database>, kind: typeof DatabaseBackup): DatabaseBackupObject[] {
  const { name, namespace } = context.object.metadata;
  return context.read(kind).list(namespace).filter(({ spec, metadata }) => spec.database === name && metadata.deletionTimestamp === undefined);
}

/** What the backup to restore from is of, and where it rests. */
function sourceOf(context: Context<typeof Database>, kind: typeof DatabaseBackup): Outside['backupOf'] {
  const name = context.object.spec.restore.from?.backup;
  const record = name === undefined ? undefined : context.read(kind).get(name);
  return record && { database: record.spec.database, target: targetOf(record) };
}
