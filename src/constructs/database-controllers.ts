import { Database, defaultGroup } from '../api/database';
import { DatabaseBackup } from '../api/database-backup';
import type { Access, ControllerDeclaration } from '../kind/access';
import type { Kind } from '../kind/define-kind';
import { builtin, type ResourceType } from '../kind/resource';

/** The progress of a Job stands in its log, and nowhere else. */
const readLogs: Access = { type: builtin.Pod, subresource: 'log', verbs: ['get'], why: 'tell how far a backup or restore is, by the last lines that its Job has printed' };

/** What the operator of this package touches, controller by controller. */
export interface DatabaseControllers {
  readonly database: ControllerDeclaration<typeof Database>;
  readonly backup: ControllerDeclaration<typeof DatabaseBackup>;
}

/** How the databases of a kind are run. */
export interface DatabaseDeclarationOptions {
  /** Set on each object, so that its data is safe before it goes; a domain of yours, such as `example.com/database`. */
  readonly finalizer: string;
  /**
   * What the server's pods are made by.
   * @default 'StatefulSet'
   */
  readonly workload?: 'StatefulSet' | 'Deployment';
  /**
   * Kinds of further children.
   * @default - none
   */
  readonly alsoOwns?: readonly ResourceType[];
}

/** What a controller touches that gives the databases of any kind their life; see `databaseController` of the operator. */
export function databaseDeclaration<K extends Kind>(kind: K, options: DatabaseDeclarationOptions): ControllerDeclaration<K> {
  const workload = options.workload === 'Deployment' ? builtin.Deployment : builtin.StatefulSet;
  return {
    kind,
    owns: [
      builtin.ConfigMap,
      builtin.Secret,
      builtin.Service,
      builtin.ServiceAccount,
      builtin.PersistentVolumeClaim,
      workload,
      builtin.CronJob,
      builtin.Job,
      builtin.NetworkPolicy,
      ...(options.alsoOwns ?? []),
    ],
    // With a reference, `kubectl delete --cascade=foreground` would have them taken before the last backup.
    ownership: 'label',
    watches: [builtin.Pod],
    finalizer: options.finalizer,
    also: [readLogs],
  };
}

/**
 * The declarations of our two controllers: `OperatorDeployment` computes RBAC from them, and the operator runs by them.
 * @param group - API group of the kinds.
 */
export function databaseControllers(group: string = defaultGroup): DatabaseControllers {
  const database = Database.withGroup(group);
  const backup = DatabaseBackup.withGroup(group);
  const life = databaseDeclaration(database, { finalizer: 'dbop.dev/database' });
  return {
    database: {
      ...life,
      watches: [builtin.Pod, backup],
      also: [...(life.also ?? []), { type: backup, verbs: ['create'], why: 'record the backups that the schedule took' }],
    },
    backup: {
      kind: backup,
      owns: [builtin.Job],
      ownership: 'label',
      watches: [builtin.Pod, database],
      finalizer: 'dbop.dev/backup',
      also: [
        readLogs,
        { type: backup, verbs: ['delete'], why: 'let go of the records of backups that the retention removed' },
        { type: builtin.PersistentVolumeClaim, verbs: ['get'], why: 'let go of a backup whose volume is gone, and take one with the version that last answered from the data' },
        { type: builtin.Secret, verbs: ['get'], why: 'say which Secret of a bucket is missing, before a pod waits for it in silence' },
      ],
    },
  };
}
