/**
 * MySQL and PostgreSQL on Kubernetes as typed cdk8s constructs: kinds, constructs and the words that they share.
 * Nothing here speaks to a cluster; that is `cdk8s-database-operator/runtime` and `/operator`.
 *
 * @packageDocumentation
 */
export { defineKind, Kind, type ObjectOf, type SpecOf, type StatusOf } from './kind/define-kind';
export type { KindDefinition, KindVersion, NameBounds, OlderVersion, PrinterColumn, ScalePaths } from './kind/kind-definition';
export type { CrdVersion, CustomResourceDefinition } from './kind/custom-resource-definition';
export type { StructuralSchema } from './kind/structural-schema';
export { immutable, withRules, type CelRule, type Rule } from './kind/rule';
export { conditions, dnsLabel, dnsSubdomain, quantity, timestamp } from './kind/fields';
export { compareQuantities, parseQuantity, tryParseQuantity } from './kind/quantity';
export { InvalidSpecError } from './kind/problem';
export { accessOf, leaseAccess, rulesOf, toRules, type Access, type ControllerDeclaration, type PolicyRule, type Verb } from './kind/access';
export { apiVersionOf, builtin, keyOf, keyText } from './kind/resource';
export type { Condition, CustomObject, KubeObject, ManagedFieldsEntry, ObjectKey, ObjectMeta, OwnerReference, ResourceType } from './kind/resource';

export { Database, defaultGroup, type DatabaseObject, type DatabaseSpec, type DatabaseStatus } from './api/database';
export { DatabaseBackup, type DatabaseBackupObject, type DatabaseBackupSpec, type DatabaseBackupStatus } from './api/database-backup';

export { engineOf } from './engines/engine-of';
export type { AccountNames, ConnectionStrings, Endpoint, Engine, EngineName, Parameters, Scripts, ServerSettings, VersionChange } from './engines/engine';

export { DatabaseCrd, type DatabaseCrdProps } from './constructs/database-crd';
export { databaseControllers, databaseDeclaration, type DatabaseControllers, type DatabaseDeclarationOptions } from './constructs/database-controllers';
export { OperatorDeployment, type OperatorDeploymentProps } from './constructs/operator-deployment';
export { OperatorAccess, type OperatorAccessProps } from './constructs/operator-access';
export { DeletionProtection, protectedLabel, type DeletionProtectionProps } from './constructs/deletion-protection';
export { DatabaseInstance, type AddBackupOptions, type Connection } from './constructs/database-instance';
export type { BackupBucketOptions, BackupOptions, BackupVolumeOptions, DatabaseInstanceProps, RestoreBucketOptions, RestoreOptions } from './constructs/database-instance-props';
export { MysqlInstance, type MysqlInstanceProps, type MysqlParameters } from './constructs/mysql-instance';
export { PostgresInstance, type PostgresInstanceProps, type PostgresParameters } from './constructs/postgres-instance';
export { DatabaseServer, type DataVolume, type DatabaseServerProps, type NetworkAccess, type ServerBackup } from './constructs/database-server';
export { BackupJob, type BackupJobProps, type BackupSchedule, type DatabaseJobProps, type Retention } from './constructs/backup-job';
export { RestoreJob, type RestoreJobProps, type RestoreSource } from './constructs/restore-job';
export { BackupVolume, type BackupVolumeProps } from './constructs/backup-volume';
export { serverNames, type ServerNames } from './constructs/server-names';
export type { BackupTarget, S3Target, VolumeTarget } from './constructs/backup-target';
export type { Resources, Scheduling } from './constructs/pod-props';
