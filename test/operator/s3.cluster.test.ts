import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { S3Server } from '../support/s3-server';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;
let bucket: S3Server;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 1 });
  const image = await cluster.loadOperator();
  namespace = await makeNamespace(cluster, { 'pod-security.kubernetes.io/enforce': 'restricted' });
  await installCrds(cluster);
  bucket = await S3Server.start({ cluster, tls: true, buckets: ['backups'] });
  operator = await startOperator(cluster, namespace, { image });
}, firstUpTimeoutMs);

afterAll(async () => {
  for (const name of ['orders', 'copy']) await cluster.tryKubectl(`patch db ${name} -n ${namespace} --type merge -p '{"spec":{"deletionPolicy":"Delete"}}'`);
  await cluster.tryKubectl(`delete db,dbb --all -n ${namespace} --timeout=90s`);
  await operator?.stop();
  await bucket?.stop();
  await removeNamespace(cluster, namespace);
  cluster.close();
}, 120_000);

const at = (resource: string, name: string, apiVersion = 'dbop.dev/v1alpha1') => ({ apiVersion, resource, namespace, name });
const place = () => ({ endpoint: bucket.endpoint, bucket: 'backups', prefix: 'team', credentialsSecretName: 'bucket', caSecretName: 'bucket-ca' });
const database = (name: string, spec: object) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'postgres', version: '15', size: '1Gi', ...spec } });
const backup = (name: string) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name, namespace }, spec: { database: 'orders' } });
const condition = (object: AnyObject | undefined, type: string) => object?.status?.conditions?.find((each: { type: string }) => each.type === type);
const isReady = (object: AnyObject | undefined) => condition(object, 'Ready')?.status === 'True';
const settled = (name: string) => waitFor(cluster, at('databasebackups', name), (seen) => ['Succeeded', 'Failed'].includes(seen?.status?.phase), { what: 'the end of the backup', withinMs: 240_000 });
const asOwner = async (name: string, statement: string) => {
  const password = Buffer.from(await cluster.kubectl(`get secret ${name}-app -n ${namespace} -o jsonpath={.data.password}`), 'base64').toString();
  return (await cluster.kubectl(`exec -i ${name}-0 -n ${namespace} -c server -- sh -c 'read -r PGPASSWORD; export PGPASSWORD; exec psql -v ON_ERROR_STOP=1 -qtA -h ${name} -U app app'`, `${password}\n${statement}\n`)).trim();
};

/** The backups of a database in the bucket, and the uploads that nobody has completed. */
const stored = (name: string) => {
  const folder = join(bucket.bucketFolder('backups'), 'team', namespace, name);
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};
const uploads = () => readdirSync(bucket.bucketFolder('backups'), { recursive: true, encoding: 'utf8' }).filter((path) => /multipart.+[0-9]+$/.test(path));

describeOfOwn('a database whose backups are in a bucket', () => {
  it('says which Secret of the bucket is missing, and begins when it is there', async () => {
    await cluster.apply(database('orders', { backup: { s3: place(), schedule: '0 3 1 1 *', timeZone: 'Etc/UTC' } }));
    const waits = await waitFor(cluster, at('databases', 'orders'), (seen) => condition(seen, 'Ready')?.reason === 'SecretMissing', { what: 'the wait for the Secret' });
    expect(condition(waits, 'Ready').message).toContain('Secret bucket of the bucket does not exist');
    const secret = (name: string, stringData: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData });
    await cluster.apply(secret('bucket', { AWS_ACCESS_KEY_ID: bucket.accessKey, AWS_SECRET_ACCESS_KEY: bucket.secretKey }), secret('bucket-ca', { 'ca.crt': bucket.authority }));
    const ready = await waitFor(cluster, at('databases', 'orders'), isReady, { what: 'Ready', withinMs: 180_000 });
    expect(ready.status.restored).toMatchObject({ from: 'empty' });
    // Text of 40 MB that packs to a good half: several parts of an upload.
    await asOwner('orders', "CREATE TABLE notes AS SELECT n, md5(random()::text) || md5(random()::text) || md5(random()::text) AS body FROM generate_series(1, 400000) n;");
  }, 300_000);

  it('has its backups there, proved, on demand and by its schedule, and says how far they are', async () => {
    // A dump waits for whoever holds a table: time enough to see it at work. Only the server knows when the table is held.
    const held = asOwner('orders', 'BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(120);').catch(() => undefined);
    while ((await asOwner('orders', "SELECT count(*) FROM pg_locks WHERE relation = 'notes'::regclass AND mode = 'AccessExclusiveLock' AND granted;")) !== '1');
    await cluster.apply(backup('first'));
    const told = await waitFor(cluster, at('databasebackups', 'first'), (seen) => seen?.status?.progress !== undefined, { what: 'word of how far it is', withinMs: 60_000 });
    expect(told.status).toMatchObject({ phase: 'Running', progress: { stage: 'dump' } });
    await asOwner('orders', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(120)%' AND pid <> pg_backend_pid();");
    await held;
    await cluster.kubectl(`create job scheduled --from=cronjob/orders-backup -n ${namespace}`);
    for (const name of ['first', 'scheduled']) {
      expect((await settled(name)).status).toMatchObject({ phase: 'Succeeded', verified: true, rows: 400_000, location: `s3://backups/team/${namespace}/orders/${name}` });
    }
    expect(stored('orders')).toEqual(['first', 'scheduled']);
  }, 300_000);

  it('leaves no upload behind when a pod is killed in the middle of one, and has the backup in the end', async () => {
    await cluster.apply(backup('cut'));
    const job = await waitFor(cluster, at('jobs', 'cut', 'batch/v1'), (seen) => seen?.status?.active === 1, { what: 'a pod' });
    // Only the bucket knows when a part has come, and it is a folder that nobody can wait for.
    while (uploads().length === 0) await pause(20);
    await cluster.kubectl(`delete pod -l batch.kubernetes.io/controller-uid=${job.metadata.uid} -n ${namespace} --grace-period=0 --force`);
    const { status } = await settled('cut');
    expect(status).toMatchObject({ phase: 'Succeeded', verified: true });
    expect(status).not.toHaveProperty('progress');
    expect(uploads()).toEqual([]);
  }, 300_000);

  it('loses the artifact with the object that stands for it, and no other', async () => {
    await cluster.kubectl(`delete dbb first -n ${namespace} --timeout=120s`);
    expect(stored('orders')).toEqual(['cut', 'scheduled']);
  }, 150_000);

  it('has its last backup there, from which another database is made, in whatever namespace it was taken', async () => {
    const uid = await cluster.kubectl(`get db orders -n ${namespace} -o jsonpath={.metadata.uid}`);
    await cluster.kubectl(`delete db orders -n ${namespace} --timeout=180s`);
    const final = `orders-final-${uid.slice(0, 8)}`;
    expect(stored('orders')).toContain(final);
    // Its Job has told everything, and goes.
    await waitFor(cluster, at('jobs', final, 'batch/v1'), (seen) => seen === undefined, { what: 'the end of the Job' });
    expect((await settled(final)).status).toMatchObject({ phase: 'Succeeded', verified: true });
    await cluster.apply(database('copy', { restore: { policy: 'Required', from: { s3: { ...place(), namespace, database: 'orders' } } } }));
    const ready = await waitFor(cluster, at('databases', 'copy'), isReady, { what: 'Ready', withinMs: 180_000 });
    expect(ready.status.restored.from).toBe(final);
    expect(await asOwner('copy', 'SELECT count(*), count(DISTINCT n) FROM notes')).toBe('400000|400000');
  }, 500_000);
});
