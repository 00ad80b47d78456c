import type { Construct } from 'constructs';
import type { BackupTarget } from './backup-target';
import type { Scheduling } from './pod-props';

export interface ArtifactJobProps {
  /** Name of the Job. */
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The database and the backup whose artifact is deleted. */
  readonly database: string;
  readonly backup: string;
  readonly target: BackupTarget;
  readonly storeImage: string;
  readonly scheduling?: Scheduling;
  readonly imagePullSecrets?: readonly string[];
}

export declare class ArtifactJob extends Construct {
  constructor(scope: Construct, id: string, props: ArtifactJobProps);
}
