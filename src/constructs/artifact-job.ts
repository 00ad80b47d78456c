import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { BackupTarget } from './backup-target';
import { labelsOf } from './database-labels';
import { podFrame, volumesOf } from './database-pod';
import type { Scheduling } from './pod-props';
import { storeContainer } from './store-container';

export interface ArtifactJobProps {
  /** Name of the Job. */
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The database and the backup whose artifact is deleted. */
  readonly database: string;
  readonly backup: string;
  /** Which run has taken it: a good backup of another one is left alone. @default whichever */
  readonly run?: string;
  readonly target: BackupTarget;
  readonly storeImage: string;
  readonly scheduling?: Scheduling;
  readonly imagePullSecrets?: readonly string[];
}

/** Deletes the artifact of one backup. It is no error when it is gone already. */
export class ArtifactJob extends Construct {
  constructor(scope: Construct, id: string, props: ArtifactJobProps) {
    super(scope, id);
    const { name, namespace, database, backup, run, target, storeImage, scheduling, imagePullSecrets } = props;
    const labels = labelsOf(database, 'artifact', undefined, props.labels);
    const store = storeContainer({ image: storeImage, target, request: { action: 'delete', database, backup, run } });
    new ApiObject(this, 'job', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace, labels },
      spec: {
        backoffLimit: 3,
        // Two objects are deleted at once: a pod that can't even start must not hold up the end of a backup in silence.
        activeDeadlineSeconds: 600,
        // It can't go with the object that asked for it, which is gone only after it has told that all is done; one that failed is tried again by this.
        ttlSecondsAfterFinished: 300,
        template: {
          metadata: { labels },
          spec: { ...podFrame({ scheduling, imagePullSecrets }), restartPolicy: 'Never', containers: [store.container], volumes: volumesOf(store.mounts) },
        },
      },
    });
  }
}
