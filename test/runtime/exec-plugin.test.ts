import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecPlugin, type ExecPluginConfig } from '../../src/runtime/exec-plugin';
import { ManualClock } from '../../src/runtime/manual-clock';

const apiVersion = 'client.authentication.k8s.io/v1';
let folder: string;
let clock: ManualClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exec-plugin-'));
  clock = new ManualClock();
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A real program that counts its runs in a file and does as it is told. */
function program(...lines: string[]): void {
  writeFileSync(join(folder, 'plugin'), ['#!/bin/sh', 'cd "$(dirname "$0")"', 'echo run >>runs', ...lines].join('\n'));
  chmodSync(join(folder, 'plugin'), 0o755);
}

const prints = (answer: object): string => `cat <<'END'\n${JSON.stringify(answer)}\nEND`;
const credential = (status: object): object => ({ apiVersion, kind: 'ExecCredential', status });
const runs = (): number => (existsSync(join(folder, 'runs')) ? readFileSync(join(folder, 'runs'), 'utf8').split('\n').length - 1 : 0);

function plugin(config: Partial<ExecPluginConfig> = {}): ExecPlugin {
  const cluster = { server: 'https://api.example.com', 'certificate-authority-data': 'Q0E=' };
  return new ExecPlugin({ apiVersion, command: './plugin', ...config }, { folder, cluster, env: { PATH: process.env.PATH, INHERITED: 'yes' }, clock });
}

test('what the program prints is used until it expires, and many who ask at once make it run once', async () => {
  program(prints(credential({ token: 'abc', expirationTimestamp: new Date(clock.now() + 600_000).toISOString() })));
  const credentials = plugin();
  const all = await Promise.all([credentials.current(), credentials.current(), credentials.current()]);
  expect(all.map(({ token }) => token)).toEqual(['abc', 'abc', 'abc']);
  await clock.advance(589_000);
  await credentials.current();
  expect(runs()).toBe(1);
});

test('it runs again shortly before what it gave expires', async () => {
  program(prints(credential({ token: 'old', expirationTimestamp: new Date(clock.now() + 600_000).toISOString() })));
  const credentials = plugin();
  await credentials.current();
  await clock.advance(590_000);
  program(prints(credential({ token: 'new', expirationTimestamp: new Date(clock.now() + 600_000).toISOString() })));
  await expect(credentials.current()).resolves.toMatchObject({ token: 'new' });
  expect(runs()).toBe(2);
});

test('without an expiry it runs again only when the API server refuses what it gave', async () => {
  program(prints(credential({ token: 'abc' })));
  const credentials = plugin();
  await credentials.current();
  await clock.advance(365 * 86_400_000);
  await credentials.current();
  expect(runs()).toBe(1);
  credentials.refused();
  await credentials.current();
  expect(runs()).toBe(2);
});

test('it may give a certificate instead of a token', async () => {
  program(prints(credential({ clientCertificateData: 'CERT', clientKeyData: 'KEY' })));
  await expect(plugin().current()).resolves.toEqual({ token: undefined, certificate: 'CERT', key: 'KEY' });
});

test('it is given its arguments, its variables and, if it wants to know, the cluster', async () => {
  program('echo "$1 $EXTRA $INHERITED" >seen', 'printf %s "$KUBERNETES_EXEC_INFO" >info', prints(credential({ token: 'abc' })));
  await plugin({ args: ['get-token'], env: [{ name: 'EXTRA', value: 'set' }], provideClusterInfo: true }).current();
  expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('get-token set yes\n');
  expect(JSON.parse(readFileSync(join(folder, 'info'), 'utf8'))).toEqual({
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: 'https://api.example.com', 'certificate-authority-data': 'Q0E=' } },
  });
});

test('a failure says what the program said, and the next call tries again', async () => {
  program('echo "log in first" >&2', 'exit 3');
  const credentials = plugin();
  await expect(credentials.current()).rejects.toThrow(/^credential plugin .*plugin: it ended with 3: log in first$/);
  program(prints(credential({ token: 'abc' })));
  await expect(credentials.current()).resolves.toMatchObject({ token: 'abc' });
});

test('a program that is not installed is told with its own hint', async () => {
  await expect(plugin({ command: 'no-such-plugin', installHint: 'get it from your platform team' }).current()).rejects.toThrow(
    'credential plugin no-such-plugin: there is no such program; get it from your platform team',
  );
});

test.each<[string, string, string]>([
  ['no JSON', 'echo token: s3cret', 'its output is not JSON; it must print an ExecCredential'],
  ['another kind', prints({ apiVersion, kind: 'Secret' }), 'it printed Secret (client.authentication.k8s.io/v1); an ExecCredential (client.authentication.k8s.io/v1) was asked for'],
  ['nothing to show', prints(credential({})), 'it gave neither a token nor a client certificate'],
  ['an expiry that is no time', prints(credential({ token: 'abc', expirationTimestamp: 'soon' })), "'expirationTimestamp' (soon) is no RFC 3339 time"],
  ['an expired token', prints(credential({ token: 'abc', expirationTimestamp: '2001-01-01T00:00:00Z' })), 'what it gave expired at 2001-01-01T00:00:00Z; log in again, or check the clock'],
])('%s is an error that shows no secret', async (_, line, message) => {
  program(line);
  const error = (await plugin().current().catch((error: Error) => error)) as Error;
  expect(error.message).toBe(`credential plugin ./plugin: ${message}`);
});

test('a version that we do not know, and a program that must ask a person, are refused when the kubeconfig is read', () => {
  expect(() => plugin({ apiVersion: 'client.authentication.k8s.io/v1alpha1' })).toThrow('credential plugin ./plugin: apiVersion (client.authentication.k8s.io/v1alpha1) is not known');
  expect(() => plugin({ interactiveMode: 'Always' })).toThrow('interactiveMode is Always, but an operator has no terminal to type at');
});
