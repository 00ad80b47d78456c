import type { EngineName, Parameters } from '../engines/engine';
import type { BackupSchedule, Retention } from './backup-job';
import type { BackupTarget } from './backup-target';
import type { Resources, Scheduling } from './pod-props';
import type { ServerNames } from './server-names';

/** Who may reach the server's port. */
export interface NetworkAccess {
  /** Peers in the words of a NetworkPolicy (podSelector, namespaceSelector, ipBlock). @default every pod of the namespace */
  readonly from?: readonly Readonly<Record<string, unknown>>[];
}

/** Data volume of the server. */
export interface DataVolume {
  /** Such as `10Gi`. */
  readonly size: string;
  /** @default the cluster's default class */
  readonly storageClassName?: string;
  /** Binds the claim to one PersistentVolume. @default any that fits */
  readonly volumeName?: string;
  /**
   * Hands the volume's folder to the server's user before it starts, by a container that runs as root: for volumes that
   * Kubernetes doesn't hand over itself, such as hostPath. The pods then don't meet Pod Security "restricted".
   * @default false
   */
  readonly openFolder?: boolean;
}

/** Scheduled backups of the server. */
export interface ServerBackup {
  readonly schedule: BackupSchedule;
  readonly target: BackupTarget;
  /** Image with `dbop`. */
  readonly storeImage: string;
  readonly verify?: boolean;
  readonly retention?: Retention;
}

/** Props of `DatabaseServer`. */
export interface DatabaseServerProps {
  /** The database's name: children are named after it. */
  readonly name: string;
  readonly namespace?: string;
  readonly engine: EngineName;
  readonly version: string;
  /** @default the engine's official image of that version */
  readonly image?: string;
  /** A Deployment has no pod identity; it is for those whose users expect one. @default StatefulSet */
  readonly workload?: 'StatefulSet' | 'Deployment';
  readonly data: DataVolume;
  /** Child names that differ from the default ones. */
  readonly names?: Partial<ServerNames>;
  /** False: no pods, everything else stays. @default true */
  readonly running?: boolean;
  /**
   * Takes no writes, so that a last backup misses nothing: MySQL is read-only for everybody, PostgreSQL lets in none but the
   * accounts of operator and backup. Pods are started anew for it.
   * @default false
   */
  readonly closed?: boolean;
  /** Settings of the server, in the words of its manual. */
  readonly parameters?: Parameters;
  /** Limits alone keep the default requests; requests alone mean no limits. @default requests 100m/256Mi, limits 500m/512Mi */
  readonly resources?: Resources;
  readonly podLabels?: Readonly<Record<string, string>>;
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** Labels of every child. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Secret with tls.crt, tls.key and ca.crt. @default MySQL makes a certificate of its own, PostgreSQL has none */
  readonly tlsSecret?: string;
  readonly network?: NetworkAccess;
  /** @default no schedule */
  readonly backup?: ServerBackup;
  readonly scheduling?: Scheduling;
  readonly imagePullSecrets?: readonly string[];
}
