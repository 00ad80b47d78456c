import { paths } from '../engines/engine';
import type { BackupTarget } from './backup-target';
import { containerSecurity, emptyDirectory, type Mount, mountsOf, secretMount } from './database-pod';

/** Exit status with which the store says that trying again would end the same way. */
export const POINTLESS = 3;

export interface StoreContainerProps {
  readonly image: string;
  readonly target: BackupTarget;
  /** What `dbop store` is asked for; see docs/backup-format.md. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Mounts beside those of the target. */
  readonly mounts?: readonly Mount[];
}

/** The container of a Job that speaks to the target, and all of its mounts. */
export function storeContainer({ image, target, request, mounts = [] }: StoreContainerProps): { container: object; mounts: Mount[] } {
  const all = [...targetMounts(target), ...mounts, emptyDirectory('store-tmp', '/tmp')];
  const container = {
    name: 'store',
    image,
    args: ['store'],
    env: [
      { name: 'DBOP_STORE', value: JSON.stringify({ ...request, target: targetSettings(target) }) },
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      { name: 'JOB_NAME', valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-name']" } } },
      { name: 'JOB_UID', valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" } } },
    ],
    resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    securityContext: containerSecurity,
    terminationMessagePolicy: 'File',
    volumeMounts: mountsOf(all),
  };
  return { container, mounts: all };
}

/** What a Job does about pods that end badly. */
export const podFailurePolicy = {
  rules: [
    // A drained node says nothing about the work.
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { containerName: 'store', operator: 'In', values: [POINTLESS] } },
  ],
} as const;

function targetSettings(target: BackupTarget): object {
  if (target.s3 === undefined) return { volume: { path: paths.backups } };
  const { bucket, prefix, endpoint, region, caSecret } = target.s3;
  return { s3: { bucket, prefix, endpoint, region, credentials: paths.s3Credentials, ...(caSecret !== undefined && { ca: `${paths.s3Ca}/ca.crt` }) } };
}

/** The mount of a target that has to be handed to our user first. */
export function closedMounts(target: BackupTarget): Mount[] {
  return target.volume?.openFolder === true ? targetMounts(target) : [];
}

function targetMounts(target: BackupTarget): Mount[] {
  if (target.s3 === undefined) return [{ volume: { name: 'backups', persistentVolumeClaim: { claimName: target.volume.claimName } }, path: paths.backups }];
  const { credentialsSecret, caSecret } = target.s3;
  // Whole Secret: a session token is there or not.
  const credentials: Mount = { volume: { name: 's3-credentials', secret: { secretName: credentialsSecret, defaultMode: 0o440 } }, path: paths.s3Credentials, readOnly: true };
  return caSecret === undefined ? [credentials] : [credentials, secretMount('s3-ca', paths.s3Ca, caSecret, ['ca.crt'])];
}
