/** The life of databases, for kinds of one's own. Import it as `cdk8s-database-operator/operator`. */
export { controllers, type DatabaseOperatorOptions } from './controllers';
export { databaseController, type DatabaseApi, type DatabaseLifeOptions } from './database-life';
export type { BackupHealth, BackupRun } from './backup-health';
export { engineOf } from '../engines/engine-of';
export type { BackupPlan, DatabasePlan, DeletionPolicy, LifePhase, RestorePlan, Story } from './plan';
