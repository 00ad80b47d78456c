import type { DatabaseObject, DatabaseStatus } from '../api/database';
import type { BackupTarget } from '../constructs/backup-target';
import type { Resources } from '../constructs/pod-props';
import { serverNames } from '../constructs/server-names';
import { engineOf } from '../engines/engine-of';
import type { StatusUpdate } from '../runtime/outcome';
import { BACKUPS_HEALTHY } from './backup-health';
import type { BackupPlan, DatabasePlan, RestorePlan, Story } from './plan';

/** What a plan takes from outside its object. */
export interface Outside {
  /** Image with `dbop`. */
  readonly storeImage: string;
  /** What `restore.from.backup` is of, and where it rests. @default of the database itself */
  readonly backupOf?: { readonly database: string; readonly target?: BackupTarget };
}

/** The plan that a `Database` of ours stands for. */
export function databasePlan({ metadata, spec }: DatabaseObject, outside: Outside): DatabasePlan {
  const { name } = metadata;
  const namespace = metadata.namespace ?? 'default';
  const names = serverNames(name);
  const backup = backupPlan(metadata, spec);
  return {
    engine: engineOf(spec.engine),
    names,
    server: {
      name,
      namespace,
      engine: spec.engine,
      version: spec.version,
      image: spec.image,
      data: { size: spec.size, storageClassName: spec.storageClassName },
      parameters: spec.parameters,
      resources: asText(spec.resources),
      podLabels: spec.podLabels,
      podAnnotations: spec.podAnnotations,
      backup:
        spec.backup?.schedule === undefined
          ? undefined
          : { schedule: { cron: spec.backup.schedule, timeZone: spec.backup.timeZone }, target: backup.target, storeImage: outside.storeImage, verify: backup.verify, retention: backup.retention },
    },
    application: { username: spec.username, database: spec.database, suppliedSecret: spec.credentials?.secretName },
    certificateSecret: spec.tls?.secretName,
    rotation: spec.rotatePasswords,
    backup,
    restore: restorePlan(spec.restore, backup.target, outside.backupOf),
    deletionPolicy: spec.deletionPolicy,
    wayOut: 'set spec.deletionPolicy to Delete',
    protected: spec.deletionProtection,
    paused: spec.paused,
    hibernated: spec.hibernated,
  };
}

/** Name of the Job, and of the backup, that is the last act of a database: each life has its own. */
export function finalJobName(name: string, uid = ''): string {
  return `${name}-final-${uid.slice(0, 8)}`;
}

/** The status that a `Database` of ours shows. */
export function databaseStatus(story: Story): StatusUpdate<DatabaseStatus> {
  return {
    phase: story.phase,
    message: story.message,
    endpoint: story.endpoint,
    secretName: story.secretName,
    version: story.version,
    restored: story.originAt === undefined || story.origin === undefined ? undefined : { from: story.origin, at: story.originAt },
    lastBackup: story.lastBackup,
    rotatedPasswords: story.rotation,
    conditions: [{ type: BACKUPS_HEALTHY, status: story.backups.status, reason: story.backups.reason, message: story.backups.message }],
  };
}

type Spec = DatabaseObject['spec'];

/** Backups need a place even without a schedule: the last one before a deletion is the one that counts. */
function backupPlan({ name, uid }: DatabaseObject['metadata'], spec: Spec): BackupPlan {
  const { backup } = spec;
  const retention = backup?.retention && { count: backup.retention.count, days: backup.retention.age === undefined ? undefined : Number.parseInt(backup.retention.age, 10) };
  const common = { verify: backup?.verify ?? true, retention, finalJob: finalJobName(name, uid) };
  if (backup?.s3 !== undefined) return { ...common, target: bucketTarget(backup.s3) };
  const target: BackupTarget = { volume: { claimName: serverNames(name).backupClaim } };
  return { ...common, target, volume: { size: backup?.volume?.size ?? spec.size, storageClassName: backup?.volume?.storageClassName ?? spec.storageClassName } };
}

type Bucket = NonNullable<NonNullable<Spec['backup']>['s3']>;

function bucketTarget({ endpoint, bucket, prefix, region, credentialsSecretName, caSecretName }: Bucket): BackupTarget {
  return { s3: { endpoint, bucket, prefix, region, credentialsSecret: credentialsSecretName, caSecret: caSecretName } };
}

/** A backup is found where its record says, or in the place of the database that it is of: its volume, or the same bucket. */
function restorePlan({ policy, from }: Spec['restore'], own: BackupTarget, source: Outside['backupOf']): RestorePlan {
  if (from?.s3 !== undefined) {
    const { namespace, database, backup } = from.s3;
    return { policy, from: { namespace, database, backup }, target: bucketTarget(from.s3) };
  }
  const database = from?.database ?? source?.database;
  if (from === undefined || database === undefined) return { policy, from };
  const target: BackupTarget = source?.target ?? (own.s3 !== undefined ? own : { volume: { claimName: serverNames(database).backupClaim } });
  return { policy, from: { database, backup: from.backup }, target };
}

/** Kubernetes writes quantities as text; a user may have written a bare number. */
function asText(resources: Spec['resources']): Resources | undefined {
  const texts = (amounts: object | undefined) => amounts && Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
  return resources && { requests: texts(resources.requests), limits: texts(resources.limits) };
}
