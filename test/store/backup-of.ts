import type { Chart } from 'cdk8s';
import { BackupJob } from '../../src/constructs/backup-job';
import { BackupVolume } from '../../src/constructs/backup-volume';
import { DatabaseServer } from '../../src/constructs/database-server';
import { RestoreJob, type RestoreSource } from '../../src/constructs/restore-job';
import { parseResult, type StoreResult } from '../../src/store/result';
import { rendered } from '../constructs/render';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';

/** What differs between engines in the story of their backups. */
export interface BackupStory {
  readonly engine: 'mysql' | 'postgres';
  readonly version: string;
  /** A shell line that runs the SQL of its input as the application, and stops at the first error. */
  readonly client: string;
  /** SQL that fills the table `filler`, so that a dump takes its time. */
  readonly fill: string;
}

/** A bank's books: whatever is transferred, the sum stays. */
const total = 1000;
const account = { username: 'app', database: 'app' };
const target = { volume: { claimName: 'backups' } } as const;
const slow = 300_000;

/** Backups and restores of one engine on real pods, without an operator: what the Jobs promise by themselves. */
export function backupOf({ engine, version, client, fill }: BackupStory): void {
  let cluster: TestCluster;
  let namespace: string;
  let storeImage: string;

  beforeAll(async () => {
    cluster = await sharedCluster({ nodes: 1 });
    storeImage = await cluster.demandOwn('images').loadOperator();
    namespace = await makeNamespace(cluster, { 'pod-security.kubernetes.io/enforce': 'restricted' });
    await cluster.apply(...rendered((chart) => new BackupVolume(chart, 'backups', { name: 'backups', namespace, size: '1Gi' })));
    await server('shop', true);
    await sql('shop', `CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL); CREATE TABLE history (moved INT); CREATE TABLE filler (words VARCHAR(200)); ${fill}`);
    await sql('shop', `INSERT INTO account VALUES ${Array.from({ length: 10 }, (_, index) => `(${index + 1}, ${total / 10})`).join(', ')};`);
  }, firstUpTimeoutMs);

  afterAll(async () => {
    await removeNamespace(cluster, namespace);
    cluster.close();
  });

  const apply = (build: (chart: Chart) => void) => cluster.apply(...rendered(build));
  const props = (database: string) => ({ database, namespace, engine, version, storeImage, target });
  const backup = (name: string) => apply((chart) => new BackupJob(chart, 'backup', { ...props('shop'), name }));
  const restore = (name: string, from?: RestoreSource) => apply((chart) => new RestoreJob(chart, 'restore', { ...props(name), from: { database: 'shop', ...from }, required: true }));

  async function server(name: string, running: boolean): Promise<void> {
    const secret = (suffix: string, stringData: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: `${name}-${suffix}`, namespace }, stringData });
    await cluster.apply(secret('accounts', { 'root-password': `r'"\\${name}`, 'operator-password': `o:${name}`, 'backup-password': `b"'\\:#${name}` }), secret('app', { ...account, password: `a#'"\\:${name}` }));
    await apply((chart) => new DatabaseServer(chart, 'server', { name, namespace, engine, version, data: { size: '1Gi' }, running }));
    if (running) await waitFor(cluster, { apiVersion: 'apps/v1', resource: 'statefulsets', namespace, name }, (set) => set?.status?.readyReplicas === 1, { what: 'a ready pod', withinMs: 180_000 });
  }

  async function sql(name: string, statements: string): Promise<string> {
    return (await cluster.kubectl(`exec -i ${name}-0 -n ${namespace} -- sh -c '${client}' client ${name}`, statements)).trim();
  }

  /** What the store of a Job said last, once the Job has ended. */
  async function resultOf(job: string): Promise<StoreResult | undefined> {
    await waitFor(cluster, { apiVersion: 'batch/v1', resource: 'jobs', namespace, name: job }, (object) => object?.status?.conditions?.some(({ type }: { type: string }) => type === 'Complete' || type === 'Failed'), { what: 'an end', withinMs: slow });
    const pods = JSON.parse(await cluster.kubectl(`get pods -n ${namespace} -l job-name=${job} --sort-by=.metadata.creationTimestamp -o json`)) as { items: { status: { containerStatuses?: { name: string; state: { terminated?: { message?: string } } }[] } }[] };
    const messages = pods.items.flatMap(({ status }) => status.containerStatuses ?? []).flatMap(({ name, state }) => (name === 'store' ? [state.terminated?.message ?? ''] : []));
    return parseResult(messages.at(-1) ?? '');
  }

  /** Kills the pod of a Job, without a farewell, as soon as its engine has been given this order. */
  async function killAt(job: string, order: string): Promise<void> {
    const { metadata } = await waitFor(cluster, { apiVersion: 'batch/v1', resource: 'jobs', namespace, name: job }, (object) => object?.status?.active === 1, { what: 'a pod' });
    const pod = (await cluster.kubectl(`get pods -n ${namespace} -l batch.kubernetes.io/controller-uid=${metadata.uid} -o jsonpath={.items[0].metadata.name}`)).trim();
    await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name: pod }, (object) => object?.status?.containerStatuses?.every(({ state }: { state: object }) => !('waiting' in state)), { what: 'running containers', withinMs: 120_000 });
    await cluster.kubectl(`exec ${pod} -n ${namespace} -c engine -- sh -c 'until grep -q -s ${order} /dbop/exchange/order-*; do sleep 0.1; done'`);
    await cluster.kubectl(`delete pod ${pod} -n ${namespace} --grace-period=0 --force`);
  }

  /** Runs a shell line in a pod that has the backup volume. */
  const onVolume = (line: string) => {
    const overrides = {
      spec: {
        securityContext: { runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [{ name: 'look', image: `${engine}:${version}`, command: ['sh', '-c', line], securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }, volumeMounts: [{ name: 'backups', mountPath: '/backups' }] }],
        volumes: [{ name: 'backups', persistentVolumeClaim: { claimName: 'backups' } }],
      },
    };
    return cluster.kubectl(`run look -n ${namespace} --rm -i --restart=Never --quiet --image ${engine}:${version} --overrides '${JSON.stringify(overrides)}'`);
  };

  it('takes a verified backup while the application goes on writing, and the copy is one point in time', async () => {
    const transfers = cluster.kubectl(
      `exec -i shop-0 -n ${namespace} -- sh -c 'i=0; until [ -e /tmp/stop ]; do i=$((i + 1)); echo "BEGIN; UPDATE account SET balance = balance - 1 WHERE id = $((i % 10 + 1)); UPDATE account SET balance = balance + 1 WHERE id = $((i * 7 % 10 + 1)); INSERT INTO history VALUES ($i); COMMIT;"; done | (${client})' client shop`,
    );
    await backup('b1');
    const result = await resultOf('b1');
    await cluster.kubectl(`exec shop-0 -n ${namespace} -- touch /tmp/stop`);
    await transfers;
    expect(result).toMatchObject({ outcome: 'stored', backup: { name: 'b1', engine, tables: 3, verifiedAt: expect.any(String) as string, position: expect.any(String) as string } });
    await server('copy', false);
    await restore('copy', { backup: 'b1' });
    expect(await resultOf('copy-restore')).toMatchObject({ outcome: 'restored' });
    await server('copy', true);
    expect(await sql('copy', 'SELECT SUM(balance) FROM account;')).toBe(String(total));
    const moved = Number(await sql('copy', 'SELECT COUNT(*) FROM history;'));
    expect(moved).toBeGreaterThan(0);
    expect(moved).toBeLessThan(Number(await sql('shop', 'SELECT COUNT(*) FROM history;')));
  }, slow * 2);

  it.each(['dump', 'load'])('takes a good backup in the end when its pod is killed at the order to %s, and leaves no litter', async (order) => {
    await backup(`killed-${order}`);
    await killAt(`killed-${order}`, order);
    expect(await resultOf(`killed-${order}`)).toMatchObject({ outcome: 'stored', backup: { verifiedAt: expect.any(String) as string } });
    const files = (await onVolume(`ls /backups/shop/killed-${order}`)).trim().split(/\s+/);
    expect(files).toEqual([expect.stringMatching(/^dump\.sql\.(zst|gz)$/), 'manifest.json']);
  }, slow * 2);

  it('restores in the end when its pod is killed while it loads', async () => {
    await server('second', false);
    await restore('second', { backup: 'b1' });
    await killAt('second-restore', 'load');
    expect(await resultOf('second-restore')).toMatchObject({ outcome: 'restored', backup: { name: 'b1' } });
  }, slow * 2);

  it('refuses an artifact that was damaged, and starts no server on half of it', async () => {
    await onVolume('cp -r /backups/shop/b1 /backups/shop/damaged && sed -i s/\\"b1\\"/\\"damaged\\"/ /backups/shop/damaged/manifest.json && for f in /backups/shop/damaged/dump*; do printf x | dd of=$f bs=1 seek=200 conv=notrunc; done');
    await server('third', false);
    await restore('third', { backup: 'damaged' });
    expect(await resultOf('third-restore')).toMatchObject({ outcome: 'failed', reason: 'ChecksumMismatch' });
  }, slow);
}
