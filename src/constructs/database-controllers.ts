import { Database, defaultGroup } from '../api/database';
import { DatabaseBackup } from '../api/database-backup';
import type { ControllerDeclaration } from '../kind/access';
import { builtin } from '../kind/resource';

/** What the operator of this package touches, controller by controller. */
export interface DatabaseControllers {
  readonly database: ControllerDeclaration<typeof Database>;
  readonly backup: ControllerDeclaration<typeof DatabaseBackup>;
}

/**
 * The declarations of our two controllers: `OperatorDeployment` computes RBAC from them, and the operator runs by them.
 * @param group - API group of the kinds.
 */
export function databaseControllers(group: string = defaultGroup): DatabaseControllers {
  const database = Database.withGroup(group);
  const backup = DatabaseBackup.withGroup(group);
  return {
    database: {
      kind: database,
      owns: [
        builtin.ConfigMap,
        builtin.Secret,
        builtin.Service,
        builtin.ServiceAccount,
        builtin.PersistentVolumeClaim,
        builtin.StatefulSet,
        builtin.CronJob,
        builtin.Job,
        builtin.NetworkPolicy,
        builtin.PodDisruptionBudget,
      ],
      watches: [builtin.Pod, builtin.StorageClass, backup],
      finalizer: 'dbop.dev/database',
      also: [{ type: backup, verbs: ['create', 'delete'], why: 'record the backups that the schedule took, and let go of those that the retention removed' }],
    },
    backup: {
      kind: backup,
      owns: [builtin.Job],
      watches: [builtin.Pod, database],
      finalizer: 'dbop.dev/backup',
    },
  };
}
