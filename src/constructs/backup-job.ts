import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { accountKeys, type EngineName, paths } from '../engines/engine';
import { engineOf } from '../engines/engine-of';
import type { BackupTarget } from './backup-target';
import { labelsOf } from './database-labels';
import { emptyDirectory, folderOpener, podFrame, secretMount, volumesOf } from './database-pod';
import { engineContainer } from './engine-container';
import type { Resources, Scheduling } from './pod-props';
import { type ServerNames, serverNames } from './server-names';
import { closedMounts, podFailurePolicy, storeContainer } from './store-container';

/** A Job that hangs must end some day, or the schedule behind it would stand still in silence. */
const DAY_SECONDS = 24 * 3600;

/** Which backups are kept. With both bounds, one goes when neither keeps it; the last good one always stays. */
export interface Retention {
  /** The newest so many. @default none by number */
  readonly count?: number;
  /** Those that are younger, in days. @default none by age */
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
  /** What several Jobs of one name are tries of: they go on with each other's work. @default each Job is a run of its own */
  readonly run?: string;
  /** Restore the artifact into a throw-away server and compare before it counts as verified. @default true */
  readonly verify?: boolean;
  /** @default everything is kept */
  readonly retention?: Retention;
  /** Size limit of the throw-away server's directory. @default none */
  readonly scratchSize?: string;
}

/**
 * Takes a backup: now (a Job), or by a schedule (a CronJob with the same pod, which goes on while the operator is away).
 *
 * Assumes: the ConfigMap and the accounts Secret of the database are there, and its server is running.
 */
export class BackupJob extends Construct {
  constructor(scope: Construct, id: string, props: BackupJobProps) {
    super(scope, id);
    const { name, namespace, schedule } = props;
    const labels = labelsOf(props.database, 'backup', props.engine, props.labels);
    const metadata = { name, namespace, labels };
    if (schedule === undefined) {
      new ApiObject(this, 'job', { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: jobSpec(props, labels) });
      return;
    }
    if (schedule.cron.trim().split(/\s+/).length !== 5) {
      throw new Error(`${this.node.path}: schedule '${schedule.cron}' needs five fields (minute, hour, day, month, weekday): a CronJob knows no seconds`);
    }
    new ApiObject(this, 'cron-job', {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata,
      spec: {
        schedule: schedule.cron,
        ...(schedule.timeZone !== undefined && { timeZone: schedule.timeZone }),
        suspend: schedule.suspended ?? false,
        concurrencyPolicy: 'Forbid',
        // A run that was missed while the control plane was away is made up for, if it isn't too late.
        startingDeadlineSeconds: 3600,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 3,
        jobTemplate: { metadata: { labels }, spec: jobSpec(props, labels) },
      },
    });
  }
}

function jobSpec(props: BackupJobProps, labels: Record<string, string>): object {
  const { database, version, target, backupName, run, verify = true, retention, scratchSize } = props;
  const engine = engineOf(props.engine);
  const names = props.names ?? serverNames(database);
  const exchange = emptyDirectory('exchange', paths.exchange, { sizeLimit: '64Mi' });
  const scratch = emptyDirectory('scratch', paths.scratch, scratchSize === undefined ? {} : { sizeLimit: scratchSize });
  const server = engineContainer({
    engine,
    image: props.image ?? engine.image(version),
    configMap: names.configMap,
    script: 'backup.sh',
    env: { SERVER_HOST: names.service, SERVER_PORT: String(engine.port) },
    mounts: [exchange, ...(verify ? [scratch] : []), secretMount('accounts', paths.accounts, names.accountsSecret, [accountKeys.backup])],
    resources: props.engineResources,
  });
  const store = storeContainer({
    image: props.storeImage,
    target,
    request: { action: 'put', engine: engine.name, database, backup: backupName, run, verify, retention },
    mounts: [exchange],
  });
  return {
    backoffLimit: 2,
    activeDeadlineSeconds: DAY_SECONDS,
    podFailurePolicy,
    template: {
      metadata: { labels },
      spec: {
        ...podFrame({ scheduling: props.scheduling, imagePullSecrets: props.imagePullSecrets }),
        restartPolicy: 'Never',
        ...folderOpener(props.image ?? engine.image(version), closedMounts(target)),
        containers: [server.container, store.container],
        volumes: volumesOf([...server.mounts, ...store.mounts]),
      },
    },
  };
}
