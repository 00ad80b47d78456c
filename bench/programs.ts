import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../cluster/command';
import { cacheFolder } from '../cluster/folders';
import { withLock } from '../cluster/lock';
import type { Progress } from '../cluster/progress';

const root = join(__dirname, '..');

/** Our own programs as plain JavaScript, so that no loader's work is measured. @returns the folder that mirrors the repository */
export async function compiled(progress: Progress): Promise<string> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  compiling ??= progress.step('compiling our operator and the floor', '3 s', () => run(process.execPath, [compiler, '-p', join(__dirname, 'tsconfig.json')]));
  await compiling;
  return join(root, 'node_modules', '.cache', 'bench');
}

let compiling: Promise<unknown> | undefined;

/** The Go peer, built now if the cache lacks it. */
export async function controllerRuntimePeer(progress: Progress): Promise<string> {
  const folder = join(__dirname, 'peers', 'controller-runtime');
  const target = cacheFolder('bench', `controller-runtime-${hashOf(folder)}`);
  return await once(target, async () => {
    const making = `${target}.${process.pid}`;
    await progress.step('building the controller-runtime peer from Go source', '3 min the first time', () =>
      run('nice', ['-n', '15', 'go', 'build', '-trimpath', '-ldflags', '-s -w', '-o', making, '.'], { cwd: folder, env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' } }),
    );
    renameSync(making, target);
  });
}

/** The Python peer in an environment of its own. */
export async function kopfPeer(progress: Progress): Promise<{ python: string; folder: string }> {
  const folder = join(__dirname, 'peers', 'kopf');
  const requirements = join(folder, 'requirements.txt');
  const environment = cacheFolder('bench', `kopf-${createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)}`);
  const python = join(environment, 'bin', 'python');
  await once(join(environment, 'complete'), () =>
    progress.step('installing kopf', '20 s the first time', async () => {
      await run('python3', ['-m', 'venv', '--clear', environment]);
      await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', requirements]);
      mkdirSync(join(environment, 'complete'));
    }),
  );
  return { python, folder };
}

async function once(target: string, make: () => Promise<void>): Promise<string> {
  await withLock(cacheFolder('bench'), async () => {
    if (existsSync(target)) return;
    mkdirSync(cacheFolder('bench'), { recursive: true });
    await make();
  });
  return target;
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}
