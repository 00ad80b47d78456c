import { parseAllDocuments } from 'yaml';
import { FaultProxy } from '../support/fault-proxy';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { installCrds } from '../operator/running-operator';
import { dbop, type RunOptions } from './test-io';

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  await cluster.apply(database('orders', { parameters: { max_connections: '9' } }));
  await report('orders', { phase: 'Running', message: 'MySQL 9.7.1 answers', secretName: 'orders-app' });
}, firstUpTimeoutMs);

afterAll(async () => {
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = (name: string, spec: object = {}) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...spec } });
const run = (line: string, options: RunOptions = {}) => dbop(`${line} -n ${namespace}`, { ...options, env: { ...options.env, KUBECONFIG: cluster.kubeconfig } });
/** Speaks in the operator's place: none runs here. */
const report = (name: string, status: object, kind = 'db') => cluster.kubectl(`patch ${kind} ${name} -n ${namespace} --subresource status --type merge -p '${JSON.stringify({ status })}'`);
const get = async (what: string) => JSON.parse(await cluster.kubectl(`get ${what} -n ${namespace} -o json`)) as { spec: Record<string, unknown> };

describe('dbop status', () => {
  it('prints a table of the namespace, and data for programs', async () => {
    const { code, out } = await run('status');
    expect(code).toBe(0);
    expect(out).toMatch(/^NAME +ENGINE +VERSION .*\norders +mysql +9\.7 +1Gi +Running +Unknown +none +\S+ +MySQL 9\.7\.1 answers\n/);
    expect((JSON.parse((await run('status -o json')).out) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toContain('orders');
  });

  it('tells the story of one database, its Events included', async () => {
    await cluster.apply({ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'told', namespace }, eventTime: new Date().toISOString().replace('Z', '000Z'), type: 'Normal', reason: 'BackupTaken', note: 'all is well', action: 'x', reportingController: 'dbop', reportingInstance: 'dbop', regarding: { apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', name: 'orders', namespace } });
    const { code, out } = await run('status orders');
    expect(code).toBe(0);
    expect(out).toContain('Running: MySQL 9.7.1 answers');
    expect(out).toMatch(/Events\n.*Normal +BackupTaken +all is well\n/);
  });

  it('names the databases that are there when one is not', async () => {
    expect(await run('status ordres')).toEqual({ code: 1, out: '', err: expect.stringContaining(`there is no Database 'ordres' in namespace ${namespace}; there are: `) });
  });

  it('follows what happens until the database is gone', async () => {
    await cluster.apply(database('followed'));
    let following = () => {};
    const begun = new Promise<void>((resolve) => (following = resolve));
    const watch = run('status followed -w', { onOut: (all) => all.includes('Events') && following() });
    await begun;
    await report('followed', { phase: 'Creating', message: 'waits for the pod' });
    await report('followed', { phase: 'Creating', message: 'waits for the pod', version: '9.7.1' });
    await report('followed', { phase: 'Running', message: 'it answers' });
    await cluster.kubectl(`delete db followed -n ${namespace}`);
    const { code, out } = await watch;
    expect(code).toBe(0);
    const told = out.split('\n').filter((line) => /^\d\d:\d\d:\d\d/.test(line)).map((line) => line.slice(10));
    expect(told.at(-1)).toBe('Database followed is gone');
    expect(told.filter((line) => line === 'Creating  waits for the pod').length).toBeLessThanOrEqual(1);
  }, 60_000);
});

describe('dbop backup', () => {
  it('asks for a backup under a name with the time', async () => {
    const { code, out } = await run('backup orders');
    expect(code).toBe(0);
    const [, name] = /^DatabaseBackup (orders-\d{8}-\d{6}) is asked for/.exec(out) ?? [];
    expect((await get(`dbb ${name}`)).spec).toEqual({ database: 'orders' });
  });

  it('waits for the end with --wait, and tells what was stored', async () => {
    const waiting = run('backup orders --name nightly --no-verify --wait');
    await cluster.kubectl(`wait --for=create dbb/nightly -n ${namespace} --timeout=20s`);
    expect((await get('dbb nightly')).spec).toEqual({ database: 'orders', verify: false });
    await report('nightly', { phase: 'Running', message: 'Job nightly takes the backup' }, 'dbb');
    await report('nightly', { phase: 'Succeeded', verified: false, bytes: 2048, tables: 2, rows: 5, location: 'orders/nightly' }, 'dbb');
    expect(await waiting).toMatchObject({ code: 0, out: 'backup nightly is stored, not proved (2.0 KiB, 2 tables, 5 rows) at orders/nightly\n' });
  }, 60_000);

  it('fails with the reason when the backup does', async () => {
    const waiting = run('backup orders --name broken --wait');
    await cluster.kubectl(`wait --for=create dbb/broken -n ${namespace} --timeout=20s`);
    await report('broken', { phase: 'Failed', message: 'the volume is full' }, 'dbb');
    expect(await waiting).toMatchObject({ code: 1, err: expect.stringContaining(`dbop: backup broken of ${namespace}/orders failed: the volume is full\n`) });
  }, 60_000);

  it('gives up after --timeout, and says whom to suspect', async () => {
    const { code, err } = await run('backup orders --name late --wait --timeout 1s');
    expect(code).toBe(1);
    expect(err).toContain('backup late was not ready in 1 s: no operator has taken it up; does one run');
  });

  it('refuses a database that is not there before anything is made', async () => {
    expect(await run('backup ordres --name never')).toMatchObject({ code: 1, err: expect.stringContaining("there is no Database 'ordres'") });
    expect((await cluster.tryKubectl(`get dbb never -n ${namespace}`)).code).toBe(1);
  });
});

describe('dbop restore', () => {
  it('makes a new database of the same shape from the newest backup of another', async () => {
    const { code, out } = await run('restore copy --from database/orders');
    expect({ code, out }).toEqual({ code: 0, out: `Database copy is created and will be filled from database orders; follow it with: dbop status copy -n ${namespace} -w\n` });
    expect((await get('db copy')).spec).toMatchObject({ engine: 'mysql', version: '9.7', size: '1Gi', parameters: { max_connections: '9' }, restore: { policy: 'Required', from: { database: 'orders' } } });
  });

  it('never goes over a database that exists, and tells the way', async () => {
    const { code, err } = await run('restore orders --from database/orders');
    expect(code).toBe(1);
    expect(err).toContain(`Database ${namespace}/orders exists, and a restore never goes over one that does: choose another name (such as orders-restored)`);
  });

  it('takes one backup by name, with a version of its own, and prints it with --dry-run', async () => {
    await cluster.apply({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'friday', namespace }, spec: { database: 'orders' } });
    const { code, out } = await run('restore copy2 --from backup/friday --version 9.8 --dry-run');
    expect(code).toBe(0);
    expect(out).toContain('from:\n      backup: friday\n');
    expect(out).toContain('version: "9.8"');
    expect((await cluster.tryKubectl(`get db copy2 -n ${namespace}`)).code).toBe(1);
  });

  it('refuses a backup that failed or is not there', async () => {
    await cluster.apply({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'bad', namespace }, spec: { database: 'orders' } });
    await report('bad', { phase: 'Failed', message: 'the disk burnt' }, 'dbb');
    expect((await run('restore copy3 --from backup/bad')).err).toContain('DatabaseBackup bad failed and holds nothing to restore: the disk burnt');
    expect((await run('restore copy3 --from backup/none')).err).toContain("there is no DatabaseBackup 'none'");
    expect((await run('restore copy3 --from nonsense')).err).toContain('Write backup/NAME or database/NAME.');
  });
});

describe('dbop connect --print', () => {
  it('prints the connection string with the password masked, and with it only when asked', async () => {
    const data = { host: 'orders.svc', port: '3306', username: 'app', password: 'tops3cret', database: 'app' };
    await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'orders-app', namespace }, stringData: data });
    expect(await run('connect orders --print')).toEqual({ code: 0, out: 'mysql://app:***@orders.svc:3306/app\n', err: 'the password is in Secret orders-app; --reveal prints it here\n' });
    expect((await run('connect orders --print --reveal')).out).toBe('mysql://app:tops3cret@orders.svc:3306/app\n');
    expect((await run('connect orders')).err).toContain('is ready: MySQL 9.7.1 answers; see dbop status orders');
  });
});

describe('every command', () => {
  const file = (group = 'dbop.dev') => ({ stdin: JSON.stringify({ ...database('fresh'), apiVersion: `${group}/v1alpha1` }) });
  /** What is typed, and what of its output a program is after. */
  const commands: [line: string, known: (data: never) => unknown, answer: unknown, code?: number][] = [
    ['render -f - -o FORMAT', (children: { kind: string }[]) => children.some(({ kind }) => kind === 'StatefulSet'), true],
    ['plan -f - -o FORMAT', ([report]: { database: string; changes: { action: string }[] }[]) => [report?.database.split('/')[1], new Set(report?.changes.map(({ action }) => action))], ['fresh', new Set(['create'])], 2],
    ['status -o FORMAT', (all: { metadata: { name: string } }[]) => all.some(({ metadata }) => metadata.name === 'orders'), true],
    ['status orders -o FORMAT', (story: { database: { status: { phase: string } } }) => story.database.status.phase, 'Running'],
    ['backup orders --name for-FORMAT -o FORMAT', (backup: { spec: { database: string } }) => backup.spec.database, 'orders'],
    ['restore for-FORMAT --from database/orders -o FORMAT', (made: { spec: { restore: { from: object } } }) => made.spec.restore.from, { database: 'orders' }],
    ['restore never --from database/orders --dry-run -o FORMAT', (wish: { metadata: { name: string } }) => wish.metadata.name, 'never'],
    ['connect orders --print -o FORMAT', (login: { password: string; port: number }) => [login.password, login.port], ['***', 3306]],
  ];

  it.each(commands)('gives programs its answer as JSON and as YAML, and nothing else: %s', async (line, known, answer, code = 0) => {
    await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'orders-app', namespace }, stringData: { host: 'orders.svc', port: '3306', username: 'app', password: 'tops3cret', database: 'app' } });
    const json = await run(line.replaceAll('FORMAT', 'json'), file());
    expect(json).toMatchObject({ code, err: '' });
    expect(known(JSON.parse(json.out) as never)).toEqual(answer);
    const yaml = await run(line.replaceAll('FORMAT', 'yaml'), file());
    expect(yaml).toMatchObject({ code, err: '' });
    const documents = parseAllDocuments(yaml.out).map((document) => document.toJS() as unknown);
    expect(known((Array.isArray(JSON.parse(json.out)) ? documents : documents[0]) as never)).toEqual(answer);
  });

  const asking = ['plan -f -', 'status', 'status orders', 'backup orders', 'restore copy9 --from database/orders', 'connect orders', 'run --port 0'];
  const broken: [what: string, flags: string, err: RegExp][] = [
    ['a kubeconfig that is not there', '--kubeconfig /nowhere/config', /\/nowhere\/config/],
    ['a context that the kubeconfig lacks', '--context staging', /staging/],
    ['a cluster that does not serve our kinds', '--group other.example.com', /the cluster does not serve \S*other\.example\.com\S*: install the operator's CustomResourceDefinitions first, or name your group with --group/],
  ];
  it.each(broken.flatMap((row) => asking.filter((line) => !(line.startsWith('run') && row[1].startsWith('--group'))).map((line) => [line, ...row] as const)))('%s says what is wrong with %s', async (line, _what, flags, err) => {
    const options = { ...file(/--group (\S+)/.exec(flags)?.[1]), env: { KUBECONFIG: cluster.kubeconfig } };
    // An operator looks at its process's own environment.
    const where = line.startsWith('run') ? (flags.startsWith('--kubeconfig') ? '' : `--kubeconfig ${cluster.kubeconfig}`) : `-n ${namespace}`;
    const ran = await dbop(`${line} ${flags} ${where}`, options);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(err);
    expect(ran.err).not.toMatch(/\n +at /);
  });

  it.each([...asking, 'render -f -'])('%s refuses an option that it does not know, and names the one that was meant', async (line) => {
    const ran = await dbop(`${line} --grop x`, file());
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain("unknown option '--grop'");
    expect(ran.err).toContain('(Did you mean --group?)');
  });
});

describe('a person with few rights', () => {
  it('sees a status without the right to read Secrets, and is told which right a plan lacks', async () => {
    await cluster.kubectl(`create serviceaccount dev -n ${namespace}`);
    await cluster.kubectl(`create role dev -n ${namespace} --verb=get,list,watch --resource=databases.dbop.dev,databasebackups.dbop.dev,pods,services,configmaps,persistentvolumeclaims,serviceaccounts,statefulsets.apps,jobs.batch,cronjobs.batch,networkpolicies.networking.k8s.io,poddisruptionbudgets.policy,events.events.k8s.io`);
    await cluster.kubectl(`create rolebinding dev -n ${namespace} --role=dev --serviceaccount=${namespace}:dev`);
    const proxy = await FaultProxy.start(cluster.api.access, { as: `system:serviceaccount:${namespace}:dev` });
    try {
      const limited = (line: string, stdin = '') => dbop(`${line} -n ${namespace}`, { env: { KUBECONFIG: proxy.kubeconfig }, stdin });
      expect((await limited('status orders')).code).toBe(0);
      const { code, err } = await limited('plan -f -', JSON.stringify(database('orders')));
      expect(code).toBe(1);
      expect(err).toMatch(/^dbop: you may not do this \(403\): .*cannot (patch|list) resource/);
    } finally {
      await proxy.close();
    }
  }, 60_000);
});
