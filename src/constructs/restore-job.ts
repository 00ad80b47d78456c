import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { accountKeys, applicationKeys, paths } from '../engines/engine';
import { engineOf } from '../engines/engine-of';
import type { DatabaseJobProps } from './backup-job';
import { labelsOf } from './database-labels';
import { emptyDirectory, folderOpener, type Mount, podFrame, secretMount, volumesOf } from './database-pod';
import { engineContainer } from './engine-container';
import { serverNames } from './server-names';
import { closedMounts, podFailurePolicy, storeContainer } from './store-container';

/** Which backup to restore. */
export interface RestoreSource {
  /** Database that the backup is of. @default the database itself */
  readonly database?: string;
  /** Namespace that the backup was taken in, where the target holds several (S3). @default the Job's own */
  readonly namespace?: string;
  /** Name of the backup. @default the newest good one */
  readonly backup?: string;
}

export interface RestoreJobProps extends DatabaseJobProps {
  /** @default serverNames(database).restoreJob */
  readonly name?: string;
  /** @default the newest good backup of the database itself */
  readonly from?: RestoreSource;
  /** True: having no backup is a failure (`NoBackup`). False: then there is nothing to do. @default false */
  readonly required?: boolean;
  /** As `DataVolume.openFolder`. @default false */
  readonly openFolder?: boolean;
}

/**
 * Fills a data volume from a backup before the server first starts. A volume that holds data is left alone.
 *
 * Assumes: the data claim, the ConfigMap and both Secrets of the database are there, and no server runs on the claim.
 */
export class RestoreJob extends Construct {
  constructor(scope: Construct, id: string, props: RestoreJobProps) {
    super(scope, id);
    const { database, namespace, version, target, from = {}, required = false } = props;
    const engine = engineOf(props.engine);
    const names = props.names ?? serverNames(database);
    const labels = labelsOf(database, 'restore', props.engine, props.labels);
    const exchange = emptyDirectory('exchange', paths.exchange, { sizeLimit: '64Mi' });
    const data: Mount = { volume: { name: 'data', persistentVolumeClaim: { claimName: names.dataClaim } }, path: paths.data };
    const server = engineContainer({
      engine,
      image: props.image ?? engine.image(version),
      configMap: names.configMap,
      script: 'restore.sh',
      mounts: [
        exchange,
        data,
        secretMount('accounts', paths.accounts, names.accountsSecret, Object.values(accountKeys)),
        secretMount('application', paths.application, names.applicationSecret, Object.values(applicationKeys)),
      ],
      resources: props.engineResources,
    });
    const store = storeContainer({
      image: props.storeImage,
      target,
      request: { action: 'get', engine: engine.name, database: from.database ?? database, namespace: from.namespace, backup: from.backup, required },
      mounts: [exchange],
    });
    new ApiObject(this, 'job', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: props.name ?? names.restoreJob, namespace, labels },
      spec: {
        backoffLimit: 3,
        podFailurePolicy,
        template: {
          metadata: { labels },
          spec: {
            ...podFrame({ scheduling: props.scheduling, imagePullSecrets: props.imagePullSecrets }),
            restartPolicy: 'Never',
            ...folderOpener(props.image ?? engine.image(version), [...(props.openFolder === true ? [data] : []), ...closedMounts(target)]),
            containers: [server.container, store.container],
            volumes: volumesOf([...server.mounts, ...store.mounts]),
          },
        },
      },
    });
  }
}
