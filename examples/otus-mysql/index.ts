import { ApiObject, type Chart } from 'cdk8s';
import { builtin, serverNames, type ObjectOf } from '../../src';
import { databaseController, engineOf, type DatabaseLifeOptions, type DatabasePlan, type Story } from '../../src/operator';
import type { Controller } from '../../src/runtime';
import { declaration, MySQL } from './kind';

export const name = 'otus-mysql';

type Instance = ObjectOf<typeof MySQL>;

/** The operator: names, volumes and API are this example's, the life is the package's. */
export const controllers = (options: DatabaseLifeOptions): Controller[] => [
  databaseController<typeof MySQL>({ declaration, plan: ({ object }) => plan(object), status: (story, { metadata }) => ({ phase: story.phase, message: message(story, metadata.name) }) }, options),
];

/** One MySQL under the names that its users type. */
export function plan({ metadata, spec }: Instance): DatabasePlan {
  const { name: instance, namespace = 'default', uid = '' } = metadata;
  const claims = { data: `${instance}-pvc`, backup: `backup-${instance}-pvc` };
  const volumes = { data: `${instance}-pv`, backup: `backup-${instance}-pv` };
  return {
    engine: engineOf('mysql'),
    names: serverNames(instance, { dataClaim: claims.data, backupClaim: claims.backup, restoreJob: `restore-${instance}-job` }),
    server: {
      name: instance,
      namespace,
      engine: 'mysql',
      version: /:(\d+(\.\d+)*)/.exec(spec.image)?.[1] ?? '8.4',
      image: spec.image,
      workload: 'Deployment',
      data: { size: spec.storage_size, storageClassName: '', volumeName: volumes.data, openFolder: true },
      podLabels: { app: instance },
    },
    application: { username: 'app', database: spec.database },
    rootPassword: spec.password,
    backup: {
      target: { volume: { claimName: claims.backup, openFolder: true } },
      volume: { size: spec.storage_size, storageClassName: '', volumeName: volumes.backup },
      more: (chart) => hostVolume(chart, volumes.backup, spec.storage_size, `${namespace}-${instance}-backups`, { namespace, name: claims.backup }),
      verify: true,
      finalJob: `backup-${instance}-job`,
      finalBackup: `${instance}-${uid.slice(0, 8)}`,
    },
    restore: { policy: 'IfAvailable', always: true },
    deletionPolicy: 'Backup',
    wayOut: `remove the finalizer otus.homework/mysql`,
    // The folder bears the object's UID: a new instance starts from the backup, never from what an old one left on the node.
    more: (chart) => hostVolume(chart, volumes.data, spec.storage_size, `${namespace}-${instance}-${uid}`, { namespace, name: claims.data }),
    moreKinds: [builtin.PersistentVolume],
    protected: false,
    paused: false,
    hibernated: false,
  };
}

/** A volume on the node's disk, pinned to its claim. It is cluster-scoped, so no owner reference can reach it: the finalizer removes it. */
function hostVolume(chart: Chart, volume: string, size: string, folder: string, claim: { namespace: string; name: string }): void {
  new ApiObject(chart, volume, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: '',
      claimRef: claim,
      hostPath: { path: `/var/lib/otus-mysql/${folder}`, type: 'DirectoryOrCreate' },
    },
  });
}

/** Tells how the instance came to be, as its users know it. */
function message({ message: told, origin, ready }: Story, instance: string): string {
  if (!ready) return told;
  return origin === undefined || origin === 'empty' ? `${instance} created without restore-job` : `${instance} created with restore-job (${origin})`;
}
