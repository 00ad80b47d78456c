import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../command';
import { nodeRecipe, nodeRoot } from '../node/node-root';
import { programs } from '../programs';
import type { Progress } from '../progress';
import type { ImageConfig } from './image-store';

/** An image of a few files, made in no time. */
export interface SmallImage {
  readonly names: readonly string[];
  readonly config: ImageConfig;
  /** What else its content depends on: a change of it makes a new image. */
  readonly madeFrom?: object;
  /** Puts the image's files into an empty folder. */
  fill(folder: string, progress: Progress): Promise<void>;
}

/** The name that nodes ask for when they make a pod's first container. */
export const pauseImageName = 'registry.k8s.io/pause:3.10';

export const pauseImage: SmallImage = {
  names: [pauseImageName],
  config: { Entrypoint: ['/pause'], User: '65535' },
  async fill(folder, progress) {
    const { pause } = await programs(['pause'], progress);
    copyFileSync(pause, join(folder, 'pause'));
  },
};

/** The real BusyBox, as Debian builds it, out of the nodes' file system. */
export const busyboxImage: SmallImage = {
  names: ['busybox:1.37', 'busybox:1.36', 'busybox:1.28', 'busybox:stable', 'busybox:latest'],
  madeFrom: nodeRecipe,
  config: { Env: ['PATH=/bin'], Cmd: ['sh'] },
  async fill(folder, progress) {
    const binary = join(await nodeRoot(progress), 'bin', 'busybox');
    for (const name of ['bin', 'etc', 'root']) mkdirSync(join(folder, name));
    mkdirSync(join(folder, 'tmp'));
    await run('chmod', ['1777', join(folder, 'tmp')]);
    copyFileSync(binary, join(folder, 'bin', 'busybox'));
    for (const applet of (await run(binary, ['--list'])).trim().split('\n')) {
      if (applet !== 'busybox') symlinkSync('busybox', join(folder, 'bin', applet));
    }
    writeFileSync(join(folder, 'etc', 'passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
    writeFileSync(join(folder, 'etc', 'group'), 'root:x:0:\n');
  },
};

/** The tar file `target` with what the image's `fill` makes. */
export async function packSmallImage(image: SmallImage, target: string, progress: Progress): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    await image.fill(folder, progress);
    await run('tar', ['--create', '--file', target, '--directory', folder, '--owner=0', '--group=0', '.']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
