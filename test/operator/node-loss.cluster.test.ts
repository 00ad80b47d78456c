import { describeOfOwn, firstUpTimeoutMs, ownCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;

beforeAll(async () => {
  cluster = await ownCluster({ nodes: 2 });
  await cluster.ensureImages('mysql:9.7', 'postgres:15');
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  operator = await startOperator(cluster, namespace);
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await cluster?.remove();
}, 60_000);

/** Two that are well, each with a way to ask its server as the application. */
const well: Readonly<Record<string, { readonly spec: object; readonly client: string }>> = {
  orders: { spec: { engine: 'mysql', version: '9.7', credentials: { secretName: 'clerk' } }, client: 'read -r MYSQL_PWD; export MYSQL_PWD; exec mysql -h 127.0.0.1 -u clerk app -N' },
  customers: { spec: { engine: 'postgres', version: '15', storageClassName: 'fixed', credentials: { secretName: 'clerk' } }, client: 'read -r PGPASSWORD; export PGPASSWORD; exec psql -h 127.0.0.1 -U clerk -d app -At -v ON_ERROR_STOP=1' },
};
/** Two that can't start, and how that is told. */
const sick: Readonly<Record<string, { readonly spec: object; readonly reason: RegExp }>> = {
  unpulled: { spec: { engine: 'mysql', version: '9.7', image: 'no-such-image:1' }, reason: /^(ErrImagePull|ImagePullBackOff)$/ },
  unplaced: { spec: { engine: 'postgres', version: '15', resources: { requests: { cpu: '1000' } } }, reason: /^Unschedulable$/ },
};
const names = Object.keys(well);
/** The account that both were told to use. */
const clerk = (password: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'clerk', namespace }, stringData: { username: 'clerk', password } });

const database = (name: string, spec: object) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { size: '1Gi', deletionPolicy: 'Delete', ...spec } });
const ready = (object: AnyObject | undefined) => object?.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');
const become = (what: string, isSo: (seen: AnyObject) => boolean, of: readonly string[] = names) =>
  Promise.all(of.map((name) => waitFor(cluster, { apiVersion: 'dbop.dev/v1alpha1', resource: 'databases', namespace, name }, (seen) => seen !== undefined && isSo(seen), { what, withinMs: 150_000 })));
const isReady = (seen: AnyObject) => ready(seen)?.status === 'True' && ready(seen)?.observedGeneration === seen.metadata.generation;

async function sql(name: string, statement: string): Promise<string> {
  const password = Buffer.from(await cluster.kubectl(`get secret clerk -n ${namespace} -o jsonpath={.data.password}`), 'base64').toString();
  return (await cluster.kubectl(`exec -i ${name}-0 -n ${namespace} -c server -- sh -c '${well[name]!.client}'`, `${password}\n${statement}\n`)).trim();
}

const nodeOf = (name: string) => cluster.kubectl(`get pod ${name}-0 -n ${namespace} -o jsonpath={.spec.nodeName}`);
const stop = async (node: string) => (await cluster.demandOwn('nodes that tests may stop').node(node)).stop();

async function allHaveTheirData(): Promise<void> {
  for (const name of names) expect(await sql(name, 'SELECT count(*) FROM notes')).toBe('1');
}

describeOfOwn('databases on two nodes', () => {
  it('are Ready beside others that can’t start', async () => {
    await cluster.kubectl('cordon node2');
    await cluster.apply(clerk('first-password'));
    await cluster.apply(...[...Object.entries(sick), ...Object.entries(well)].map(([name, { spec }]) => database(name, spec)));
    await become('Ready', isReady);
    for (const name of names) await sql(name, 'CREATE TABLE notes (id int PRIMARY KEY); INSERT INTO notes VALUES (1)');
    for (const [name, { reason }] of Object.entries(sick)) await become(String(reason), (seen) => reason.test(ready(seen)?.reason), [name]);
    await cluster.kubectl(`delete db ${Object.keys(sick).join(' ')} -n ${namespace} --wait=false`);
    await cluster.kubectl('uncordon node2');
  }, 240_000);

  it('follow the password of the Secret that they were given, and show it in their own', async () => {
    const before = await Promise.all(names.map((name) => cluster.kubectl(`get pod ${name}-0 -n ${namespace} -o jsonpath={.metadata.uid}`)));
    await cluster.apply(clerk('second-password'));
    for (const name of names) {
      const seen = await waitFor(cluster, { apiVersion: 'v1', resource: 'secrets', namespace, name: `${name}-app` }, (secret) => Buffer.from(secret?.data?.password ?? '', 'base64').toString() === 'second-password', { what: 'the new password', withinMs: 90_000 });
      expect(Buffer.from(seen.data?.['username'] ?? '', 'base64').toString()).toBe('clerk');
      expect(await sql(name, 'SELECT count(*) FROM notes')).toBe('1');
    }
    expect(await Promise.all(names.map((name) => cluster.kubectl(`get pod ${name}-0 -n ${namespace} -o jsonpath={.metadata.uid}`)))).toEqual(before);
  }, 200_000);

  it('say in the server’s words that the account may not use the database, and touch no password for that', async () => {
    const root = (statement: string) => cluster.kubectl(`exec -i orders-0 -n ${namespace} -c server -- sh -c 'MYSQL_PWD=$(cat /dbop/accounts/root-password); export MYSQL_PWD; exec mysql -u root'`, statement);
    const accounts = () => cluster.kubectl(`get secret orders-accounts -n ${namespace} -o jsonpath={.metadata.resourceVersion}`);
    const before = await accounts();
    await operator.stop();
    await root("REVOKE ALL ON app.* FROM 'clerk'@'%'");
    operator = await startOperator(cluster, namespace);
    const [denied] = await become('the words', (seen) => ready(seen)?.reason === 'ServerSilent', ['orders']);
    expect(ready(denied).message).toContain("Access denied for user 'clerk'@'%' to database 'app'");
    expect(await accounts()).toBe(before);
    await root("GRANT ALL ON app.* TO 'clerk'@'%'");
    await become('Ready again', isReady, ['orders']);
  }, 120_000);

  it('say in the API server’s words that a volume can’t grow, and serve on', async () => {
    await cluster.kubectl(`patch db customers -n ${namespace} --type merge -p '{"spec":{"size":"2Gi"}}'`);
    const [rigid] = await become('the refusal', (seen) => ready(seen)?.reason === 'VolumeNotGrown', ['customers']);
    expect(ready(rigid).message).toContain('storageclass that provisions the pvc must support resize');
    expect(rigid!.status.phase).toBe('Running');
    await cluster.kubectl(`patch storageclass fixed -p '{"allowVolumeExpansion":true}'`);
    await cluster.kubectl(`annotate db customers -n ${namespace} woken=up`);
    await become('Ready', isReady);
  }, 60_000);

  it('say that their node is lost, and move to another with their data once it is known to be off', async () => {
    await stop('node1');
    for (const lost of await become('the loss', (seen) => ready(seen)?.reason === 'NodeLost')) {
      expect(ready(lost).message).toContain('node node1 does not answer');
      expect(lost.status.phase).toBe('Failed');
    }
    await cluster.kubectl('taint node node1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute');
    await become('Ready on the other node', isReady);
    for (const name of names) expect(await nodeOf(name)).toBe('node2');
    await allHaveTheirData();
  }, 300_000);

  it('come back by themselves, with their data, when their node does', async () => {
    await stop('node2');
    await become('the loss', (seen) => ready(seen)?.reason === 'NodeLost');
    await cluster.demandOwn('nodes that tests may start').startNode('node2');
    await become('Ready again', isReady);
    for (const name of names) expect(await nodeOf(name)).toBe('node2');
    await allHaveTheirData();
  }, 300_000);
});
