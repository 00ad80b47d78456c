import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';
import { installExample, manifest, manifestText } from './installed-example';

/** R2, as its users type it: `mysqls.otus.homework/v1`. */
describe('the walk through the life of one MySQL', () => {
  let cluster: TestCluster;
  let namespace: string;

  beforeAll(async () => {
    cluster = await sharedCluster({ nodes: 1 });
    namespace = await makeNamespace(cluster);
    await installExample(cluster, 'otus-mysql');
  }, firstUpTimeoutMs);

  afterAll(async () => {
    await removeNamespace(cluster, namespace);
    cluster.close();
  });

  const kubectl = (line: string, input?: string) => cluster.kubectl(`-n ${namespace} ${line}`, input);
  const running = (what: string) =>
    waitFor(cluster, { apiVersion: 'otus.homework/v1', resource: 'mysqls', namespace, name: 'mysql-instance' }, (seen) => seen?.status?.phase === 'Running', { what, withinMs: 240_000 });
  const gone = (apiVersion: string, resource: string, name: string, within?: string) => waitFor(cluster, { apiVersion, resource, name, namespace: within }, (seen) => seen === undefined, { what: 'its end', withinMs: 240_000 });
  const asRoot = async (password: string, statement: string) => {
    const pod = (await kubectl('get pods -l app=mysql-instance -o jsonpath={.items[*].metadata.name}')).trim();
    return kubectl(`exec ${pod} -c server -- mysql -u root -p${password} -e "${statement}" otus-database`);
  };

  it('refuses an unknown field, and an object without its required ones', async () => {
    const unknown = await cluster.tryKubectl(`-n ${namespace} apply -f -`, `${manifestText('otus-mysql', 'cr')}\nuseless_data: "useless info"\n`);
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain('useless_data');
    const empty = await cluster.tryKubectl(`-n ${namespace} apply -f -`, 'apiVersion: otus.homework/v1\nkind: MySQL\nmetadata: {name: x}\nspec: {image: "mysql:5.7"}\n');
    for (const field of ['database', 'password', 'storage_size']) expect(empty.stderr).toContain(field);
  }, 60_000);

  it('makes volumes, Deployment and Service under the names that users know, and a restore Job that finds nothing', async () => {
    await kubectl(`apply -f ${manifest('otus-mysql', 'cr')}`);
    const instance = await running('Running');
    expect(instance.status.message).toBe('mysql-instance created without restore-job');
    expect(await kubectl('get pvc mysql-instance-pvc -o jsonpath={.spec.volumeName}')).toBe('mysql-instance-pv');
    expect(await kubectl('get pvc backup-mysql-instance-pvc -o jsonpath={.status.phase}')).toBe('Bound');
    expect((await kubectl('get deployment,service mysql-instance -o name')).trim().split('\n')).toEqual(['deployment.apps/mysql-instance', 'service/mysql-instance']);
    expect(await kubectl('get job restore-mysql-instance-job -o jsonpath={.status.succeeded}')).toBe('1');
    expect(await kubectl('get ms')).toContain('mysql-instance');
  }, 300_000);

  it('keeps what is written through kubectl exec with the root password', async () => {
    await asRoot('otuspassword', 'CREATE TABLE test (id smallint unsigned not null auto_increment, name varchar(20) not null, constraint pk_example primary key (id));');
    await asRoot('otuspassword', "INSERT INTO test (id, name) VALUES (null, 'some data'); INSERT INTO test (id, name) VALUES (null, 'some data-2');");
    expect(await asRoot('otuspassword', 'select * from test;')).toMatch(/1\tsome data\n2\tsome data-2/);
  }, 60_000);

  it('changes the password of the running server with the one in the object, and loses nothing', async () => {
    const pod = await kubectl('get pods -l app=mysql-instance -o jsonpath={.items[*].metadata.uid}');
    await kubectl(`patch ms mysql-instance --type merge -p '{"spec":{"password":"another-password"}}'`);
    await waitFor(cluster, { apiVersion: 'v1', resource: 'secrets', namespace, name: 'mysql-instance-accounts' }, (seen) => Buffer.from(seen?.data?.['root-password'] ?? '', 'base64').toString() === 'another-password', { what: 'the new password' });
    expect(await asRoot('another-password', 'select count(*) from test;')).toContain('2');
    await expect(asRoot('otuspassword', 'select 1;')).rejects.toThrow('Access denied');
    expect(await kubectl('get pods -l app=mysql-instance -o jsonpath={.items[*].metadata.uid}')).toBe(pod);
  }, 120_000);

  it('is backed up when it is deleted: the volume goes, the backup Job shows 1/1', async () => {
    await kubectl('delete ms mysql-instance --wait=false');
    await gone('otus.homework/v1', 'mysqls', 'mysql-instance', namespace);
    await gone('v1', 'persistentvolumes', 'mysql-instance-pv');
    expect(await kubectl('get jobs backup-mysql-instance-job')).toContain('1/1');
    expect((await kubectl('get pvc -o name')).trim()).toBe('persistentvolumeclaim/backup-mysql-instance-pvc');
  }, 300_000);

  it('has both rows back when the object is applied again', async () => {
    await kubectl(`apply -f ${manifest('otus-mysql', 'cr')}`);
    const instance = await running('Running again');
    expect(instance.status.message).toMatch(/^mysql-instance created with restore-job \(mysql-instance-[0-9a-f]{8}\)$/);
    expect(await asRoot('otuspassword', 'select * from test;')).toMatch(/1\tsome data\n2\tsome data-2/);
  }, 300_000);
});
