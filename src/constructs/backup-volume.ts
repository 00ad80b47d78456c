import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';

/** Props of `BackupVolume`. */
export interface BackupVolumeProps {
  /** Name of the claim; see `serverNames().backupClaim`. */
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Size of the volume, such as `10Gi`. */
  readonly size: string;
  /** @default the cluster's default class */
  readonly storageClassName?: string;
  /** Binds the claim to one PersistentVolume. @default any that fits */
  readonly volumeName?: string;
}

/** The claim that backups are kept on. It lives on its own, so that backups outlive the database that they are of. */
export class BackupVolume extends Construct {
  readonly claimName: string;

  constructor(scope: Construct, id: string, props: BackupVolumeProps) {
    super(scope, id);
    this.claimName = props.name;
    new ApiObject(this, 'claim', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: props.name, namespace: props.namespace, labels: { ...props.labels } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: props.size } },
        storageClassName: props.storageClassName,
        volumeName: props.volumeName,
      },
    });
  }
}
