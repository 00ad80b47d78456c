import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../folders';
import type { Progress } from '../progress';
import { Builder } from './builder';
import type { ImageStore } from './image-store';
import { sharedImages } from './images';

/**
 * Builds the Dockerfile of a folder, and puts the image into a store under a name.
 * What it stands on must be there already, in that store or in the one that all clusters share: nothing is fetched.
 */
export async function buildUserImage(name: string, folder: string, into: ImageStore, progress: Progress): Promise<void> {
  const dockerfile = join(folder, 'Dockerfile');
  if (!existsSync(dockerfile)) throw new Error(`there is no ${dockerfile}`);
  const bases = basesOf(readFileSync(dockerfile, 'utf8')).map((base) => {
    const store = [into, sharedImages].find((one) => one.find(base) !== undefined);
    if (store === undefined) throw new Error(`${dockerfile} is FROM ${base}, which this cluster doesn't have; make it with \`npm run cluster -- images\` or \`load-operator\``);
    return { name: base, store };
  });
  await Builder.lend(progress, async (builder) => {
    const work = mkdtempSync(join(cacheFolder(), 'image-'));
    try {
      const built = join(work, 'image');
      await progress.step(`building ${name}`, '5 s', () => builder.build({ dockerfile, context: folder, bases }, built));
      await into.tag([name], await into.addFolder(built));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
}

/** The images that a Dockerfile names, without its own stages. */
function basesOf(text: string): string[] {
  const lines = [...text.matchAll(/^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)];
  const stages = new Set(lines.map(([, , stage]) => stage));
  return lines.map(([, base = '']) => base).filter((base) => !stages.has(base));
}
