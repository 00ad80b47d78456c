import type { Chart } from 'cdk8s';
import { ArtifactJob } from '../../src/constructs/artifact-job';
import { BackupJob } from '../../src/constructs/backup-job';
import { BackupVolume } from '../../src/constructs/backup-volume';
import { DatabaseServer } from '../../src/constructs/database-server';
import { RestoreJob, type RestoreSource } from '../../src/constructs/restore-job';
import { lastStage, type Stage } from '../../src/store/progress';
import { parseResult, type StoreResult } from '../../src/store/result';
import { rendered } from '../constructs/render';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { lines } from '../support/lines';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { type AnyObject, waitFor } from '../support/wait-for';

/** What differs between engines in the story of their backups. */
export interface BackupStory {
  readonly engine: 'mysql' | 'postgres';
  readonly version: string;
  /** A shell line that runs the SQL of its input as the application, and stops at the first error. */
  readonly client: string;
  /** The same as the superuser, from inside the pod. */
  readonly superuser: string;
  /** What a server may hold beside plain tables: SQL of the superuser that makes it, and a question that server and copy answer alike, whatever of it can't be copied. */
  readonly odd: { readonly make: string; readonly ask: string };
  /** A newer version, into which a backup is restored too. @default the same */
  readonly newer?: string;
  /** SQL that fills the table `filler` with 50 MB of rows, so that a dump takes its time. */
  readonly fill: string;
  /** SQL that fills the table `noise` with three megabytes that nothing can pack. @default no full volume is tried: what it does is the store's, not the engine's */
  readonly noise?: string;
  /** Stages at which pods of backups, and of restores, are killed. */
  readonly killedAt: { readonly backup: readonly Stage[]; readonly restore: readonly Stage[] };
}

/** A bank's books: whatever is transferred, the sum stays. */
const total = 1000;
const account = { username: 'app', database: 'app' };
const target = { volume: { claimName: 'backups' } } as const;
/** The limit of the store is as much: a container of a Job that needs more is killed for it. */
const engineResources = { limits: { memory: '256Mi' } };
const slow = 300_000;

/** Most of the time of a Job that is killed is waiting, but servers that all load at once keep each other from it. */
async function fewAtOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: 3 }, worker));
}

/** Whether a stage is one of those that prove a backup. */
const isProof = (stage: Stage) => ['load', 'count', 'verified'].includes(stage);

/** The last word of a pod's store. */
function storeWord(pod: AnyObject | undefined): StoreResult | undefined {
  const store = pod?.status?.containerStatuses?.find(({ name }: { name: string }) => name === 'store');
  return parseResult(store?.state?.terminated?.message ?? '');
}

/** Backups and restores of one engine on real pods, without an operator: what the Jobs promise by themselves. */
export function backupOf({ engine, version, newer = version, client, superuser, odd, fill, noise, killedAt }: BackupStory): void {
  let cluster: TestCluster;
  let namespace: string;
  let storeImage: string;

  beforeAll(async () => {
    cluster = await sharedCluster({ nodes: 1 });
    storeImage = await cluster.loadOperator();
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
  const props = (database: string) => ({ database, namespace, engine, version, storeImage, target, engineResources });
  const backup = (name: string, verify = true) => apply((chart) => new BackupJob(chart, 'backup', { ...props('shop'), name, verify }));
  const restore = (name: string, from?: RestoreSource, into = version) => apply((chart) => new RestoreJob(chart, 'restore', { ...props(name), version: into, from: { database: 'shop', ...from }, required: true }));

  async function server(name: string, running: boolean, of = version): Promise<void> {
    const secret = (suffix: string, stringData: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: `${name}-${suffix}`, namespace }, stringData });
    await cluster.apply(secret('accounts', { 'root-password': `r'"\\${name}`, 'operator-password': `o:${name}`, 'backup-password': `b"'\\:#${name}` }), secret('app', { ...account, password: `a#'"\\:${name}` }));
    await apply((chart) => new DatabaseServer(chart, 'server', { name, namespace, engine, version: of, data: { size: '1Gi' }, running }));
    if (running) await waitFor(cluster, { apiVersion: 'apps/v1', resource: 'statefulsets', namespace, name }, (set) => set?.status?.readyReplicas === 1, { what: 'a ready pod', withinMs: 180_000 });
  }

  async function sql(name: string, statements: string, as = client): Promise<string> {
    return (await cluster.kubectl(`exec -i ${name}-0 -n ${namespace} -- sh -c '${as}' client ${name}`, statements)).trim();
  }

  /** A volume of a few megabytes: a claim bound to the memory that another pod holds, which has a limit where the disks of a test bed have none. */
  async function smallVolume(name: string, size: string): Promise<void> {
    const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const holder = { name: 'holder', image: `${engine}:${version}`, command: ['sleep', '600'], securityContext: security, volumeMounts: [{ name, mountPath: '/small' }] };
    const spec = { terminationGracePeriodSeconds: 0, securityContext: { runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, fsGroup: 999, seccompProfile: { type: 'RuntimeDefault' } }, containers: [holder], volumes: [{ name, emptyDir: { medium: 'Memory', sizeLimit: size } }] };
    await cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `${name}-holder`, namespace }, spec });
    const pod = await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name: `${name}-holder` }, (seen) => seen?.status?.phase === 'Running', { what: 'the holder of the memory', withinMs: 60_000 });
    const place = `/var/lib/kubelet/pods/${pod.metadata.uid}/volumes/kubernetes.io~empty-dir/${name}`;
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [pod.spec.nodeName] }] }] } };
    const common = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
    await cluster.apply(
      { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `${namespace}-${name}` }, spec: { ...common, capacity: { storage: size }, local: { path: place }, nodeAffinity, claimRef: { namespace, name }, persistentVolumeReclaimPolicy: 'Retain' } },
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, namespace }, spec: { ...common, resources: { requests: { storage: size } }, volumeName: `${namespace}-${name}` } },
    );
  }

  /** The first pod of a Job, once its containers have ended. */
  async function firstPodEnded(job: string): Promise<AnyObject> {
    await waitFor(cluster, { apiVersion: 'batch/v1', resource: 'jobs', namespace, name: job }, (object) => (object?.status?.failed ?? 0) > 0, { what: 'a first failure', withinMs: slow });
    return (JSON.parse(await cluster.kubectl(`get pods -n ${namespace} -l job-name=${job} --sort-by=.metadata.creationTimestamp -o json`)) as { items: AnyObject[] }).items[0]!;
  }

  /** How a Job has ended: a pod that was killed too late says nothing any more. */
  async function endOf(job: string): Promise<string> {
    const end = (object: AnyObject | undefined) => object?.status?.conditions?.find(({ type }: { type: string }) => type === 'Complete' || type === 'Failed');
    return end(await waitFor(cluster, { apiVersion: 'batch/v1', resource: 'jobs', namespace, name: job }, (object) => end(object) !== undefined, { what: 'an end', withinMs: slow })).type;
  }

  /** What the store of a Job said last, once the Job has ended. */
  async function resultOf(job: string): Promise<StoreResult | undefined> {
    await endOf(job);
    const pods = JSON.parse(await cluster.kubectl(`get pods -n ${namespace} -l job-name=${job} --sort-by=.metadata.creationTimestamp -o json`)) as { items: AnyObject[] };
    return storeWord(pods.items.at(-1));
  }

  /** Kills the pod of a Job as soon as its store says that it has reached a stage. */
  async function kill(job: string, at: Stage): Promise<void> {
    const { metadata } = await waitFor(cluster, { apiVersion: 'batch/v1', resource: 'jobs', namespace, name: job }, (object) => object?.status?.active === 1, { what: 'a pod' });
    const pod = (await cluster.kubectl(`get pods -n ${namespace} -l batch.kubernetes.io/controller-uid=${metadata.uid} -o jsonpath={.items[0].metadata.name}`)).trim();
    await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name: pod }, (object) => object?.status?.containerStatuses?.every(({ state }: { state: object }) => !('waiting' in state)), { what: 'running containers', withinMs: 120_000 });
    const log = await cluster.api.open('GET', `/api/v1/namespaces/${namespace}/pods/${pod}/log?container=store&follow=true`);
    for await (const line of lines(log)) if (lastStage(line)?.stage === at) break;
    log.destroy();
    await cluster.kubectl(`delete pod ${pod} -n ${namespace} --grace-period=0 --force`);
  }

  /** What a shell line says in a pod that has the backup volume. Not by `kubectl run -i`, which may come too late for what ends at once. */
  const onVolume = async (line: string) => {
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'look', namespace },
      spec: {
        restartPolicy: 'Never',
        securityContext: { runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [{ name: 'look', image: `${engine}:${version}`, command: ['sh', '-c', line], securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }, volumeMounts: [{ name: 'backups', mountPath: '/backups' }] }],
        volumes: [{ name: 'backups', persistentVolumeClaim: { claimName: 'backups' } }],
      },
    });
    await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace, name: 'look' }, (seen) => seen?.status?.phase === 'Succeeded', { what: 'an answer', withinMs: 120_000 });
    const said = await cluster.kubectl(`logs look -n ${namespace}`);
    await cluster.kubectl(`delete pod look -n ${namespace}`);
    return said;
  };

  it('takes a verified backup within its memory while the application goes on writing, and the copy is one point in time', async () => {
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
    // What follows is about other things than size.
    await sql('shop', 'TRUNCATE TABLE filler;');
  }, slow * 2);

  it(`takes along what else a server may hold, ${newer === version ? 'and' : `into version ${newer} too, and`} fails over nothing that can’t be taken along`, async () => {
    await sql('shop', odd.make, superuser);
    await backup('odd');
    expect(await resultOf('odd')).toMatchObject({ outcome: 'stored', backup: { verifiedAt: expect.any(String) as string } });
    await server('odd', false, newer);
    await restore('odd', { backup: 'odd' }, newer);
    expect(await resultOf('odd-restore')).toMatchObject({ outcome: 'restored' });
    await server('odd', true, newer);
    expect(await sql('odd', odd.ask, superuser)).toBe(await sql('shop', odd.ask, superuser));
    expect(await sql('odd', 'SELECT SUM(balance) FROM account;')).toBe(String(total));
  }, slow);

  it(`takes a good backup in the end, and leaves no litter, when its pod is killed as it reaches ${killedAt.backup.join(', ')}`, async () => {
    await fewAtOnce(killedAt.backup, async (stage) => {
      await backup(`killed-${stage}`, isProof(stage));
      await kill(`killed-${stage}`, stage);
      expect(await endOf(`killed-${stage}`)).toBe('Complete');
    });
    const files = (await onVolume('cd /backups/shop && ls killed-*/*')).trim().split(/\s+/);
    expect(files.map((file) => file.replace(/dump-[0-9a-f]{8}\.sql\.(zst|gz)$/, 'dump'))).toEqual([...killedAt.backup].sort().flatMap((stage) => [`killed-${stage}/dump`, `killed-${stage}/manifest.json`]));
    expect((await onVolume('cd /backups/shop && grep -l verifiedAt killed-*/manifest.json')).trim().split(/\s+/)).toEqual(killedAt.backup.filter(isProof).sort().map((stage) => `killed-${stage}/manifest.json`));
  }, slow * 2);

  it(`restores in the end when its pod is killed as it reaches ${killedAt.restore.join(', ')}`, async () => {
    await fewAtOnce(killedAt.restore, async (stage) => {
      await server(`at-${stage}`, false);
      await restore(`at-${stage}`, { backup: 'b1' });
      await kill(`at-${stage}-restore`, stage);
      // A backup is required, so that no other end is a good one.
      expect(await endOf(`at-${stage}-restore`)).toBe('Complete');
    });
  }, slow * 2);

  if (noise !== undefined) it('fails on a volume that is full, says so and leaves nothing there; the next try finds room', async () => {
    await smallVolume('small', '8Mi');
    const full = async (line: string) => (await cluster.kubectl(`exec small-holder -n ${namespace} -- sh -c '${line}'`)).trim();
    await full('head -c 7M /dev/zero > /small/other');
    await sql('shop', `CREATE TABLE noise (words VARCHAR(200)); ${noise}`);
    await apply((chart) => new BackupJob(chart, 'backup', { ...props('shop'), name: 'too-large', target: { volume: { claimName: 'small' } }, verify: false }));
    const pod = await firstPodEnded('too-large');
    expect(storeWord(pod)).toMatchObject({ outcome: 'failed', reason: 'TargetFailed', message: expect.stringMatching(/cannot write volume:shop\/too-large\/dump.*ENOSPC/) as string });
    expect(await full('find /small -type f')).toBe('/small/other');
    await full('rm /small/other');
    expect(await resultOf('too-large')).toMatchObject({ outcome: 'stored' });
  }, slow);

  it('refuses an artifact that was damaged, and starts no server on half of it', async () => {
    await onVolume('cp -r /backups/shop/b1 /backups/shop/damaged && sed -i s/\\"b1\\"/\\"damaged\\"/ /backups/shop/damaged/manifest.json && for f in /backups/shop/damaged/dump*; do printf x | dd of=$f bs=1 seek=200 conv=notrunc; done');
    await server('third', false);
    await restore('third', { backup: 'damaged' });
    expect(await resultOf('third-restore')).toMatchObject({ outcome: 'failed', reason: 'ChecksumMismatch' });
  }, slow);

  it('deletes the artifact of one backup and no other, lets retention have all but the last good one, and never takes that for the backup of another Job of its name', async () => {
    const job = (name: string, build: (chart: Chart) => void) => apply(build).then(() => resultOf(name));
    const gone = `killed-${killedAt.backup[0]}`;
    expect(await job('delete', (chart) => new ArtifactJob(chart, 'delete', { name: 'delete', namespace, database: 'shop', backup: gone, target, storeImage }))).toMatchObject({ outcome: 'deleted' });
    expect((await onVolume('ls /backups/shop')).trim().split(/\s+/).sort()).toEqual(['b1', 'damaged', 'odd', ...killedAt.backup.slice(1).map((stage) => `killed-${stage}`)].sort());
    expect(await job('last', (chart) => new BackupJob(chart, 'backup', { ...props('shop'), name: 'last', retention: { count: 1 } }))).toMatchObject({ outcome: 'stored', pruned: expect.arrayContaining(['b1']) as string[] });
    expect((await onVolume('ls /backups/shop')).trim()).toBe('last');
    await cluster.kubectl(`delete job last -n ${namespace}`);
    await backup('last');
    expect(await resultOf('last')).toMatchObject({ outcome: 'failed', reason: 'NameTaken' });
  }, slow);
}
