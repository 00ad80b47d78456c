import { BackupJob } from '../../src/constructs/backup-job';
import type { BackupTarget } from '../../src/constructs/backup-target';
import { DatabaseServer } from '../../src/constructs/database-server';
import { RestoreJob } from '../../src/constructs/restore-job';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { rendered } from './render';

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await cluster.kubectl(`label namespace ${namespace} pod-security.kubernetes.io/warn=restricted pod-security.kubernetes.io/enforce=restricted`);
}, firstUpTimeoutMs);

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const storeImage = 'registry.example.com/dbop:1.0.0';
const volume: BackupTarget = { volume: { claimName: 'orders-backups' } };
const bucket: BackupTarget = { s3: { bucket: 'backups', endpoint: 'https://s3.example.com', credentialsSecret: 's3', caSecret: 's3-ca' } };

test.each([
  ['mysql', '8.4', volume],
  ['mysql', '5.7', bucket],
  ['postgres', '17', volume],
  ['postgres', '13', bucket],
] as const)('the API server takes all that a %s %s consists of under strict validation, and Pod Security "restricted" has nothing to warn of', async (engine, version, target) => {
  const objects = rendered(
    (chart) => {
      new DatabaseServer(chart, 'server', { name: 'orders', namespace, engine, version, data: { size: '1Gi' }, backup: { schedule: { cron: '0 3 * * *', timeZone: 'Etc/UTC' }, target, storeImage } });
      new BackupJob(chart, 'backup', { name: 'orders-now', database: 'orders', namespace, engine, version, target, storeImage });
      new RestoreJob(chart, 'restore', { database: 'orders', namespace, engine, version, target, storeImage });
    },
    { namespace },
  );
  const yaml = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  const { code, stderr } = await cluster.tryKubectl('apply --server-side --dry-run=server --validate=strict --warnings-as-errors -f -', yaml);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
