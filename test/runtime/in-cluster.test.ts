import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCluster, isInCluster } from '../../src/runtime/in-cluster';
import { ManualClock } from '../../src/runtime/manual-clock';

let folder: string;
const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serviceaccount-'));
  writeFileSync(join(folder, 'token'), 'first');
  writeFileSync(join(folder, 'namespace'), 'shop');
  writeFileSync(join(folder, 'ca.crt'), 'CA');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('address, namespace and authority are those that the kubelet gives', async () => {
  const access = await inCluster({ env, folder });
  expect(access).toMatchObject({ server: 'https://10.0.0.1:443', namespace: 'shop' });
  expect(String(await access.ca?.())).toBe('CA');
});

test('an IPv6 address is put in brackets', async () => {
  await expect(inCluster({ env: { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, folder })).resolves.toMatchObject({ server: 'https://[fd00::1]:443' });
});

test('the token is read anew after ten seconds, because the kubelet renews it', async () => {
  const clock = new ManualClock();
  const { credentials } = await inCluster({ env, folder, clock });
  writeFileSync(join(folder, 'token'), 'second');
  await clock.advance(9_999);
  await expect(credentials.current()).resolves.toEqual({ token: 'first' });
  await clock.advance(1);
  await expect(credentials.current()).resolves.toEqual({ token: 'second' });
});

test('a refused token is read anew at once', async () => {
  const { credentials } = await inCluster({ env, folder, clock: new ManualClock() });
  writeFileSync(join(folder, 'token'), 'second');
  credentials.refused();
  await expect(credentials.current()).resolves.toEqual({ token: 'second' });
});

test('a pod without a token is told so', async () => {
  rmSync(join(folder, 'token'));
  await expect(inCluster({ env, folder })).rejects.toThrow(`cannot read the token file ${join(folder, 'token')}; without it the API server does not know us`);
  writeFileSync(join(folder, 'token'), '\n');
  await expect(inCluster({ env, folder })).rejects.toThrow(`the token file ${join(folder, 'token')} is empty`);
});

test('outside of a pod there is no such cluster', async () => {
  expect([isInCluster(env), isInCluster({})]).toEqual([true, false]);
  await expect(inCluster({ env: {}, folder })).rejects.toThrow('not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; name a kubeconfig instead');
});
