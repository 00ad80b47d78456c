import { ArtifactJob } from '../../src/constructs/artifact-job';
import { BackupJob, type BackupJobProps } from '../../src/constructs/backup-job';
import { RestoreJob } from '../../src/constructs/restore-job';
import { find, rendered } from './render';

interface Pod {
  metadata: { labels: object };
  spec: { containers: { name: string; image: string; command?: string[]; args?: string[]; env: { name: string; value?: string }[]; securityContext: object; volumeMounts: { name: string; mountPath: string }[] }[]; volumes: ({ name: string } & Record<string, unknown>)[]; restartPolicy: string };
}
interface Job {
  spec: { template: Pod };
}
interface CronJob {
  spec: { schedule: string; timeZone?: string; concurrencyPolicy: string; jobTemplate: Job };
}

const target = { volume: { claimName: 'shop-backups' } } as const;
const s3 = { s3: { bucket: 'b', prefix: 'p', endpoint: 'https://s3.example.com', credentialsSecret: 'keys', caSecret: 'ca' } } as const;
const props: BackupJobProps = { name: 'shop-now', database: 'shop', namespace: 'ns', engine: 'mysql', version: '8.4', storeImage: 'dbop:1', target };
const backup = (more: Partial<BackupJobProps> = {}) => rendered((chart) => new BackupJob(chart, 'backup', { ...props, ...more }));
const request = (pod: Pod) => JSON.parse(pod.spec.containers.find(({ name }) => name === 'store')?.env.find(({ name }) => name === 'DBOP_STORE')?.value ?? '') as unknown;
const volume = (pod: Pod, name: string) => pod.spec.volumes.find((candidate) => candidate.name === name);
const mounts = (pod: Pod, container: string) => pod.spec.containers.find(({ name }) => name === container)?.volumeMounts.map(({ name }) => name);

describe('a backup', () => {
  test('runs the same pod now and by a schedule', () => {
    const now = find<Job>(backup(), 'Job').spec;
    const scheduled = find<CronJob>(backup({ schedule: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' } }), 'CronJob').spec;
    expect(scheduled.jobTemplate.spec).toEqual(now);
    expect(scheduled).toMatchObject({ schedule: '0 3 * * *', timeZone: 'Europe/Berlin', concurrencyPolicy: 'Forbid' });
  });

  test('keeps the two containers apart: the engine sees no target, the store no password', () => {
    const pod = find<Job>(backup({ target: s3 }), 'Job').spec.template;
    expect(mounts(pod, 'engine')).toEqual(expect.arrayContaining(['accounts', 'exchange', 'scratch']));
    expect(mounts(pod, 'engine')).not.toEqual(expect.arrayContaining(['s3-credentials']));
    expect(mounts(pod, 'store')).toEqual(['s3-credentials', 's3-ca', 'exchange', 'store-tmp']);
  });

  test('reads the password of the backup account and no other', () => {
    expect(volume(find<Job>(backup(), 'Job').spec.template, 'accounts')).toMatchObject({ secret: { secretName: 'shop-accounts', items: [{ key: 'backup-password', path: 'backup-password' }] } });
  });

  test('tells the store what to do and nothing secret', () => {
    expect(request(find<Job>(backup({ retention: { count: 3 } }), 'Job').spec.template)).toEqual({ action: 'put', engine: 'mysql', database: 'shop', verify: true, retention: { count: 3 }, target: { volume: { path: '/dbop/backups' } } });
    expect(request(find<Job>(backup({ target: s3, verify: false, backupName: 'x' }), 'Job').spec.template)).toEqual({
      action: 'put',
      engine: 'mysql',
      database: 'shop',
      backup: 'x',
      verify: false,
      target: { s3: { bucket: 'b', prefix: 'p', endpoint: 'https://s3.example.com', credentials: '/dbop/s3-credentials', ca: '/dbop/s3-ca/ca.crt' } },
    });
  });

  test('refuses a schedule with seconds, and says why', () => {
    expect(() => backup({ schedule: { cron: '* * * * * *' } })).toThrow(/schedule '\* \* \* \* \* \*' needs five fields .*: a CronJob knows no seconds/);
  });

  test('has a restricted pod in which every mount has its volume', () => {
    for (const engine of ['mysql', 'postgres'] as const) {
      const pod = find<Job>(backup({ engine, version: '17' }), 'Job').spec.template;
      const named = pod.spec.volumes.map(({ name }) => name);
      expect(new Set(named).size).toBe(named.length);
      for (const container of pod.spec.containers) {
        expect(named).toEqual(expect.arrayContaining(container.volumeMounts.map(({ name }) => name)));
        expect(container.securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
      }
    }
  });
});

test('a restore has the data claim, every account of the new pod, and asks for what it is told to', () => {
  const pod = find<Job>(rendered((chart) => new RestoreJob(chart, 'restore', { ...props, name: undefined, from: { database: 'old', backup: 'b1' }, required: true })), 'Job', 'shop-restore').spec.template;
  expect(volume(pod, 'data')).toEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-shop-0' } });
  expect(volume(pod, 'accounts')).toMatchObject({ secret: { items: [{ key: 'root-password' }, { key: 'operator-password' }, { key: 'backup-password' }] } });
  expect(mounts(pod, 'store')).not.toContain('data');
  expect(request(pod)).toMatchObject({ action: 'get', database: 'old', backup: 'b1', required: true });
});

test('deleting an artifact needs the store alone', () => {
  const pod = find<Job>(rendered((chart) => new ArtifactJob(chart, 'delete', { name: 'b1-delete', namespace: 'ns', database: 'shop', backup: 'b1', target, storeImage: 'dbop:1', run: 'r1' })), 'Job').spec.template;
  expect(pod.spec.containers.map(({ name }) => name)).toEqual(['store']);
  expect(request(pod)).toEqual({ action: 'delete', database: 'shop', backup: 'b1', run: 'r1', target: { volume: { path: '/dbop/backups' } } });
});
