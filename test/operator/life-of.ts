import { Writable } from 'node:stream';
import { firstUpTimeoutMs, sharedCluster, testOfOwn } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { systemClock } from '../../src/runtime';
import { accountsOf, type Account } from './accounts-of';
import { enduranceOf, type Versions } from './endurance-of';
import { farewellOf } from './farewell-of';
import { isolationOf } from './isolation-of';
import { OperatorAccount } from './operator-account';
import { installCrds, startOperator, type RunningOperator } from './running-operator';
import { rotationOf } from './rotation-of';
import { tlsOf } from './tls-of';
import type { WriterStory } from './writer';

/** What differs between engines in the story that all of them live. */
export interface EngineStory {
  readonly engine: 'mysql' | 'postgres';
  readonly version: string;
  readonly versions: Versions;
  readonly port: number;
  /** A shell line that reads a password from its first line of input and SQL from the rest, and asks the server `host`. */
  client(host: string, account: string): string;
  /** What accounts must not do, by the Secret's name for each; and the superuser, who has no business on the network. */
  readonly forbidden: Readonly<Record<Account, readonly string[]>>;
  readonly superuser: string;
  /** A statement that takes ten seconds and then says `alive`; and a question for the number of those that run. */
  readonly slow: { readonly statement: string; readonly count: string };
  /** A parameter that a running server takes, and the question for its value. */
  readonly dynamic: { readonly name: string; readonly value: string; readonly other: string; readonly show: string };
  /** Another one. */
  readonly beside: { readonly name: string; readonly value: string; readonly show: string };
  /** A parameter that only a restart changes. */
  readonly fixed: { readonly name: string; readonly value: string; readonly show: string };
  /** A value that the server refuses. */
  readonly refused: { readonly name: string; readonly value: string };
  /** A parameter that keeps the server from writing, and what becomes of a rotation under it. */
  readonly unwriting: { readonly name: string; readonly value: string; readonly rotation: 'Ready' | 'PasswordRefused' };
  /** A parameter that a running server takes, and under which applications get no answer. @default the engine has none */
  readonly lockout?: { readonly name: string; readonly value: string };
  /** A parameter that a running server takes, and under which its pod is no longer ready. @default the engine has none */
  readonly unready?: { readonly name: string; readonly value: string };
  readonly writer: WriterStory;
}

/** Rights that a life without bad luck doesn't need, by the luck that they are for. */
const RARELY_USED = new Set([
  // The cache lags behind: a child of that name was made a moment ago, by a process of the operator that has died since.
  ...['configmaps', 'persistentvolumeclaims', 'serviceaccounts', 'services', 'statefulsets.apps', 'cronjobs.batch', 'jobs.batch', 'networkpolicies.networking.k8s.io'].map((resource) => `get ${resource}`),
  // Somebody has changed the list of finalizers while ours was being lifted.
  'get databases.dbop.dev',
  'get databasebackups.dbop.dev',
  // A backup or restore takes longer than ten seconds: how far it is.
  'get pods/log',
]);

/** The life of one database of an engine, on real pods, from its first object to its second life. */
export function lifeOf(story: EngineStory): void {
  const name = 'orders';
  let cluster: TestCluster;
  let namespace: string;
  let operator: RunningOperator | undefined;
  let account: OperatorAccount;
  /** All that every process of the operator has said. */
  const said: string[] = [];

  beforeAll(async () => {
    cluster = await sharedCluster({ nodes: 1 });
    await cluster.ensureImages(...[story.version, story.versions.next].map((version) => `${story.engine}:${version}`));
    const image = await cluster.loadOperator();
    namespace = await makeNamespace(cluster, { 'pod-security.kubernetes.io/enforce': 'restricted' });
    await installCrds(cluster);
    account = await OperatorAccount.make(cluster, namespace, 'dbop');
    const options = { image, kubeconfig: account.kubeconfig, lease: account.name, log: new Writable({ write: (line, _encoding, next) => (said.push(String(line)), next()) }) };
    // A database that this operator makes is 70 days old when the next one looks at it: its certificate must be renewed.
    operator = await startOperator(cluster, namespace, { ...options, clock: { ...systemClock, now: () => Date.now() - 70 * 86_400_000 } });
    living.stopOperator = async () => {
      await operator?.stop();
      operator = undefined;
    };
    living.restartOperator = async () => {
      await living.stopOperator();
      operator = await startOperator(cluster, namespace, options);
    };
  }, firstUpTimeoutMs);

  afterAll(async () => {
    // A server that nobody ends would take the tests after this one half of the machine.
    await cluster.tryKubectl(`patch db ${name} -n ${namespace} --type merge -p '{"spec":{"deletionPolicy":"Delete","hibernated":false,"paused":false}}'`);
    await cluster.tryKubectl(`delete db,dbb --all -n ${namespace} --timeout=90s`);
    await operator?.stop();
    account?.remove();
    await removeNamespace(cluster, namespace);
    cluster.close();
  }, 120_000);

  const at = (resource: string, object: string, apiVersion = 'v1') => ({ apiVersion, resource, namespace, name: object });
  const database = (spec: object = {}) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: story.engine, version: story.version, size: '1Gi', ...spec } });
  const becomes = (what: string, isSo: (object: AnyObject) => boolean, withinMs = 120_000) => waitFor(cluster, at('databases', name, 'dbop.dev/v1alpha1'), (seen) => seen !== undefined && isSo(seen), { what, withinMs });
  const ready = (object: AnyObject) => object.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');
  const isReady = (object: AnyObject) => ready(object)?.status === 'True' && ready(object)?.observedGeneration === object.metadata.generation;
  const podUid = () => cluster.kubectl(`get pod ${name}-0 -n ${namespace} -o jsonpath={.metadata.uid}`);
  const change = (patch: object) => cluster.kubectl(`patch db ${name} -n ${namespace} --type merge -p '${JSON.stringify({ spec: patch })}'`);

  /** The pod ends as by a drain, and another one is ready. */
  async function drain(): Promise<void> {
    const before = await podUid();
    await cluster.kubectl(`delete pod ${name}-0 -n ${namespace} --wait=false`);
    const serves = ({ metadata, status }: AnyObject) => metadata.uid !== before && status?.conditions?.some(({ type, status: is }: { type: string; status: string }) => type === 'Ready' && is === 'True');
    await waitFor(cluster, at('pods', `${name}-0`), (seen) => seen !== undefined && serves(seen), { what: 'a pod that serves after the drain', withinMs: 90_000 });
  }

  const events = () => cluster.kubectl(`get events -n ${namespace} --field-selector involvedObject.name=${name}`);

  async function sql(statement: string, password?: string, account = 'app'): Promise<string> {
    const current = password ?? Buffer.from(await cluster.kubectl(`get secret ${name}-app -n ${namespace} -o jsonpath={.data.password}`), 'base64').toString();
    return (await cluster.kubectl(`exec -i ${name}-0 -n ${namespace} -c server -- sh -c '${story.client(name, account)}'`, `${current}\n${statement}\n`)).trim();
  }

  const living = { get cluster() { return cluster; }, get namespace() { return namespace; }, name, at, becomes, ready, isReady, podUid, change, sql, stopOperator: async () => {}, restartOperator: async () => {} };

  it('is Ready when the server answers through its Service with the credentials in the Secret', async () => {
    await cluster.apply(database());
    const object = await becomes('Ready', isReady);
    expect(object.status).toMatchObject({ phase: 'Running', secretName: `${name}-app`, endpoint: { host: `${name}.${namespace}.svc`, port: story.port } });
    await sql("CREATE TABLE notes (id int PRIMARY KEY, body varchar(20)); INSERT INTO notes VALUES (1, 'first'), (2, 'second')");
    expect(await sql('SELECT count(*) FROM notes')).toBe('2');
  }, 180_000);

  isolationOf(living, story.port);
  tlsOf(living, story);

  it('takes a new password from its Secret while a connection with the old one works on', async () => {
    const before = Buffer.from(await cluster.kubectl(`get secret ${name}-app -n ${namespace} -o jsonpath={.data.password}`), 'base64').toString();
    const pod = await podUid();
    const slow = sql(story.slow.statement, before);
    // The connection with the old password must stand before the new one comes; only the server knows when it does.
    while ((await sql(story.slow.count, before)) !== '1');
    await cluster.kubectl(`patch secret ${name}-app -n ${namespace} -p '{"stringData":{"password":"a-password-of-my-own"}}'`);
    await waitFor(cluster, at('secrets', `${name}-accounts`), (seen) => Buffer.from(seen?.data?.['app-password'] ?? '', 'base64').toString() === 'a-password-of-my-own' && seen?.data?.['retained'] === undefined, { what: 'the change of the password' });
    expect(await sql('SELECT count(*) FROM notes', 'a-password-of-my-own')).toBe('2');
    await expect(sql('SELECT 1', before)).rejects.toThrow();
    expect(await slow).toContain('alive');
    expect(await podUid()).toBe(pod);
    const uri = Buffer.from(await cluster.kubectl(`get secret ${name}-app -n ${namespace} -o jsonpath={.data.uri}`), 'base64').toString();
    expect(uri).toContain('a-password-of-my-own');
  }, 120_000);

  it('changes all passwords when a rotation is asked for, and lets a parameter be taken back that is in its way', async () => {
    const before = await cluster.kubectl(`get secret ${name}-accounts -n ${namespace} -o jsonpath={.data}`);
    await change({ rotatePasswords: 'monday' });
    await becomes('the rotation', (object) => isReady(object) && object.status.rotatedPasswords === 'monday');
    const after = JSON.parse(await cluster.kubectl(`get secret ${name}-accounts -n ${namespace} -o jsonpath={.data}`)) as Record<string, string>;
    for (const [key, value] of Object.entries(JSON.parse(before) as Record<string, string>)) expect(after[key]).not.toBe(value);
    expect(await sql('SELECT count(*) FROM notes')).toBe('2');
    await change({ parameters: { [story.unwriting.name]: story.unwriting.value } });
    await becomes('a server that does not write', isReady);
    await change({ rotatePasswords: 'tuesday' });
    const { status } = await becomes('the end of the rotation, or of its first try', (object) => ['Ready', 'PasswordRefused'].includes(ready(object)?.reason) && ready(object).observedGeneration === object.metadata.generation);
    expect(ready({ status } as AnyObject).reason).toBe(story.unwriting.rotation);
    await change({ parameters: null });
    await becomes('the rotation after all', (object) => isReady(object) && object.status.rotatedPasswords === 'tuesday');
    expect(await sql('SELECT count(*) FROM notes')).toBe('2');
  }, 120_000);

  rotationOf(living, story);

  it('sets a dynamic parameter in the running server, and restarts only for one that needs it', async () => {
    const pod = await podUid();
    await change({ parameters: { [story.dynamic.name]: story.dynamic.value } });
    await becomes('the parameter', isReady);
    expect(await sql(story.dynamic.show)).toBe(story.dynamic.value);
    expect(await podUid()).toBe(pod);
    expect(await events()).toContain(`set in the running server: ${story.dynamic.name}`);
    await change({ parameters: { [story.fixed.name]: story.fixed.value } });
    await becomes('Ready after the restart', isReady);
    expect(await podUid()).not.toBe(pod);
    expect(await sql(story.fixed.show)).toBe(story.fixed.value);
    expect(await events()).toContain(`a restart is needed for ${story.fixed.name}`);
  }, 240_000);

  it('says which parameter the server refuses, takes those beside it, starts anew without it, and heals by the next edit', async () => {
    await change({ parameters: null });
    await becomes('the default settings', isReady);
    const before = await sql(story.beside.show);
    await change({ parameters: { [story.beside.name]: story.beside.value, [story.refused.name]: story.refused.value } });
    const refused = await becomes('the refusal', (object) => ready(object)?.reason === 'ParameterRefused');
    expect(ready(refused).message).toContain(story.refused.name);
    expect(await sql(story.beside.show)).toBe(story.beside.value);
    expect(await sql('SELECT count(*) FROM notes')).toBe('2');
    await drain();
    await becomes('the refusal by the server that was started anew', (object) => ready(object)?.reason === 'ParameterRefused');
    expect(await sql(story.beside.show)).toBe(story.beside.value);
    await change({ parameters: null });
    await becomes('healing', isReady);
    expect(await sql(story.beside.show)).toBe(before);
  }, 240_000);

  if (story.lockout !== undefined) {
    const { name: parameter, value } = story.lockout;
    it('is not Ready on the word of a time before a parameter that shuts applications out, and is again when it is taken back', async () => {
      await change({ parameters: { [parameter]: value } });
      const shut = await becomes('an answer under the parameter', (object) => ['Ready', 'ServerSilent'].includes(ready(object)?.reason) && ready(object).observedGeneration === object.metadata.generation);
      expect(ready(shut).reason).toBe('ServerSilent');
      await change({ parameters: null });
      await becomes('healing', isReady);
      expect(await sql('SELECT count(*) FROM notes')).toBe('2');
    }, 120_000);
  }

  if (story.unready !== undefined) {
    const { name: parameter, value } = story.unready;
    it('takes back a parameter that made its pod unready, in the server that runs', async () => {
      const pod = await podUid();
      await change({ parameters: { [parameter]: value } });
      await becomes('unready', (object) => ready(object)?.reason === 'ServerUnready', 60_000);
      const password = Buffer.from(await cluster.kubectl(`get secret ${name}-accounts -n ${namespace} -o jsonpath={.data.operator-password}`), 'base64').toString();
      const direct = story.client(`${name}-0.${name}-pods`, 'dbop_operator');
      expect((await cluster.kubectl(`exec -i ${name}-0 -n ${namespace} -c server -- sh -c '${direct}'`, `${password}\nSELECT 1\n`)).trim()).toBe('1');
      await change({ parameters: null });
      await becomes('healing', isReady);
      expect(await podUid()).toBe(pod);
    }, 120_000);
  }

  it('comes back with its data when its pod is killed', async () => {
    const pod = await podUid();
    await cluster.kubectl(`delete pod ${name}-0 -n ${namespace} --force --grace-period=0`);
    await waitFor(cluster, at('pods', `${name}-0`), (seen) => seen !== undefined && seen.metadata.uid !== pod, { what: 'a new pod', withinMs: 90_000 });
    await becomes('Ready again', isReady);
    expect(await sql('SELECT count(*) FROM notes')).toBe('2');
  }, 240_000);

  enduranceOf(living, story.engine, story.versions);

  it('is left alone while paused, and looked after again when it is not', async () => {
    await change({ paused: true });
    await becomes('the pause', (object) => ready(object)?.reason === 'Paused');
    await cluster.kubectl(`delete service ${name} -n ${namespace}`);
    await change({ size: '3Gi' });
    await becomes('the pause of the newest spec', (object) => ready(object)?.reason === 'Paused' && object.status.observedGeneration === object.metadata.generation);
    expect((await cluster.kubectl(`get service ${name} -n ${namespace} --ignore-not-found -o name`)).trim()).toBe('');
    expect(await cluster.kubectl(`get pvc data-${name}-0 -n ${namespace} -o jsonpath={.spec.resources.requests.storage}`)).toBe('2Gi');
    await change({ paused: false });
    await becomes('Ready again', isReady);
    await waitFor(cluster, at('persistentvolumeclaims', `data-${name}-0`), (seen) => seen?.spec.resources.requests.storage === '3Gi', { what: 'what was asked for meanwhile' });
  }, 120_000);

  it('sleeps without pods and wakes with its data, and with what was changed meanwhile', async () => {
    await change({ parameters: { [story.dynamic.name]: story.dynamic.value } });
    await becomes('the parameter', isReady);
    await change({ hibernated: true });
    await becomes('Hibernated', (object) => ready(object)?.reason === 'Hibernated');
    expect(await cluster.kubectl(`get pods -n ${namespace} -l app.kubernetes.io/component=server -o name`)).toBe('');
    await change({ hibernated: false, parameters: { [story.dynamic.name]: story.dynamic.other } });
    await becomes('Ready again', isReady);
    expect(await sql(story.dynamic.show)).toBe(story.dynamic.other);
    expect(await sql('SELECT count(*) FROM notes')).toBe('2');
  }, 240_000);

  it('takes a backup on demand, proves it, and says so', async () => {
    await cluster.apply({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'before-release', namespace }, spec: { database: name } });
    const backup = await waitFor(cluster, at('databasebackups', 'before-release', 'dbop.dev/v1alpha1'), (seen) => ['Succeeded', 'Failed'].includes(seen?.status?.phase), { what: 'the end of the backup', withinMs: 240_000 });
    expect(backup.status).toMatchObject({ phase: 'Succeeded', verified: true, engine: story.engine, tables: 1, rows: 2 });
    await becomes('the record of the last backup', (object) => object.status.lastBackup?.name === 'before-release');
  }, 300_000);

  it('has a CronJob for its schedule, records the backup of every Job that comes from it, and lets go of those that the retention removed', async () => {
    await change({ backup: { schedule: '30 3 * * *', retention: { count: 1 } } });
    await waitFor(cluster, at('cronjobs', `${name}-backup`, 'batch/v1'), (seen) => seen?.spec.schedule === '30 3 * * *', { what: 'the CronJob' });
    await cluster.kubectl(`create job by-hand --from=cronjob/${name}-backup -n ${namespace}`);
    const record = await waitFor(cluster, at('databasebackups', 'by-hand', 'dbop.dev/v1alpha1'), (seen) => ['Succeeded', 'Failed'].includes(seen?.status?.phase), { what: 'the record of the backup', withinMs: 240_000 });
    expect(record.status).toMatchObject({ phase: 'Succeeded', verified: true, rows: 2 });
    await becomes('the record in the status', (object) => object.status.lastBackup?.name === 'by-hand');
    await waitFor(cluster, at('databasebackups', 'before-release', 'dbop.dev/v1alpha1'), (seen) => seen === undefined, { what: 'the end of a record whose backup the retention removed', withinMs: 120_000 });
  }, 300_000);

  accountsOf(living, story, said);

  // Its backups are of the version that it was upgraded to.
  farewellOf(living, story.writer, () => cluster.apply(database({ version: story.versions.next })));

  testOfOwn('was denied nothing by its rights, and has none that it never used', () => {
    expect(account.denied()).toEqual([]);
    expect(account.unused().filter((right) => !RARELY_USED.has(right))).toEqual([]);
  });
}
