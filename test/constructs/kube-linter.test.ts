import { BackupJob } from '../../src/constructs/backup-job';
import { DatabaseServer } from '../../src/constructs/database-server';
import { OperatorDeployment } from '../../src/constructs/operator-deployment';
import { RestoreJob } from '../../src/constructs/restore-job';
import { complaints } from './kube-linter';
import { rendered } from './render';

const storeImage = 'registry.example.com/dbop:1.0.0';
const target = { volume: { claimName: 'orders-backups' } };

test('the operator meets kube-linter’s default checks', () => {
  expect(complaints(rendered((chart) => new OperatorDeployment(chart, 'operator')))).toEqual([]);
});

test.each(['mysql', 'postgres'] as const)('all that a %s database consists of meets kube-linter’s default checks, but for one with a reason', (engine) => {
  const version = engine === 'mysql' ? '8.4' : '17';
  const objects = rendered((chart) => {
    new DatabaseServer(chart, 'server', { name: 'orders', engine, version, data: { size: '1Gi' }, backup: { schedule: { cron: '0 3 * * *' }, target, storeImage } });
    new BackupJob(chart, 'backup', { name: 'orders-now', database: 'orders', engine, version, target, storeImage });
    new RestoreJob(chart, 'restore', { database: 'orders', engine, version, target, storeImage });
  });
  expect(complaints(objects)).toEqual([
    // A Job is the record of a backup until the operator has told it in an object, and a failed one is kept for its logs.
    'job-ttl-seconds-after-finished: Job/orders-now',
    'job-ttl-seconds-after-finished: Job/orders-restore',
  ]);
});

test('the checks find what they look for', () => {
  const careless = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'careless' }, spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template: { spec: { hostNetwork: true, serviceAccountName: 'nobody', containers: [{ name: 'x', image: 'nginx', env: [{ name: 'PASSWORD', value: 'x' }] }] } } } };
  expect(complaints([careless]).map((text) => text.split(':')[0])).toEqual([
    'host-network',
    'mismatching-selector',
    'no-anti-affinity',
    'drop-net-raw-capability',
    'env-var-secret',
    'latest-tag',
    'no-read-only-root-fs',
    'privilege-escalation-container',
    'run-as-non-root',
    'unset-cpu-requirements',
    'unset-memory-requirements',
    'non-existent-service-account',
  ]);
});
