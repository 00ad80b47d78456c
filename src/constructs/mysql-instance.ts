import type { Construct } from 'constructs';
import { DatabaseInstance } from './database-instance';
import type { DatabaseInstanceProps } from './database-instance-props';

/** Settings of MySQL that are asked for most; every other one is taken too. */
export interface MysqlParameters {
  readonly max_connections?: number;
  /** In bytes, or with K, M or G. */
  readonly innodb_buffer_pool_size?: number | string;
  /** In bytes, or with K, M or G. */
  readonly max_allowed_packet?: number | string;
  readonly sql_mode?: string;
  readonly character_set_server?: string;
  readonly collation_server?: string;
  /** In seconds. */
  readonly wait_timeout?: number;
  /** In seconds; queries that take longer are logged. */
  readonly long_query_time?: number;
  readonly slow_query_log?: boolean;
  readonly [name: string]: string | number | boolean | undefined;
}

/** Props of `MysqlInstance`. */
export interface MysqlInstanceProps extends DatabaseInstanceProps {
  /** Such as `8.4`, `8.4.3` or `9.1`; 8.0 is the oldest. */
  readonly version: string;
  readonly parameters?: MysqlParameters;
}

/** A MySQL: the `Database` object that the operator makes a server of. */
export class MysqlInstance extends DatabaseInstance {
  constructor(scope: Construct, id: string, props: MysqlInstanceProps) {
    super(scope, id, 'mysql', props);
  }
}
