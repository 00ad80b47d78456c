import type { Construct } from 'constructs';
import type { EngineName } from '../engines/engine';
import type { BackupTarget } from './backup-target';
import type { Resources, Scheduling } from './pod-props';
import type { ServerNames } from './server-names';

/** Which backups are kept; the last good one always is. */
export interface Retention {
  /** How many. @default no bound by number */
  readonly count?: number;
  /** For how many days. @default no bound by age */
  readonly days?: number;
}

/** When backups are taken. */
export interface BackupSchedule {
  /** Five fields, as cron knows them. */
  readonly cron: string;
  /** A name of the time zone database. @default the zone of the cluster's controller manager */
  readonly timeZone?: string;
  /** True keeps the CronJob but starts no Job. @default false */
  readonly suspended?: boolean;
}

/** What the Jobs of a database have in common. */
export interface DatabaseJobProps {
  /** The database's name. */
  readonly database: string;
  readonly namespace?: string;
  readonly engine: EngineName;
  readonly version: string;
  /** Image of the server. @default the engine's official image of that version */
  readonly image?: string;
  /** Image with `dbop`, for the container that speaks to the target. */
  readonly storeImage: string;
  readonly target: BackupTarget;
  /** Child names. @default serverNames(database) */
  readonly names?: ServerNames;
  /** Labels of the Job and of its pod, beside our own. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Of the container with the server's tools. @default requests 100m/128Mi, limit 512Mi */
  readonly engineResources?: Resources;
  readonly scheduling?: Scheduling;
  readonly imagePullSecrets?: readonly string[];
}

export interface BackupJobProps extends DatabaseJobProps {
  /** Name of the Job or CronJob. */
  readonly name: string;
  /** Makes a CronJob. @default one Job, now */
  readonly schedule?: BackupSchedule;
  /** Name of the backup. @default the Job's name, which a CronJob makes unique */
  readonly backupName?: string;
  /** Restore the artifact into a throw-away server and compare before it counts as verified. @default true */
  readonly verify?: boolean;
  /** @default everything is kept */
  readonly retention?: Retention;
  /** Size limit of the throw-away server's directory. @default none */
  readonly scratchSize?: string;
}

export declare class BackupJob extends Construct {
  constructor(scope: Construct, id: string, props: BackupJobProps);
}
