import type { Construct } from 'constructs';
import type { DatabaseJobProps } from './backup-job';

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
}

export declare class RestoreJob extends Construct {
  constructor(scope: Construct, id: string, props: RestoreJobProps);
}
