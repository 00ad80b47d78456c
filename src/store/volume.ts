import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StoredObject, Target } from './target';

/** What a file that is being written ends in; nothing that ends so is ever read. */
const PART = '.part';

/** Backups on a mounted volume. */
export class VolumeTarget implements Target {
  constructor(private readonly root: string) {}

  location(path: string): string {
    return `volume:${path}`;
  }

  async write(path: string, source: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const file = this.file(path);
    // Of this writer alone: two that write to one file would mix their bytes.
    const part = `${file}.${randomBytes(4).toString('hex')}${PART}`;
    await this.makeFolder(dirname(path));
    try {
      const handle = await open(part, 'w', 0o600);
      try {
        for await (const chunk of source) {
          signal.throwIfAborted();
          await writeAll(handle, chunk);
        }
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(part, file);
      await syncFolder(dirname(file));
    } catch (error) {
      await rm(part, { force: true });
      await rmdir(dirname(file)).catch(() => undefined);
      throw error;
    }
  }

  async read(path: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined> {
    const file = this.file(path);
    if ((await stat(file).catch(absent)) === undefined) return undefined;
    return createReadStream(file, { highWaterMark: 256 * 1024, signal }) as AsyncIterable<Buffer>;
  }

  async size(path: string): Promise<number | undefined> {
    return (await stat(this.file(path)).catch(absent))?.size;
  }

  async list(folder: string): Promise<StoredObject[]> {
    return (await this.walk(folder)).filter((object) => !object.path.endsWith(PART));
  }

  async remove(path: string): Promise<void> {
    const file = this.file(path);
    await rm(file, { force: true });
    // The folder goes with its last file.
    await rmdir(dirname(file)).catch(() => undefined);
    await syncFolder(dirname(dirname(file))).catch(absent);
  }

  async sweep(folder: string, quietSince: Date): Promise<string[]> {
    const litter = (await this.walk(folder)).filter((object) => object.path.endsWith(PART) && object.modifiedAt <= quietSince);
    for (const { path } of litter) await this.remove(path);
    return litter.map(({ path }) => path);
  }

  private file(path: string): string {
    return join(this.root, ...path.split('/'));
  }

  private async makeFolder(path: string): Promise<void> {
    const first = await mkdir(this.file(path), { recursive: true, mode: 0o700 });
    if (first !== undefined) await syncFolder(dirname(first));
  }

  private async walk(folder: string): Promise<StoredObject[]> {
    const entries = await readdir(this.file(folder), { withFileTypes: true }).catch(absent);
    const found: StoredObject[] = [];
    for (const entry of entries ?? []) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) found.push(...(await this.walk(path)));
      else if (entry.isFile()) {
        const facts = await stat(this.file(path)).catch(absent);
        if (facts !== undefined) found.push({ path, modifiedAt: facts.mtime });
      }
    }
    return found;
  }
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, chunk: Buffer): Promise<void> {
  let offset = 0;
  while (offset < chunk.length) offset += (await handle.write(chunk, offset)).bytesWritten;
}

/** A new name is durable only when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}
