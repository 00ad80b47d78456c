import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../command';
import { ensureInstalled } from '../debian';
import { cacheFolder, sourceFolder } from '../folders';
import { withLock } from '../lock';
import type { Progress } from '../progress';
import { ensureImages, sharedImages } from './images';
import { ImageStore } from './image-store';

/** What the operator's image stands on here; its Node.js has zstd. */
const baseImage = 'node:24-slim';

const project = sourceFolder('..');

/** The name that the operator's Deployment asks for. */
function operatorImageName(): string {
  const { name, version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { name: string; version: string };
  return `${name}:${version}`;
}

/** The last build of this machine: what was built for one cluster is not built again for another. */
const lastBuild = new ImageStore(cacheFolder('operator', 'last-build'));

/**
 * Builds the operator's image from the project's own Dockerfile, puts it into a store, and returns its name.
 *
 * The two stages that fetch and compile are replaced by folders of this machine, which `npm` and `tsc` have brought up
 * to date: fetching then happens once per change of the dependencies, compiling is incremental, and of the image only
 * the last layers are new.
 */
export async function buildOperatorImage(into: ImageStore, progress: Progress): Promise<string> {
  await ensureInstalled({ buildah: 'buildah' }, progress);
  await ensureImages([baseImage], progress);
  const modules = await ensureModules(progress);
  // One store of layers for all: two builds at once would share its names.
  return withLock(cacheFolder('buildah.lock'), async () => {
    const sources = `sources:${fingerprint()}`;
    const work = mkdtempSync(join(cacheFolder(), 'operator-'));
    try {
      if (lastBuild.find(sources) === undefined) await rebuild(sources, modules, work, progress);
      lastBuild.exportFolder(sources, join(work, 'built'));
      await into.tag([operatorImageName()], await into.addFolder(join(work, 'built')));
      return operatorImageName();
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
}

async function rebuild(sources: string, modules: string, work: string, progress: Progress): Promise<void> {
  await progress.step('compiling the operator', '5 s', () => run('npm', ['run', 'build'], { cwd: project }));
  const base = await progress.step('preparing the base image', '5 s the first time', ensureBase);
  const image = await progress.step("building the operator's image", '5 s', () => build(base, modules, work));
  rmSync(lastBuild.folder, { recursive: true, force: true });
  await lastBuild.tag([sources], await lastBuild.addFolder(image));
}

/** Of everything that the image is made from: sources that have been built are not built again. */
function fingerprint(): string {
  const hash = createHash('sha256');
  const folders = ['src', 'imports', 'examples'].flatMap((folder) => readdirSync(join(project, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)));
  const files = ['Dockerfile', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'].map((file) => join(project, file));
  for (const file of [...folders.sort(), ...files]) hash.update(file.slice(project.length)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 32);
}

/** The run-time dependencies, as the Dockerfile's first stage would fetch them; kept per content of the lock file. */
async function ensureModules(progress: Progress): Promise<string> {
  const files = ['package.json', 'package-lock.json'].map((name) => join(project, name));
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(files[0]!, 'utf8')) as Record<string, unknown>;
  const key = createHash('sha256').update(JSON.stringify({ dependencies, peerDependencies })).update(readFileSync(files[1]!)).digest('hex').slice(0, 16);
  const target = cacheFolder('operator', `modules-${key}`);
  await withLock(`${target}.lock`, async () => {
    if (existsSync(target)) return;
    const folder = join(`${target}.building`, 'build');
    rmSync(dirname(folder), { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const file of files) copyFileSync(file, join(folder, file.slice(project.length + 1)));
    await progress.step("fetching the operator's dependencies", '10 s', async () => {
      await run('npm', ['pkg', 'delete', 'devDependencies', 'peerDependencies.cdk8s-plus-27'], { cwd: folder });
      await run('npm', ['install', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    });
    renameSync(dirname(folder), target);
  });
  return target;
}

/** The base image in buildah's own store, under a name that changes with its content. */
async function ensureBase(): Promise<string> {
  const digest = sharedImages.find(baseImage)!;
  const name = `localhost/base:${digest.slice('sha256:'.length, 'sha256:'.length + 16)}`;
  if ((await buildah(['images', '--quiet', '--filter', `reference=${name}`])).trim() !== '') return name;
  const folder = mkdtempSync(join(cacheFolder(), 'base-'));
  try {
    sharedImages.exportFolder(baseImage, join(folder, 'base'));
    // Relative, because buildah makes a name of the path, and names may not have capital letters.
    const id = (await buildah(['pull', '--quiet', 'oci:base'], folder)).trim();
    await buildah(['tag', id, name]);
    return name;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns a folder with the image in OCI form */
async function build(base: string, modules: string, work: string): Promise<string> {
  const code = join(work, 'code', 'build');
  mkdirSync(code, { recursive: true });
  copyFileSync(join(project, 'package.json'), join(code, 'package.json'));
  cpSync(join(project, 'lib'), join(code, 'lib'), { recursive: true, filter: (file) => !/\.(tsbuildinfo|map|d\.ts)$/.test(file) });
  const contexts = ['--build-context', `modules=${modules}`, '--build-context', `code=${dirname(code)}`];
  const image = 'localhost/operator:latest';
  await buildah(['build', '--isolation', 'chroot', '--layers', '--timestamp', '0', '--build-arg', `BASE=${base}`, ...contexts, '--tag', image, '--file', join(project, 'Dockerfile'), project]);
  const pushed = join(work, 'image');
  await buildah(['push', '--disable-compression', '--quiet', image, `oci:${pushed}`]);
  return pushed;
}

function buildah(args: readonly string[], cwd?: string): Promise<string> {
  const storage = ['--root', cacheFolder('buildah', 'storage'), '--runroot', cacheFolder('buildah', 'run'), '--storage-driver', 'overlay'];
  return run('buildah', [...storage, ...args], { cwd });
}
