import { createHash } from 'node:crypto';
import { createReadStream, existsSync, linkSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withLock } from '../lock';

/** How containers of an image run, in the words of the OCI image specification. */
export interface ImageConfig {
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;

/**
 * A folder of images in OCI form: blobs by their digest, and an index from full names to manifests. The `registry`
 * program serves such folders to the nodes.
 */
export class ImageStore {
  public constructor(public readonly folder: string) {}

  /** The digest of the manifest that a name stands for. */
  public find(name: string): string | undefined {
    return this.readIndex()[fullName(name)];
  }

  /** Lets names stand for an image that is here. */
  public async tag(names: readonly string[], digest: string): Promise<void> {
    mkdirSync(this.folder, { recursive: true });
    await withLock(join(this.folder, 'index.json'), async () => {
      const index = { ...this.readIndex(), ...Object.fromEntries(names.map((name) => [fullName(name), digest])) };
      // By rename: the registry reads it at any moment.
      writeFileSync(join(this.folder, 'index.json.new'), JSON.stringify(index, undefined, 2));
      renameSync(join(this.folder, 'index.json.new'), join(this.folder, 'index.json'));
    });
  }

  /** Makes an image of one layer from a tar file, and returns its digest. */
  public async addImage(layerTar: string, config: ImageConfig): Promise<string> {
    const layer = await this.addFile(layerTar, mediaTypes.layer);
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
    // The history is optional to runtimes, but builders count its entries against the layers.
    const image = { architecture, os: 'linux', config, rootfs: { type: 'layers', diff_ids: [layer.digest] }, history: [{ created_by: 'cluster/images' }] };
    const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config: this.addJson(image, mediaTypes.config), layers: [layer] };
    return this.addJson(manifest, mediaTypes.manifest).digest;
  }

  /** Takes over an image from an OCI folder that another tool wrote, and returns its digest. */
  public async addFolder(folder: string): Promise<string> {
    const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { manifests: Descriptor[] };
    const { digest } = index.manifests[0]!;
    const blob = (of: string): string => join(folder, 'blobs', 'sha256', of.slice('sha256:'.length));
    const manifest = JSON.parse(readFileSync(blob(digest), 'utf8')) as { config: Descriptor; layers: Descriptor[] };
    for (const part of [{ digest }, manifest.config, ...manifest.layers]) {
      if (!existsSync(this.blob(part.digest))) linkSync(blob(part.digest), this.blob(part.digest));
    }
    return digest;
  }

  public has(digest: string): boolean {
    return existsSync(this.blob(digest));
  }

  /** Writes an image out as an OCI folder, for tools that read one. */
  public exportFolder(name: string, folder: string): void {
    const digest = this.find(name);
    if (!digest) throw new Error(`there is no image ${name} in ${this.folder}`);
    const manifest = JSON.parse(readFileSync(this.blob(digest), 'utf8')) as { config: Descriptor; layers: Descriptor[] };
    const target = join(folder, 'blobs', 'sha256');
    mkdirSync(target, { recursive: true });
    for (const part of [{ digest }, manifest.config, ...manifest.layers]) linkSync(this.blob(part.digest), join(target, part.digest.slice('sha256:'.length)));
    const descriptor = { mediaType: mediaTypes.manifest, digest, size: statSync(this.blob(digest)).size };
    writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [descriptor] }));
  }

  private async addFile(file: string, mediaType: string): Promise<Descriptor> {
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    const digest = `sha256:${hash.digest('hex')}`;
    const size = statSync(file).size;
    renameSync(file, this.blob(digest));
    return { mediaType, digest, size };
  }

  private addJson(value: object, mediaType: string): Descriptor {
    const text = JSON.stringify(value);
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    writeFileSync(this.blob(digest), text);
    return { mediaType, digest, size: Buffer.byteLength(text) };
  }

  private blob(digest: string): string {
    const folder = join(this.folder, 'blobs', 'sha256');
    mkdirSync(folder, { recursive: true });
    return join(folder, digest.slice('sha256:'.length));
  }

  private readIndex(): Record<string, string> {
    try {
      return JSON.parse(readFileSync(join(this.folder, 'index.json'), 'utf8')) as Record<string, string>;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
  }
}

/** As a container runtime completes a name: `mysql` is `docker.io/library/mysql:latest`. */
export function fullName(name: string): string {
  const withTag = /:[^/]+$/.test(name) ? name : `${name}:latest`;
  const [first, ...rest] = withTag.split('/');
  if (rest.length > 0 && /[.:]|^localhost$/.test(first!)) return withTag;
  return rest.length > 0 ? `docker.io/${withTag}` : `docker.io/library/${withTag}`;
}
