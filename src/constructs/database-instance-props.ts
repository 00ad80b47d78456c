import type { Resources } from './pod-props';

/** Where backups rest on a volume of their own, which outlives the database. */
export interface BackupVolumeOptions {
  /** Such as `20Gi`; it may grow, never shrink. */
  readonly size: string;
  /** @default - the cluster's default class */
  readonly storageClassName?: string;
}

/** Where backups rest in a bucket. */
export interface BackupBucketOptions {
  /** Address of the S3 service with its scheme, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  /** The bucket, which must exist. */
  readonly bucket: string;
  /** Put before each key, without a slash at either end. @default - nothing */
  readonly prefix?: string;
  /** @default - none */
  readonly region?: string;
  /** Secret with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. */
  readonly credentialsSecretName: string;
  /** Secret with the key ca.crt, where no public authority signed the service's certificate. @default - public authorities */
  readonly caSecretName?: string;
}

/** A bucket with backups of this or another cluster. */
export interface RestoreBucketOptions extends BackupBucketOptions {
  /** Namespace that the backup was taken in. @default - the database's own */
  readonly namespace?: string;
  /** Database that the backup is of. @default - one of the same name */
  readonly database?: string;
  /** Name of the backup. @default - the newest good one */
  readonly backup?: string;
}

/** How backups are taken. `volume` and `s3` exclude each other. */
export interface BackupOptions {
  /** Five fields, as in cron: minute, hour, day of the month, month, day of the week. @default - only when asked for */
  readonly schedule?: string;
  /** Zone in which the schedule is read, such as `Europe/Berlin`. @default - the cluster's */
  readonly timeZone?: string;
  /** Which backups are kept; the newest good one always is. @default - all */
  readonly retention?: {
    /** How many. */
    readonly count?: number;
    /** How old, in days, such as `30d`. */
    readonly age?: string;
  };
  /** Restore each backup into a throw-away server before it counts as good. @default true */
  readonly verify?: boolean;
  /** @default - a volume as large as the database, unless `s3` is given */
  readonly volume?: BackupVolumeOptions;
  /** @default - backups rest on a volume */
  readonly s3?: BackupBucketOptions;
}

/** What a new, empty database is filled with before it first starts. */
export interface RestoreOptions {
  /** `IfAvailable`: a backup if there is one. `Required`: wait for one. `Never`: start empty. @default 'IfAvailable' */
  readonly policy?: 'IfAvailable' | 'Required' | 'Never';
  /** One DatabaseBackup, the newest good one of a database, or one from a bucket. @default - the newest good one of a database of this name */
  readonly from?: { readonly backup?: string; readonly database?: string; readonly s3?: RestoreBucketOptions };
}

/** What every instance takes, whatever its engine. */
export interface DatabaseInstanceProps {
  /** Name of the Database object, from which its children derive theirs; at most 40 characters. @default - the construct's id */
  readonly name?: string;
  /** @default - the chart's */
  readonly namespace?: string;
  /** Labels of the Database object. @default - none */
  readonly labels?: { readonly [key: string]: string };
  /** Annotations of the Database object. @default - none */
  readonly annotations?: { readonly [key: string]: string };
  /** API group that the databases are served under; see `DatabaseCrd`. @default 'dbop.dev' */
  readonly group?: string;

  /** Version of the engine. A part left out takes the newest that the image offers. */
  readonly version: string;
  /** Image of the server, of that version. @default - the engine's official image */
  readonly image?: string;
  /** Size of the data volume, such as `10Gi`; it may grow, never shrink. */
  readonly size: string;
  /** Class of the data volume; can't be changed later. @default - the cluster's default class */
  readonly storageClassName?: string;
  /** Name of the database inside the server; can't be changed later. @default 'app' */
  readonly database?: string;
  /** Account of the application; can't be changed later. @default 'app' */
  readonly username?: string;
  /** The application's account from a Secret with the keys username and password. @default - the operator makes one */
  readonly credentials?: { readonly secretName: string };
  /** The server's certificate from a Secret with the keys tls.crt, tls.key and ca.crt, as cert-manager writes it. @default - the operator makes and renews one */
  readonly tls?: { readonly secretName: string };
  /** Settings of the server, in the words of its manual. @default - the operator's, which fit the memory limit */
  readonly parameters?: { readonly [name: string]: string | number | boolean | undefined };
  /** CPU and memory of the server. Limits alone keep the default requests; requests alone mean no limits. @default - requests 100m and 256Mi, limits 500m and 512Mi */
  readonly resources?: Resources;
  /** Labels for the pods. @default - only the operator's own */
  readonly podLabels?: { readonly [key: string]: string };
  /** Annotations for the pods. @default - only the operator's own */
  readonly podAnnotations?: { readonly [key: string]: string };
  /** @default - no schedule; the last backup before deletion rests on a volume as large as the database */
  readonly backup?: BackupOptions;
  /** @default - the newest good backup of a database of this name, if there is one */
  readonly restore?: RestoreOptions;
  /** What happens to the data when the object is deleted. @default 'Backup' */
  readonly deletionPolicy?: 'Backup' | 'Delete' | 'Retain';
  /** Refuse to delete the database and its volumes. @default false */
  readonly deletionProtection?: boolean;
  /** The operator changes nothing. @default false */
  readonly paused?: boolean;
  /** Shut the server down and keep its volume. @default false */
  readonly hibernated?: boolean;
  /** Any new text asks for new passwords. @default - they stay */
  readonly rotatePasswords?: string;
}
