import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { CommandError, run, tryRun } from './command';
import { cacheFolder } from './folders';
import { withLock } from './lock';
import type { Progress } from './progress';

/** A Debian file system: a release, and the packages it has. */
export interface DebianRecipe {
  readonly suite: 'bookworm' | 'trixie' | 'sid';
  readonly packages: readonly string[];
  /** Without the updates that came after the release. @default with them */
  readonly asReleased?: boolean;
  /** Shell commands, run with the new root in `$1`. */
  readonly adjust?: readonly string[];
}

/**
 * Packages that were only unpacked, as a tar file, for a container to run programs from; made now if the cache lacks it.
 * None was set up: that would take three times as long, and what a container needs of it `adjust` does as well.
 */
export function debianTar(name: string, recipe: DebianRecipe, progress: Progress): Promise<string> {
  return cached(name, `${name}-${keyOf(recipe)}.tar`, recipe, progress, unpack);
}

/** An installed system, as a folder that must not be written; made now if the cache lacks it. */
export function debianFolder(name: string, recipe: DebianRecipe, progress: Progress): Promise<string> {
  return cached(name, `${name}-${keyOf(recipe)}`, recipe, progress, setUp);
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
  await withLock('apt', () => progress.step(`installing ${missing.join(', ')}`, '15 s', () => install(missing)));
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

type Make = (recipe: DebianRecipe, target: string) => Promise<void>;

async function cached(name: string, file: string, recipe: DebianRecipe, progress: Progress, make: Make): Promise<string> {
  const target = cacheFolder('debian', file);
  if (existsSync(target)) return target;
  await ensureInstalled({ mmdebstrap: 'mmdebstrap' }, progress);
  mkdirSync(cacheFolder('debian'), { recursive: true });
  await withLock(target, async () => {
    if (existsSync(target)) return;
    const building = cacheFolder('debian', `.building-${process.pid}-${name}`);
    try {
      await progress.step(`making the file system '${name}' from Debian ${recipe.suite}`, '20 to 40 s', () => make(recipe, building));
      renameSync(building, target);
    } finally {
      rmSync(building, { recursive: true, force: true });
    }
  });
  return target;
}

/** What nobody reads in a pod or on a node. */
const unread = ['doc', 'man', 'info', 'locale', 'lintian'].map((folder) => `usr/share/${folder}`);
/** What mmdebstrap copies from this machine. */
const copied = ['etc/hostname', 'etc/resolv.conf'];

const setUp: Make = (recipe, target) => {
  const excluded = unread.map((folder) => `--dpkgopt=path-exclude=/${folder}/*`);
  // Nothing is lost when a half-made file system is: it is made anew.
  return bootstrap(recipe, target, ['--variant=minbase', '--dpkgopt=force-unsafe-io', ...excluded, `--include=${recipe.packages.join(',')}`, ...(recipe.adjust ?? []).map((command) => `--customize-hook=${command}`)]);
};

const unpack: Make = async (recipe, target) => {
  const folder = `${target}.folder`;
  try {
    // Before the packages, because some of them still bring files for the old folders.
    const merged = 'for folder in bin sbin lib lib64; do mkdir -p "$1/usr/$folder" && ln -s "usr/$folder" "$1/$folder"; done';
    await bootstrap(recipe, folder, ['--variant=extract', `--setup-hook=${merged}`, `--include=${recipe.packages.join(',')}`]);
    for (const command of [...(recipe.adjust ?? []), `cd "$1" && rm -rf ${[...unread, ...copied].join(' ')}`]) await run('bash', ['-ec', command, 'adjust', folder], { nice: true });
    await run('tar', ['--create', '--file', target, '--directory', folder, '--numeric-owner', '.'], { nice: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

async function bootstrap({ suite, asReleased = false }: DebianRecipe, target: string, options: readonly string[]): Promise<void> {
  const args = [
    '--mode=root',
    '--format=directory',
    // A mirror may be older than the expiry date of its index; the signature is checked all the same.
    '--aptopt=Acquire::Check-Valid-Until "false"',
    ...(asReleased ? [`--setup-hook=sed -i '/-updates\\|-security/d' "$1"/etc/apt/sources.list`] : []),
    ...options,
    suite,
    target,
    ...mirror(),
  ];
  try {
    await run('mmdebstrap', args, { nice: true });
  } catch (error) {
    if (error instanceof CommandError) throw new Error(`cannot make a Debian ${suite} file system; is a Debian mirror within reach (DBOP_DEBIAN_MIRROR names another one)?`, { cause: error });
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

