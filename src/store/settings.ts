import type { Retention } from '../constructs/backup-job';
import { type EngineName, paths } from '../engines/engine';
import { TERMINATION_LOG } from './result';
import type { S3Settings } from './s3';

/** Where the target is, as the store's container sees it. */
export type TargetSettings = { readonly volume: { readonly path: string } } | { readonly s3: S3Settings };

/**
 * What the store is asked to do. The constructs write it as JSON into the variable `DBOP_STORE`;
 * what only the pod knows (its Job's name and UID, its namespace) comes by the downward API.
 */
export interface StoreSettings {
  readonly action: 'put' | 'get' | 'delete' | 'list';
  readonly target: TargetSettings;
  readonly engine?: EngineName;
  /** Database whose backups these are. */
  readonly database: string;
  /** @default the pod's own */
  readonly namespace?: string;
  /** @default put: the Job's name; get: the newest good one */
  readonly backup?: string;
  /**
   * put: what an earlier try of the same run has stored is gone on with. put, delete: a good backup of another run is not touched.
   * @default put: the Job's UID; delete: whichever run took it
   */
  readonly run?: string;
  readonly verify?: boolean;
  readonly retention?: Retention;
  /** get: no backup is a failure. */
  readonly required?: boolean;
  /** Where the two containers meet. */
  readonly exchange: string;
  readonly terminationLog: string;
}

/** @throws with what is wrong in the environment */
export function settingsFrom(env: Readonly<Record<string, string | undefined>>): StoreSettings {
  const text = env['DBOP_STORE'];
  if (text === undefined) throw new Error('DBOP_STORE is not set: this command runs in the pods of backup and restore Jobs, which set it');
  let given: Partial<StoreSettings>;
  try {
    given = JSON.parse(text) as Partial<StoreSettings>;
  } catch (error) {
    throw new Error('DBOP_STORE is not JSON', { cause: error });
  }
  const { action, target, database } = given;
  if (action === undefined || target === undefined || database === undefined) throw new Error('DBOP_STORE needs action, target and database');
  const backup = given.backup ?? (action === 'put' ? env['JOB_NAME'] : undefined);
  if ((action === 'put' || action === 'delete') && backup === undefined) throw new Error(`DBOP_STORE: '${action}' needs the name of a backup`);
  if ((action === 'put' || action === 'get') && given.engine === undefined) throw new Error(`DBOP_STORE: '${action}' needs the engine`);
  return {
    ...given,
    action,
    target,
    database,
    backup,
    run: given.run ?? (action === 'put' ? env['JOB_UID'] : undefined),
    namespace: given.namespace ?? env['POD_NAMESPACE'],
    exchange: given.exchange ?? paths.exchange,
    terminationLog: given.terminationLog ?? TERMINATION_LOG,
  };
}

/**
 * The folder of a database's backups in its target. A volume belongs to one namespace; a bucket may serve many,
 * and two databases of one name must never see each other's backups.
 */
export function folderOf(settings: Pick<StoreSettings, 'target' | 'database' | 'namespace'>): string {
  if (!('s3' in settings.target)) return settings.database;
  if (settings.namespace === undefined) throw new Error('the namespace is not known: POD_NAMESPACE is not set');
  return `${settings.namespace}/${settings.database}`;
}
