import type { Chart } from 'cdk8s';
import type { BackupTarget } from '../constructs/backup-target';
import type { BackupVolumeProps } from '../constructs/backup-volume';
import type { Retention } from '../constructs/backup-job';
import type { RestoreSource } from '../constructs/restore-job';
import type { DatabaseServerProps } from '../constructs/database-server';
import type { ServerNames } from '../constructs/server-names';
import type { ResourceType } from '../kind/resource';
import type { Engine } from '../engines/engine';
import type { BackupHealth } from './backup-health';

/** What becomes of the data when the object is deleted. */
export type DeletionPolicy = 'Backup' | 'Delete' | 'Retain';

/** Where backups go, and which are kept. */
export interface BackupPlan {
  readonly target: BackupTarget;
  /** The claim to make where the target is a volume of the database's own. @default the target exists already */
  readonly volume?: Omit<BackupVolumeProps, 'name' | 'namespace'>;
  /** Children that outlive the database together with its backups. @default none */
  readonly more?: (chart: Chart) => void;
  readonly verify: boolean;
  readonly retention?: Retention;
  /** Name of the Job that takes the last backup before a deletion. */
  readonly finalJob: string;
  /** Name of that backup: it must never have been another's, or an old backup would pass for a new one. @default the Job's name */
  readonly finalBackup?: string;
}

/** Whether and from what a new database is filled. */
export interface RestorePlan {
  readonly policy: 'IfAvailable' | 'Required' | 'Never';
  /** Let a Job look for a backup even where there can't be one. @default false */
  readonly always?: boolean;
  /** @default the newest good backup of a database of the same name */
  readonly from?: RestoreSource;
  /** Where that backup lies. @default where the database's own backups go */
  readonly target?: BackupTarget;
}

/**
 * A database as its life sees it, whatever kind describes it: the seam between an API and the mechanics.
 * A kind of one's own is a function from its object to a plan, and one from a story to its status.
 */
export interface DatabasePlan {
  readonly engine: Engine;
  readonly names: ServerNames;
  /** What `DatabaseServer` renders; whether it runs is for the life to say. */
  readonly server: Omit<DatabaseServerProps, 'running' | 'names'> & { readonly namespace: string };
  /** The application's account and database. */
  readonly application: {
    readonly username: string;
    readonly database: string;
    /** An existing Secret with `username` and `password`. @default a password is made and kept in `names.applicationSecret` */
    readonly suppliedSecret?: string;
  };
  /** An existing Secret with `tls.crt`, `tls.key` and `ca.crt`. @default the operator makes an authority and a certificate, and renews both */
  readonly certificateSecret?: string;
  /** A superuser's password that the object itself names. @default one is made */
  readonly rootPassword?: string;
  /** A new value asks for new passwords. */
  readonly rotation?: string;
  readonly backup: BackupPlan;
  readonly restore: RestorePlan;
  readonly deletionPolicy: DeletionPolicy;
  /** How a user of this kind goes without the final backup, such as `set spec.deletionPolicy to Delete`. */
  readonly wayOut: string;
  /** Children that this kind has and others don't; they come and go with the database. @default none */
  readonly more?: (chart: Chart) => void;
  /** The kinds of those children, where they aren't among the usual ones. @default none */
  readonly moreKinds?: readonly ResourceType[];
  readonly protected: boolean;
  readonly paused: boolean;
  readonly hibernated: boolean;
}

/** Where a database is in its life, as users read it. */
export type LifePhase = 'Creating' | 'Restoring' | 'Running' | 'Updating' | 'Failed' | 'Hibernated' | 'Paused' | 'Deleting';

/** What a pass has found out: a kind's status is made from it. */
export interface Story {
  readonly phase: LifePhase;
  readonly reason: string;
  readonly message: string;
  readonly ready: boolean;
  readonly endpoint: { readonly host: string; readonly port: number };
  readonly secretName: string;
  /** Version that the server itself tells. */
  readonly version?: string;
  /** Where the data comes from: `empty`, `kept`, or the name of a backup; once it is settled. */
  readonly origin?: string;
  /** When a restore settled that. */
  readonly originAt?: string;
  readonly lastBackup?: { readonly name: string; readonly at: string; readonly verified: boolean };
  readonly rotation?: string;
  /** How backups fare; for a condition of its own. */
  readonly backups: BackupHealth;
}

/** DNS name of the Service, which works from any namespace of the cluster. */
export function serviceHost(plan: DatabasePlan): string {
  return `${plan.names.service}.${plan.server.namespace}.svc`;
}
