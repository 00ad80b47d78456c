import type { ApiObjectMetadata } from 'cdk8s';
import type { Construct } from 'constructs';
import * as imported from '../../imports/dbop.dev';
import { Database } from '../api/database';
import { DatabaseBackup } from '../api/database-backup';
import { apiVersionOf } from '../kind/resource';
import type { DatabaseInstanceProps } from './database-instance-props';

type Settings = Omit<DatabaseInstanceProps, 'name' | 'namespace' | 'labels' | 'annotations' | 'group' | 'parameters'>;

/** Props of `DatabaseResource`. */
export interface DatabaseResourceProps {
  readonly group: string;
  readonly metadata: ApiObjectMetadata;
  readonly spec: Settings & { readonly engine: 'mysql' | 'postgres'; readonly parameters?: { readonly [name: string]: string } };
}

/** The `Database` object itself, under whichever group it is served. */
export class DatabaseResource extends imported.Database {
  constructor(scope: Construct, id: string, { group, metadata, spec }: DatabaseResourceProps) {
    const { engine, deletionPolicy, restore, resources, ...same } = spec;
    const typed: imported.DatabaseSpec = {
      engine: engine as imported.DatabaseSpecEngine,
      ...same,
      resources: resources && { requests: requests(resources.requests), limits: limits(resources.limits) },
      restore: restore && { ...restore, policy: restore.policy as imported.DatabaseSpecRestorePolicy },
      deletionPolicy: deletionPolicy as imported.DatabaseSpecDeletionPolicy,
    };
    const servedAs = { apiVersion: apiVersionOf(Database.withGroup(group)) };
    super(scope, id, { ...servedAs, metadata, spec: typed });
  }

  /** The class from `cdk8s import` insists on the group that it was imported from. */
  override toJson(): object {
    return { ...(super.toJson() as object), apiVersion: this.apiVersion };
  }
}

/** Props of `DatabaseBackupResource`. */
export interface DatabaseBackupResourceProps {
  readonly group: string;
  readonly metadata: ApiObjectMetadata;
  readonly spec: imported.DatabaseBackupSpec;
}

/** The `DatabaseBackup` object itself, under whichever group it is served. */
export class DatabaseBackupResource extends imported.DatabaseBackup {
  constructor(scope: Construct, id: string, { group, metadata, spec }: DatabaseBackupResourceProps) {
    const servedAs = { apiVersion: apiVersionOf(DatabaseBackup.withGroup(group)) };
    super(scope, id, { ...servedAs, metadata, spec });
  }

  override toJson(): object {
    return { ...(super.toJson() as object), apiVersion: this.apiVersion };
  }
}

type Amounts = { readonly [name: string]: string | number | undefined } | undefined;

function requests(amounts: Amounts): imported.DatabaseSpecResourcesRequests | undefined {
  return (
    amounts && {
      cpu: quantity(amounts['cpu'], imported.DatabaseSpecResourcesRequestsCpu),
      memory: quantity(amounts['memory'], imported.DatabaseSpecResourcesRequestsMemory),
      ephemeralStorage: quantity(amounts['ephemeral-storage'], imported.DatabaseSpecResourcesRequestsEphemeralStorage),
    }
  );
}

function limits(amounts: Amounts): imported.DatabaseSpecResourcesLimits | undefined {
  return (
    amounts && {
      cpu: quantity(amounts['cpu'], imported.DatabaseSpecResourcesLimitsCpu),
      memory: quantity(amounts['memory'], imported.DatabaseSpecResourcesLimitsMemory),
      ephemeralStorage: quantity(amounts['ephemeral-storage'], imported.DatabaseSpecResourcesLimitsEphemeralStorage),
    }
  );
}

function quantity<Q>(value: string | number | undefined, type: { fromString(value: string): Q }): Q | undefined {
  return value === undefined ? undefined : type.fromString(String(value));
}
