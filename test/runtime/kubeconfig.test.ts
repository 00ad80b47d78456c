import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findCluster } from '../../src/runtime/find-cluster';
import { kubeconfig } from '../../src/runtime/kubeconfig';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly name?: string;
}

/** A kubeconfig with one cluster, one user and one context, all of one name. */
function write({ cluster = {}, user = {}, name = 'main' }: Parts = {}, file = 'config'): string {
  const path = join(folder, file);
  writeFileSync(
    path,
    JSON.stringify({
      'current-context': name,
      clusters: [{ name, cluster: { server: 'https://api.example.com:6443', ...cluster } }],
      users: [{ name, user }],
      contexts: [{ name, context: { cluster: name, user: name, namespace: `${name}-space` } }],
    }),
  );
  return path;
}

const load = (file: string, context?: string): ReturnType<typeof kubeconfig> => kubeconfig({ files: [file], context, env: {} });
const text = async (content: string | Buffer | undefined | Promise<string | Buffer>): Promise<string> => String(await content);

test('server, namespace and names come from the current context', async () => {
  const file = write({ cluster: { 'tls-server-name': 'kubernetes' } });
  await expect(load(file)).resolves.toMatchObject({ server: 'https://api.example.com:6443', namespace: 'main-space', tlsServerName: 'kubernetes', source: `${file}: context main` });
});

test('certificates and keys are taken inline', async () => {
  const access = await load(write({ cluster: { 'certificate-authority-data': base64('CA') }, user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') } }));
  const credential = await access.credentials.current();
  expect([await text(access.ca?.()), await text(credential.certificate), await text(credential.key)]).toEqual(['CA', 'CERT', 'KEY']);
});

test('certificates and keys in files are found beside the kubeconfig, and read anew when they are renewed', async () => {
  mkdirSync(join(folder, 'pki'));
  for (const name of ['ca', 'cert', 'key']) writeFileSync(join(folder, 'pki', name), `old ${name}`);
  const access = await load(write({ cluster: { 'certificate-authority': 'pki/ca' }, user: { 'client-certificate': 'pki/cert', 'client-key': join(folder, 'pki/key') } }));
  expect(await text((await access.credentials.current()).certificate)).toBe('old cert');
  for (const name of ['ca', 'cert', 'key']) writeFileSync(join(folder, 'pki', name), `new ${name}`);
  const credential = await access.credentials.current();
  expect([await text(access.ca?.()), await text(credential.certificate), await text(credential.key)]).toEqual(['new ca', 'new cert', 'new key']);
});

test('a token is taken as it is, and a token file counts more', async () => {
  await expect((await load(write({ user: { token: 'inline' } }))).credentials.current()).resolves.toEqual({ token: 'inline' });
  writeFileSync(join(folder, 'token'), 'from file\n');
  await expect((await load(write({ user: { token: 'inline', tokenFile: 'token' } }))).credentials.current()).resolves.toEqual({ token: 'from file' });
});

test('a context can be chosen', async () => {
  const file = join(folder, 'two');
  const clusters = ['a', 'b'].map((name) => ({ name, cluster: { server: `https://${name}.example.com` } }));
  writeFileSync(file, JSON.stringify({ 'current-context': 'a', clusters, contexts: ['a', 'b'].map((name) => ({ name, context: { cluster: name } })) }));
  await expect(load(file)).resolves.toMatchObject({ server: 'https://a.example.com' });
  await expect(load(file, 'b')).resolves.toMatchObject({ server: 'https://b.example.com', namespace: 'default' });
  await expect(load(file, 'c')).rejects.toThrow(`${file}: there is no context 'c'; there are: a, b`);
});

test('of several files the first counts, entry by entry, and paths count from the file that names them', async () => {
  mkdirSync(join(folder, 'other'));
  const first = join(folder, 'first');
  writeFileSync(first, JSON.stringify({ 'current-context': 'other', contexts: [{ name: 'other', context: { cluster: 'other', user: 'other', namespace: 'mine' } }] }));
  const second = write({ name: 'other', user: { tokenFile: 'token' } }, 'other/config');
  writeFileSync(join(folder, 'other', 'token'), 'beside the second');
  const access = await findCluster({ env: { KUBECONFIG: [first, second].join(delimiter) } });
  expect(access.namespace).toBe('mine');
  await expect(access.credentials.current()).resolves.toEqual({ token: 'beside the second' });
});

test('YAML as people write it is read', async () => {
  const file = join(folder, 'yaml');
  writeFileSync(
    file,
    `# our cluster
current-context: main
clusters:
- {name: main, cluster: {server: "https://api.example.com", insecure-skip-tls-verify: true}}
contexts:
- name: main
  context: {cluster: main}
users: null
`,
  );
  await expect(load(file)).resolves.toMatchObject({ server: 'https://api.example.com', insecureSkipTlsVerify: true });
});

describe('what is wrong or not supported is refused, with where and what to do', () => {
  test.each<[string, Parts, string]>([
    ['a proxy', { cluster: { 'proxy-url': 'http://proxy:3128' } }, "'proxy-url' (http://proxy:3128) is not supported; reach the API server directly, or through a forwarded port"],
    ['no server', { cluster: { server: undefined } }, "'server' (none) is no http or https URL"],
    ['no checks and an authority', { cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64('CA') } }, "'insecure-skip-tls-verify' and a certificate authority contradict each other; drop the former"],
    ['a certificate without its key', { user: { 'client-certificate-data': base64('CERT') } }, 'the user has a client certificate without its key'],
    ['a key without its certificate', { user: { 'client-key-data': base64('KEY') } }, 'the user has a client key without its certificate'],
    ['a password', { user: { username: 'admin', password: 'hunter2' } }, "'username' (basic authentication) is not supported; use a token, a client certificate or a credential plugin"],
    ['an old auth provider', { user: { 'auth-provider': { name: 'gcp' } } }, "'auth-provider' (auth-provider) is not supported"],
    ['impersonation', { user: { as: 'somebody' } }, "'as' (impersonation) is not supported"],
  ])('%s', async (_, parts, message) => {
    const file = write(parts);
    await expect(load(file)).rejects.toThrow(`${file}: context main: ${message}`);
  });

  test('a file that is not there', async () => {
    await expect(load(join(folder, 'absent'))).rejects.toThrow(`cannot read kubeconfig ${join(folder, 'absent')}: ENOENT`);
  });

  test('a file that is not YAML, without showing what stands in it', async () => {
    const file = join(folder, 'broken');
    writeFileSync(file, 'users:\n- user: {token: s3cret\n');
    const error = await load(file).catch((error: Error) => error);
    expect((error as Error).message).toMatch(/is not YAML \(line \d+\)$/);
    expect((error as Error).message).not.toContain('s3cret');
  });

  test('no current context', async () => {
    const file = join(folder, 'none');
    writeFileSync(file, JSON.stringify({ contexts: [{ name: 'a', context: {} }] }));
    await expect(load(file)).rejects.toThrow(`${file}: there is no current-context; name one of: a`);
  });
});

describe('the cluster is found', () => {
  const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

  test('by name before KUBECONFIG, and by KUBECONFIG before the pod', async () => {
    const named = write({ name: 'named' }, 'named');
    const listed = write({ name: 'listed' }, 'listed');
    const env = { ...pod, KUBECONFIG: listed, HOME: folder };
    await expect(findCluster({ kubeconfig: named, env })).resolves.toMatchObject({ namespace: 'named-space' });
    await expect(findCluster({ env })).resolves.toMatchObject({ namespace: 'listed-space' });
  });

  test('in the home folder outside of a pod', async () => {
    mkdirSync(join(folder, '.kube'));
    write({ name: 'home' }, '.kube/config');
    await expect(findCluster({ env: { HOME: folder } })).resolves.toMatchObject({ namespace: 'home-space' });
  });

  test('nowhere, with all the places that were looked at', async () => {
    await expect(findCluster({ env: { HOME: folder } })).rejects.toThrow(`no cluster to work on: no kubeconfig is named, KUBECONFIG is not set, this is no pod, and ${join(folder, '.kube/config')} does not exist`);
  });

  test('a KUBECONFIG that is no good is an error, not a reason to look elsewhere', async () => {
    await expect(findCluster({ env: { ...pod, KUBECONFIG: join(folder, 'absent') } })).rejects.toThrow('cannot read kubeconfig');
  });
});
