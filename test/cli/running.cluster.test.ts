import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, tryRun } from '../../cluster/command';
import { ensureInstalled } from '../../cluster/debian';
import { silent } from '../../cluster/progress';
import { firstUpTimeoutMs, sharedCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';
import { installCrds, startOperator, type RunningOperator } from '../operator/running-operator';
import { dbop } from './test-io';

let cluster: TestCluster;
let namespace: string;
let operator: RunningOperator;
let image: string;

beforeAll(async () => {
  cluster = await sharedCluster({ nodes: 1 });
  await ensureInstalled({ psql: 'postgresql-client', zsh: 'zsh', fish: 'fish' }, silent);
  await cluster.ensureImages('postgres:17');
  image = await cluster.loadOperator();
  namespace = await makeNamespace(cluster, { 'pod-security.kubernetes.io/enforce': 'restricted' });
  await installCrds(cluster);
  operator = await startOperator(cluster, namespace, { image });
  await cluster.apply(database);
  await waitFor(cluster, { apiVersion: 'dbop.dev/v1alpha1', resource: 'databases', namespace, name: 'stock' }, (seen) => seen?.status?.phase === 'Running', { what: 'Running', withinMs: 120_000 });
}, firstUpTimeoutMs);

afterAll(async () => {
  await operator?.stop();
  await removeNamespace(cluster, namespace);
  cluster.close();
});

const database = {
  apiVersion: 'dbop.dev/v1alpha1',
  kind: 'Database',
  get metadata() {
    return { name: 'stock', namespace };
  },
  spec: { engine: 'postgres', version: '17', size: '1Gi' },
};
const env = () => ({ KUBECONFIG: cluster.kubeconfig });

/** As a process of its own, because the client writes to the terminal and not to us. */
const typed = (...args: string[]) => tryRun(join(__dirname, '../../node_modules/.bin/tsx'), [join(__dirname, '../../src/cli/main.ts'), ...args], { env: env() });

/** A folder with a `dbop` that starts the sources, as a shell finds it on PATH. */
function installed(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dbop-bin-'));
  writeFileSync(join(folder, 'dbop'), `#!/bin/sh\nexec '${join(__dirname, '../../node_modules/.bin/tsx')}' '${join(__dirname, '../../src/cli/main.ts')}' "$@"\n`, { mode: 0o755 });
  return folder;
}

/** What each shell is told so that it completes a line as if the key had been pressed. */
const pressTab: Readonly<Record<string, (line: string) => string>> = {
  bash: (line) => `source <(dbop completion bash); COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _dbop; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // A terminal inside of zsh, because completion belongs to its line editor; what it echoes is matched, for there is no other output.
  zsh: (line) => `
    zmodload zsh/zpty
    zpty terminal zsh -f -i
    zpty -w terminal "PS1=; autoload -Uz compinit; compinit -u; source <(dbop completion zsh); print rea''dy"
    zpty -r -m terminal seen '*ready*'
    zpty -w -n terminal $'${line}\\t'
    zpty -r -m terminal seen '*status*' && print status`,
  fish: (line) => `dbop completion fish | source; complete -C '${line}'`,
};

describe('dbop on a database that runs', () => {
  it('opens psql through a port-forward, logged in as the application', async () => {
    const { code, stdout, stderr } = await typed('connect', 'stock', '-n', namespace, '--', '-At', '-c', 'select current_user, current_database()');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'app|app\n', stderr: '' });
  }, 60_000);

  it("passes on psql's own failure", async () => {
    const { code, stderr } = await typed('connect', 'stock', '-n', namespace, '--', '-v', 'ON_ERROR_STOP=1', '-c', 'select nonsense');
    expect(code).toBe(1);
    expect(stderr).toContain('column "nonsense" does not exist');
  }, 60_000);

  it.each(Object.entries(pressTab))('completes a command in %s', async (shell, script) => {
    const folder = installed();
    try {
      const said = await run('timeout', ['30', shell, '-c', script('dbop sta')], { env: { ...env(), PATH: `${folder}:${process.env['PATH']}` } });
      expect(said.split('\t')[0]!.trim()).toBe('status');
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);

  it('takes a backup, waits for its proof and shows it in the story', async () => {
    expect(await dbop(`backup stock -n ${namespace} --name proved --wait`, { env: env() })).toMatchObject({ code: 0, out: expect.stringContaining('backup proved is stored and proved (') });
    const { out } = await dbop(`status stock -n ${namespace}`, { env: env() });
    expect(out).toMatch(/Backups\n  proved +Succeeded .* verified\n/);
    expect(out).toMatch(/Pods\n(.*\n)*?  stock-0 +node1 +pod stock-0 is ready\n/);
  }, 240_000);

  it('finds nothing to plan in a database that runs', async () => {
    const { code, out } = await dbop(`plan -f - --image ${image} --operator-namespace ''`, { env: env(), stdin: JSON.stringify(database) });
    expect({ code, out }).toEqual({ code: 0, out: `${namespace}/stock: no changes\n` });
  }, 60_000);

  it('restores it under another name', async () => {
    expect((await dbop(`restore stock-copy --from backup/proved -n ${namespace}`, { env: env() })).code).toBe(0);
    const copy = await waitFor(cluster, { apiVersion: 'dbop.dev/v1alpha1', resource: 'databases', namespace, name: 'stock-copy' }, (seen) => seen?.status?.phase === 'Running', { what: 'Running', withinMs: 240_000 });
    expect(copy.status.restored.from).toBe('proved');
  }, 300_000);
});
