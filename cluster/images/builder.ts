import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../command';
import { ensureInstalled } from '../debian';
import { cacheFolder } from '../folders';
import { withLock } from '../lock';
import type { Progress } from '../progress';
import { fullName, type ImageStore } from './image-store';

/** What a Dockerfile is built with. */
export interface BuildOptions {
  readonly dockerfile: string;
  /** The folder that COPY copies from. */
  readonly context: string;
  readonly args?: Readonly<Record<string, string>>;
  /** Folders that stand for stages of the Dockerfile. */
  readonly stages?: Readonly<Record<string, string>>;
  /** Images that it stands on. */
  readonly bases: readonly { readonly name: string; readonly store: ImageStore }[];
}

/** Dockerfiles become images here: buildah, with a store of layers of its own. */
export class Builder {
  private constructor() {}

  /** Lends the builder for some work. One store of layers for all: two builds at once would share its names. */
  static async lend<T>(progress: Progress, work: (builder: Builder) => Promise<T>): Promise<T> {
    await ensureInstalled({ buildah: 'buildah' }, progress);
    return withLock(cacheFolder('buildah'), () => work(new Builder()));
  }

  /** Builds, and writes the image in OCI form into a new folder. */
  async build({ dockerfile, context, args = {}, stages = {}, bases }: BuildOptions, into: string): Promise<void> {
    for (const { name, store } of bases) await this.fetch(store, name);
    const options = [...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]), ...Object.entries(stages).flatMap(([name, folder]) => ['--build-context', `${name}=${folder}`])];
    const image = 'localhost/built:latest';
    await buildah(['build', '--pull=never', '--isolation', 'chroot', '--layers', '--timestamp', '0', ...options, '--tag', image, '--file', dockerfile, context]);
    await buildah(['push', '--disable-compression', '--quiet', image, `oci:${into}`]);
  }

  /** Brings an image into buildah's own store, once per content. */
  private async fetch(store: ImageStore, name: string): Promise<void> {
    const known = `localhost/known:${store.find(name)?.slice('sha256:'.length, 'sha256:'.length + 16)}`;
    if ((await buildah(['images', '--quiet', '--filter', `reference=${known}`])).trim() === '') {
      const folder = mkdtempSync(join(cacheFolder(), 'base-'));
      try {
        store.exportFolder(name, join(folder, 'base'));
        // Relative, because buildah makes a name of the path, and names may not have capital letters.
        await buildah(['tag', (await buildah(['pull', '--quiet', 'oci:base'], folder)).trim(), known]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    await buildah(['tag', known, fullName(name)]);
  }
}

function buildah(args: readonly string[], cwd?: string): Promise<string> {
  const storage = ['--root', cacheFolder('buildah', 'storage'), '--runroot', cacheFolder('buildah', 'run'), '--storage-driver', 'overlay'];
  return run('buildah', [...storage, ...args], { cwd });
}
