import { randomBytes } from 'node:crypto';
import { encoded } from '../../src/operator/accounts';
import { renderedMark } from '../../src/operator/kept-pods';
import { makeAuthority, makeServerCertificate } from '../../src/operator/tls/certificate';
import { describeOfOwn, firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor, type AnyObject } from '../support/wait-for';
import { installCrds, startOperator, type RunningOperator } from './running-operator';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 0 });
  namespace = await makeNamespace(cluster);
  await installCrds(cluster);
  operator = await startOperator(cluster, namespace);
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = (name: string, spec: object = {}) => ({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name, namespace }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...spec } });
const at = (resource: string, name: string, apiVersion = 'v1') => ({ apiVersion, resource, namespace, name });
const ready = (object: AnyObject | undefined) => object?.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');
const becomes = (name: string, reason: string, generation?: number) =>
  waitFor(cluster, at('databases', name, 'dbop.dev/v1alpha1'), (seen) => ready(seen)?.reason === reason && (generation === undefined || ready(seen)?.observedGeneration === generation), { what: reason });
const workload = (name: string, isSo: (seen: AnyObject) => boolean) => waitFor(cluster, at('statefulsets', name, 'apps/v1'), (seen) => seen !== undefined && isSo(seen), { what: 'the StatefulSet' });

describeOfOwn('a child that somebody edits', () => {
  it('becomes again as it was, and nothing else of it is touched', async () => {
    await cluster.apply(database('edited'));
    await becomes('edited', 'PodPending');
    await cluster.kubectl(`label service edited -n ${namespace} team=shop`);
    await cluster.kubectl(`patch service edited -n ${namespace} --type json -p '[{"op":"replace","path":"/spec/ports/0/port","value":1}]'`);
    const service = await waitFor(cluster, at('services', 'edited'), (seen) => seen?.spec.ports.length === 1 && seen.spec.ports[0].port === 3306, { what: 'the port' });
    expect(service.metadata.labels).toMatchObject({ team: 'shop' });
    await cluster.kubectl(`patch configmap edited-config -n ${namespace} --type merge -p '{"data":{"my.cnf":"[mysqld]"}}'`);
    await waitFor(cluster, at('configmaps', 'edited-config'), (seen) => seen?.data?.['my.cnf']?.includes('log_bin') === true, { what: 'the configuration' });
    const before = await workload('edited', () => true);
    await cluster.kubectl(`scale statefulset edited -n ${namespace} --replicas=3`);
    await cluster.kubectl(`set image statefulset/edited -n ${namespace} server=mysql:0.0`);
    const after = await workload('edited', ({ spec, metadata }) => metadata.generation! > before.metadata.generation! + 1 && spec.replicas === 1 && spec.template.spec.containers[0].image === 'mysql:9.7');
    expect(after.spec.template).toEqual(before.spec.template);
  }, 60_000);
});

describeOfOwn('a StatefulSet that is made anew', () => {
  it('has the same pods: also those of a former release, and those that were once restarted for a parameter', async () => {
    await cluster.apply(database('anew'));
    // A pod that no node takes yet is not failing: it may be about to run.
    await becomes('anew', 'PodPending');
    await cluster.kubectl(`annotate pvc data-anew-0 -n ${namespace} dbop.dev/restarted-for=abc --overwrite`);
    await workload('anew', ({ spec }) => spec.template.metadata.annotations?.['dbop.dev/restarted-for'] === 'abc');
    const { metadata } = await waitFor(cluster, at('persistentvolumeclaims', 'data-anew-0'), (seen) => seen?.metadata.annotations?.[renderedMark]?.includes('abc') === true, { what: 'the mark' });
    const rendered = JSON.parse(metadata.annotations![renderedMark]!) as { pods: { spec: object } };
    const former = { ...rendered, release: '0.0.9', pods: { ...rendered.pods, spec: { ...rendered.pods.spec, terminationGracePeriodSeconds: 77 } } };
    await cluster.kubectl(`patch pvc data-anew-0 -n ${namespace} --type merge -p '${JSON.stringify({ metadata: { annotations: { [renderedMark]: JSON.stringify(former) } } })}'`);
    const before = await workload('anew', ({ spec }) => spec.template.spec.terminationGracePeriodSeconds === 77);
    await cluster.kubectl(`delete statefulset anew -n ${namespace} --cascade=orphan --wait=false`);
    // It is the garbage collector that leaves the pods to nobody, and it halts for half a minute when a definition goes.
    const after = await waitFor(cluster, at('statefulsets', 'anew', 'apps/v1'), (seen) => seen !== undefined && seen.metadata.uid !== before.metadata.uid, { what: 'another StatefulSet', withinMs: 120_000 });
    expect(after.spec.template).toEqual(before.spec.template);
    expect(after.spec.template.metadata.annotations).toMatchObject({ 'dbop.dev/restarted-for': 'abc' });
  }, 180_000);
});

describeOfOwn('a volume whose class cannot expand it', () => {
  it('holds up nothing else of a change, and grows once the class can', async () => {
    const storageClassName = `rigid-${randomBytes(4).toString('hex')}`;
    const volume = (name: string) => ({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `${storageClassName}-${name}` }, spec: { storageClassName, capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/nowhere' }, claimRef: { namespace, name } } });
    await cluster.apply({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: storageClassName }, provisioner: 'example.com/none', allowVolumeExpansion: false }, volume('data-rigid-0'), volume('rigid-backups'));
    await cluster.apply(database('rigid', { storageClassName }));
    for (const claim of ['data-rigid-0', 'rigid-backups']) await waitFor(cluster, at('persistentvolumeclaims', claim), (seen) => seen?.status.phase === 'Bound', { what: 'a bound claim' });
    await cluster.apply(database('rigid', { storageClassName, size: '10Gi', podLabels: { team: 'shop' } }));
    await workload('rigid', ({ spec }) => spec.template.metadata.labels.team === 'shop');
    await becomes('rigid', 'PodPending', 2);
    await cluster.kubectl(`patch storageclass ${storageClassName} -p '{"allowVolumeExpansion":true}'`);
    await cluster.kubectl(`annotate db rigid -n ${namespace} woken=up`);
    await waitFor(cluster, at('persistentvolumeclaims', 'data-rigid-0'), (seen) => seen?.spec.resources.requests.storage === '10Gi', { what: 'the growth' });
  }, 60_000);
});

describeOfOwn('a retained volume of another storage class than is asked for', () => {
  it('is taken up as it is and guarded, and nobody is told to delete it', async () => {
    const gone = () => waitFor(cluster, at('databases', 'moved', 'dbop.dev/v1alpha1'), (seen) => seen === undefined, { what: 'the end', withinMs: 120_000 });
    await cluster.apply(database('moved', { storageClassName: 'first', deletionPolicy: 'Retain' }));
    await becomes('moved', 'PodPending');
    await cluster.kubectl(`annotate pvc data-moved-0 -n ${namespace} dbop.dev/holds-data=true`);
    await cluster.kubectl(`delete db moved -n ${namespace} --wait=false`);
    await gone();
    await cluster.apply(database('moved', { storageClassName: 'second', deletionPolicy: 'Retain' }));
    const seen = await becomes('moved', 'PodPending');
    expect(JSON.stringify(seen.status)).not.toContain('delete the PersistentVolumeClaim');
    const claim = await waitFor(cluster, at('persistentvolumeclaims', 'data-moved-0'), (found) => found?.metadata.labels?.['dbop.dev/protected'] === 'true', { what: 'the guard' });
    expect(claim.spec.storageClassName).toBe('first');
    expect(claim.metadata.annotations).toMatchObject({ 'dbop.dev/holds-data': 'true' });
  }, 150_000);
});

describeOfOwn('an account from a Secret', () => {
  it.each(['root', 'dbop_operator', 'dbop_backup', 'postgres', 'pg_monitor', 'mysql.sys'])('that is not the application’s to have (%s) is refused, and nothing is made for it', async (username) => {
    const name = `claims-${username.replace(/[^a-z]/g, '-')}`;
    await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: { username, password: 'long-enough' } }, database(name, { credentials: { secretName: name } }));
    const seen = await becomes(name, 'SecretMissing');
    expect(ready(seen)?.message).toBe(`Secret ${name} names the account ${username}, which belongs to the server or to the operator; choose another username`);
    expect((await cluster.tryKubectl(`get statefulset ${name} -n ${namespace}`)).code).not.toBe(0);
  }, 60_000);

  it('is taken without the newline of the file that the Secret was made from', async () => {
    await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'lines', namespace }, stringData: { username: 'clerk\n', password: 'long-enough\n' } }, database('lines', { credentials: { secretName: 'lines' } }));
    const secret = await waitFor(cluster, at('secrets', 'lines-app'), (found) => found !== undefined, { what: 'the Secret for applications' });
    expect(['username', 'password'].map((key) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString())).toEqual(['clerk', 'long-enough']);
  }, 60_000);
});

describeOfOwn('what is known of a volume', () => {
  /** A pod goes by the garbage collector, which stands still for half a minute after a definition was removed. */
  const GARBAGE_MS = 120_000;
  const claim = (name: string, what: string, isSo: (seen: AnyObject) => boolean) => waitFor(cluster, at('persistentvolumeclaims', name), (seen) => seen !== undefined && isSo(seen), { what });
  const remove = async (name: string) => {
    await cluster.kubectl(`delete db ${name} -n ${namespace} --wait=false`);
    return waitFor(cluster, at('databases', name, 'dbop.dev/v1alpha1'), (seen) => seen === undefined, { what: 'the end', withinMs: GARBAGE_MS });
  };

  it('is written on it, and let go of with it, though it may not grow', async () => {
    const storageClassName = `rigid-${randomBytes(4).toString('hex')}`;
    await cluster.apply({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: storageClassName }, provisioner: 'example.com/none', allowVolumeExpansion: false });
    await cluster.apply({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: storageClassName }, spec: { storageClassName, capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/nowhere' }, claimRef: { namespace, name: 'data-stiff-0' } } });
    await cluster.apply(database('stiff', { storageClassName, deletionPolicy: 'Delete' }));
    await claim('data-stiff-0', 'a bound claim', ({ status }) => status.phase === 'Bound');
    await cluster.apply(database('stiff', { storageClassName, deletionPolicy: 'Retain', size: '10Gi' }));
    await claim('data-stiff-0', 'its guard', ({ metadata }) => metadata.labels?.['dbop.dev/protected'] === 'true');
    await remove('stiff');
    const { metadata, spec } = await claim('data-stiff-0', 'a claim that is nobody’s', (seen) => seen.metadata.labels?.['dbop.dev/owner'] === undefined);
    expect({ deleted: metadata.deletionTimestamp, size: spec.resources.requests.storage }).toEqual({ deleted: undefined, size: '1Gi' });
  }, 180_000);

  it('counts a server that was ready, though the operator never reached it: its end is not gone without a last backup', async () => {
    await cluster.apply(database('aloof'));
    await becomes('aloof', 'PodPending');
    const status = { conditions: ['PodScheduled', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' })) };
    await cluster.kubectl(`patch pod aloof-0 -n ${namespace} --subresource status --type merge -p '${JSON.stringify({ status })}'`);
    await claim('data-aloof-0', 'the mark', ({ metadata }) => metadata.annotations?.['dbop.dev/holds-data'] === 'true');
    await cluster.apply(database('aloof', { hibernated: true }));
    await becomes('aloof', 'Hibernated');
    await cluster.kubectl(`delete db aloof -n ${namespace} --wait=false`);
    await becomes('aloof', 'Closing');
    await cluster.apply(database('aloof', { deletionPolicy: 'Delete' }));
    await waitFor(cluster, at('databases', 'aloof', 'dbop.dev/v1alpha1'), (seen) => seen === undefined, { what: 'the end without a backup', withinMs: GARBAGE_MS });
  }, 180_000);

  it('does not count settings that only its file has heard of', async () => {
    await cluster.apply(database('deaf', { parameters: { max_connections: '100' } }));
    await becomes('deaf', 'PodPending');
    await cluster.apply(database('deaf', { parameters: { max_connections: '300' } }));
    const { metadata } = await waitFor(cluster, at('configmaps', 'deaf-config'), (seen) => seen?.data?.['my.cnf']?.includes('max_connections=300') === true, { what: 'the file' });
    expect(metadata.annotations?.['dbop.dev/confirmed-parameters']).toBe('{"max_connections":"100"}');
  }, 60_000);
});

describeOfOwn('a certificate from a Secret', () => {
  it('that is missing keeps a new server from starting, and says what to do', async () => {
    await cluster.apply(database('certified', { tls: { secretName: 'given' } }));
    const waits = await becomes('certified', 'CertificateRefused');
    expect(ready(waits).message).toContain('Secret given does not exist; create it with the keys tls.crt, tls.key, ca.crt');
    expect(await cluster.kubectl(`get statefulset -n ${namespace} -l app.kubernetes.io/instance=certified -o name`)).toBe('');
    const company = makeAuthority('a company', new Date());
    const { certificate, key } = makeServerCertificate(company, [`certified.${namespace}.svc`], new Date());
    const data = { 'tls.crt': encoded(certificate), 'tls.key': encoded(key), 'ca.crt': encoded(company.certificate) };
    // Another name, because a Secret that was not there is looked for again only after half a minute.
    await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'made', namespace }, type: 'kubernetes.io/tls', data });
    await cluster.apply(database('certified', { tls: { secretName: 'made' } }));
    await becomes('certified', 'PodPending');
    const { data: mounted } = await waitFor(cluster, at('secrets', 'certified-tls'), (seen) => seen !== undefined, { what: 'the copy' });
    expect(mounted).toEqual(data);
  }, 60_000);
});

describeOfOwn('a new release of the operator', () => {
  afterEach(() => jest.dontMock('../../src/constructs/server-pod').dontMock('../../src/kind/package-version'));

  it('leaves the pods of the former one alone, until the spec asks for others', async () => {
    await cluster.apply(database('aged'));
    await becomes('aged', 'PodPending');
    const before = await workload('aged', () => true);
    await operator.stop();
    operator = await nextRelease();
    await cluster.apply(database('young'));
    await becomes('young', 'PodPending');
    expect((await workload('young', () => true)).spec.template.spec.terminationGracePeriodSeconds).toBe(77);
    await cluster.apply(database('aged', { parameters: { max_connections: '77' } }));
    await waitFor(cluster, at('configmaps', 'aged-config'), (seen) => seen?.data?.['my.cnf']?.includes('max_connections=77') === true, { what: 'the new release at work' });
    const kept = await workload('aged', () => true);
    expect(kept.spec.template).toEqual(before.spec.template);
    expect(kept.metadata.generation).toBe(before.metadata.generation);
    await cluster.apply(database('aged', { podLabels: { team: 'shop' } }));
    await workload('aged', ({ spec }) => spec.template.spec.terminationGracePeriodSeconds === 77 && spec.template.metadata.labels.team === 'shop');
  }, 60_000);

  /** This operator as if its pods' template had been changed for the next release. */
  async function nextRelease(): Promise<RunningOperator> {
    const pods = jest.requireActual<typeof import('../../src/constructs/server-pod')>('../../src/constructs/server-pod');
    const serverPod: typeof pods.serverPod = (props) => {
      const template = pods.serverPod(props) as { spec: object };
      return { ...template, spec: { ...template.spec, terminationGracePeriodSeconds: 77 } };
    };
    jest.resetModules();
    jest.doMock('../../src/constructs/server-pod', () => ({ ...pods, serverPod }));
    jest.doMock('../../src/kind/package-version', () => ({ packageVersion: '99.0.0' }));
    const { startOperator: startNext } = await import('./running-operator.js');
    return startNext(cluster, namespace);
  }
});
