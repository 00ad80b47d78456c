import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../command';
import { cacheFolder, sourceFolder } from '../folders';
import { withLock } from '../lock';
import type { Progress } from '../progress';
import { Builder } from './builder';
import { fullName, ImageStore } from './image-store';
import { ensureImages, sharedImages } from './images';

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
  await ensureImages([baseImage], progress);
  const modules = await ensureModules(progress);
  return Builder.lend(progress, async (builder) => {
    const sources = `sources:${fingerprint()}`;
    const work = mkdtempSync(join(cacheFolder(), 'operator-'));
    try {
      if (lastBuild.find(sources) === undefined) await rebuild(builder, sources, modules, work, progress);
      lastBuild.exportFolder(sources, join(work, 'built'));
      await into.tag([operatorImageName()], await into.addFolder(join(work, 'built')));
      return operatorImageName();
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
}

async function rebuild(builder: Builder, sources: string, modules: string, work: string, progress: Progress): Promise<void> {
  await progress.step('compiling the operator', '5 s', () => run('npm', ['run', 'build'], { cwd: project }));
  const image = join(work, 'image');
  await progress.step("building the operator's image", '5 s', () => build(builder, modules, work, image));
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
  await withLock(target, async () => {
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

/** Builds from what was fetched and compiled, and writes the image in OCI form into a new folder. */
async function build(builder: Builder, modules: string, work: string, into: string): Promise<void> {
  const code = join(work, 'code', 'build');
  mkdirSync(code, { recursive: true });
  copyFileSync(join(project, 'package.json'), join(code, 'package.json'));
  cpSync(join(project, 'lib'), join(code, 'lib'), { recursive: true, filter: (file) => !/\.(tsbuildinfo|map|d\.ts)$/.test(file) });
  const stages = { modules, code: dirname(code) };
  await builder.build({ dockerfile: join(project, 'Dockerfile'), context: project, args: { BASE: fullName(baseImage) }, stages, bases: [{ name: baseImage, store: sharedImages }] }, into);
}
