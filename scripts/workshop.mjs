/** What `npm start` and `npm test` share. Only Node's own modules: nothing may be installed yet. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Path of a program that a package brings. */
export const program = (path) => join(root, 'node_modules', path);

/** Runs a program of Node's, quietly. Returns whether it succeeded and all that it printed. */
export function run(path, args = [], env = {}) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [path, ...args], { cwd: root, encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 1 << 28 });
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}${error ? error.message : ''}` };
}

/** Runs a step and says how it went and how long it took; prints its output only if it failed. */
export function step(title, work) {
  const start = process.hrtime.bigint();
  const { ok, output } = work();
  const seconds = (Number(process.hrtime.bigint() - start) / 1e9).toFixed(1);
  console.log(`${ok ? '✓' : '✗'} ${title.padEnd(44)} ${seconds.padStart(6)} s`);
  if (!ok) console.log(output.trimEnd().replace(/^/gm, '  '));
  return ok;
}

/** Installs what the lockfile names, unless it is there already. Ends the process if that fails. */
export function install() {
  const missing = missingPackages();
  if (missing === 0) return;
  // Not `npm ci`: it refuses a lockfile that doesn't know the binaries of every platform, which not every registry has.
  const installed = step(`install ${missing} missing packages`, () => {
    const { status, stdout, stderr } = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund'], { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
    return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}` };
  });
  if (!installed) process.exit(1);
}

/** npm keeps a copy of the lockfile beside what it installed; optional packages may be missing there by right. */
function missingPackages() {
  const wanted = Object.entries(packagesOf('package-lock.json')).filter(([path, { optional, link }]) => path !== '' && !optional && !link);
  const present = packagesOf(join('node_modules', '.package-lock.json'));
  return wanted.filter(([path, { version }]) => present[path]?.version !== version).length;
}

function packagesOf(lockfile) {
  const path = join(root, lockfile);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {};
}
