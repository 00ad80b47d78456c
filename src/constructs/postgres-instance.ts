import type { Construct } from 'constructs';
import { DatabaseInstance } from './database-instance';
import type { DatabaseInstanceProps } from './database-instance-props';

/** Settings of PostgreSQL that are asked for most; every other one is taken too. */
export interface PostgresParameters {
  readonly max_connections?: number;
  /** With kB, MB or GB. */
  readonly shared_buffers?: string;
  /** With kB, MB or GB. */
  readonly work_mem?: string;
  /** With kB, MB or GB. */
  readonly maintenance_work_mem?: string;
  /** With kB, MB or GB. */
  readonly effective_cache_size?: string;
  /** In milliseconds, or with s or min. */
  readonly statement_timeout?: number | string;
  /** In milliseconds; statements that take longer are logged. */
  readonly log_min_duration_statement?: number;
  readonly shared_preload_libraries?: string;
  readonly timezone?: string;
  readonly [name: string]: string | number | boolean | undefined;
}

/** Props of `PostgresInstance`. */
export interface PostgresInstanceProps extends DatabaseInstanceProps {
  /** Such as `17` or `17.2`; 14 is the oldest. */
  readonly version: string;
  readonly parameters?: PostgresParameters;
}

/** A PostgreSQL: the `Database` object that the operator makes a server of. */
export class PostgresInstance extends DatabaseInstance {
  constructor(scope: Construct, id: string, props: PostgresInstanceProps) {
    super(scope, id, 'postgres', props);
  }
}
