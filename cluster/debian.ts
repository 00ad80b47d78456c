import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { CommandError, run, tryRun } from './command';
import { cacheFolder } from './folders';
import { withLock } from './lock';
import type { Progress } from './progress';

/** A Debian file system: a release, and the packages on top of the smallest installation. */
export interface DebianRecipe {
  readonly suite: 'bookworm' | 'trixie' | 'sid';
  readonly packages: readonly string[];
  /** Without the updates that came after the release. @default with them */
  readonly asReleased?: boolean;
  /** Shell commands, run with the new root in `$1`. */
  readonly adjust?: readonly string[];
}

/** A file system made by `recipe`, as a tar file; made now if the cache lacks it. */
export function debianTar(name: string, recipe: DebianRecipe, progress: Progress): Promise<string> {
  return cached(name, `${name}-${keyOf(recipe)}.tar`, recipe, progress);
}

/** A file system made by `recipe`, as a folder that must not be written. */
export function debianFolder(name: string, recipe: DebianRecipe, progress: Progress): Promise<string> {
  return cached(name, `${name}-${keyOf(recipe)}`, recipe, progress);
}

/**
 * Installs programs that this machine lacks. Only packages without a service of their own may be named here: an
 * installation must neither start anything nor replace what a person has chosen.
 */
export async function ensureInstalled(programs: Readonly<Record<string, string>>, progress: Progress): Promise<void> {
  const missing: string[] = [];
  for (const [program, debianPackage] of Object.entries(programs)) {
    if ((await tryRun('which', [program])).code !== 0) missing.push(debianPackage);
  }
  if (missing.length === 0) return;
  await withLock(cacheFolder('apt.lock'), () => progress.step(`installing ${missing.join(', ')}`, '15 s', () => install(missing)));
}

async function install(packages: readonly string[]): Promise<void> {
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' } };
  const args = ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages];
  const first = await tryRun('apt-get', args, options);
  if (first.code === 0) return;
  // The usual cause on a new machine: no package lists yet, or old ones.
  await run('apt-get', ['update'], options);
  await run('apt-get', args, options);
}

async function cached(name: string, file: string, recipe: DebianRecipe, progress: Progress): Promise<string> {
  const target = cacheFolder('debian', file);
  if (existsSync(target)) return target;
  await ensureInstalled({ mmdebstrap: 'mmdebstrap' }, progress);
  mkdirSync(cacheFolder('debian'), { recursive: true });
  await withLock(cacheFolder('debian', `${name}.lock`), async () => {
    if (existsSync(target)) return;
    const suffix = file.endsWith('.tar') ? '.tar' : '';
    const building = cacheFolder('debian', `.building-${process.pid}-${name}${suffix}`);
    try {
      await progress.step(`making the file system '${name}' from Debian ${recipe.suite}`, '50 s', () => bootstrap(recipe, building));
      renameSync(building, target);
    } finally {
      rmSync(building, { recursive: true, force: true });
    }
  });
  return target;
}

async function bootstrap(recipe: DebianRecipe, target: string): Promise<void> {
  const args = [
    '--variant=minbase',
    // Nothing is lost when a half-made file system is: it is made anew.
    '--dpkgopt=force-unsafe-io',
    '--mode=root',
    `--format=${target.endsWith('.tar') ? 'tar' : 'directory'}`,
    `--include=${recipe.packages.join(',')}`,
    // A mirror may be older than the expiry date of its index; the signature is checked all the same.
    '--aptopt=Acquire::Check-Valid-Until "false"',
    ...['doc', 'man', 'info', 'locale', 'lintian'].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`),
    ...(recipe.asReleased ? [`--setup-hook=sed -i '/-updates\\|-security/d' "$1"/etc/apt/sources.list`] : []),
    ...(recipe.adjust ?? []).map((command) => `--customize-hook=${command}`),
    recipe.suite,
    target,
    ...mirror(),
  ];
  try {
    await run('mmdebstrap', args, { nice: true });
  } catch (error) {
    if (error instanceof CommandError) throw new Error(`cannot make a Debian ${recipe.suite} file system; is a Debian mirror within reach (DBOP_DEBIAN_MIRROR names another one)?`, { cause: error });
    throw error;
  }
}

/** Debian's own, unless another is named. */
function mirror(): string[] {
  const named = process.env['DBOP_DEBIAN_MIRROR'];
  return named ? [named] : [];
}

function keyOf(recipe: DebianRecipe): string {
  return createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 16);
}

