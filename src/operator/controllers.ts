import { Database } from '../api/database';
import { DatabaseBackup } from '../api/database-backup';
import { databaseControllers } from '../constructs/database-controllers';
import type { Context } from '../runtime/context';
import type { Controller } from '../runtime/controller';
import { backupController } from './backup-controller';
import { databasePlan, databaseStatus } from './database-api';
import { databaseController, type DatabaseLifeOptions } from './database-life';
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
      status: databaseStatus,
    },
    options,
  );
  return [life, backupController({ declaration: declared.backup, database, storeImage })];
}

/** The database that the backup to restore from is of. */
function sourceOf(context: Context<typeof Database>, backup: typeof DatabaseBackup): string | undefined {
  const name = context.object.spec.restore.from?.backup;
  return name === undefined ? undefined : context.read(backup).get(name)?.spec.database;
}
