import { artifactPath, isArtifact, type Manifest, ManifestError, manifestPath, manifestText, parseManifest } from './manifest';
import { readText, type Target, writeText } from './target';

/** Whoever wrote last, it is not from after this. */
const WHENEVER = new Date(8.64e15);

/** What a catalog holds. */
export interface Listing {
  readonly manifests: readonly Manifest[];
  /** Why each of the others can't be read. */
  readonly unreadable: readonly string[];
}

/**
 * The backups of one database in a target: `FOLDER/BACKUP/{manifest.json, dump-XXXXXXXX.sql.zst|gz}`.
 * It never looks outside its folder, so it never touches another database's.
 */
export class Catalog {
  constructor(
    private readonly target: Target,
    readonly folder: string,
  ) {
    if (folder.split('/').some((part) => part === '' || part === '.' || part === '..')) throw new Error(`'${folder}' is no folder for backups`);
  }

  /** Every backup that has a manifest. One that this release can't read is named apart, not passed over: it is a backup all the same. */
  async list(signal: AbortSignal): Promise<Listing> {
    const objects = await this.target.list(this.folder, signal);
    const names = objects.flatMap(({ path }) => /^([^/]+)\/manifest\.json$/.exec(path.slice(this.folder.length + 1))?.[1] ?? []);
    const manifests: Manifest[] = [];
    const unreadable: string[] = [];
    for (const name of names) {
      try {
        const manifest = await this.find(name, signal);
        if (manifest !== undefined) manifests.push(manifest);
      } catch (error) {
        if (!(error instanceof ManifestError)) throw error;
        unreadable.push(error.message);
      }
    }
    return { manifests, unreadable };
  }

  async find(backup: string, signal: AbortSignal): Promise<Manifest | undefined> {
    const path = manifestPath(this.folder, backup);
    const text = await readText(this.target, path, signal);
    return text === undefined ? undefined : parseManifest(text, this.target.location(path));
  }

  /** Whether there is a manifest, readable or not. */
  async isRecorded(backup: string, signal: AbortSignal): Promise<boolean> {
    return (await this.target.size(manifestPath(this.folder, backup), signal)) !== undefined;
  }

  /** Whether the artifact that the manifest names is there, and as long as it says. */
  async holds(manifest: Manifest, signal: AbortSignal): Promise<boolean> {
    return (await this.target.size(artifactPath(this.folder, manifest), signal)) === manifest.storedBytes;
  }

  /** Makes the backup known, or replaces what is known of it. Its artifact is there already. */
  async record(manifest: Manifest, signal: AbortSignal): Promise<void> {
    await writeText(this.target, manifestPath(this.folder, manifest.name), manifestText(manifest), signal);
  }

  /** The manifest goes first, so that a deletion which is cut short leaves no backup that claims to be one. */
  async remove(backup: string, signal: AbortSignal): Promise<void> {
    await this.target.remove(manifestPath(this.folder, backup), signal);
    const folder = `${this.folder}/${backup}`;
    for (const { path } of await this.target.list(folder, signal)) await this.target.remove(path, signal);
    await this.target.sweep(folder, WHENEVER, signal);
  }

  /** Removes what killed runs left: half-written files, and artifacts that no manifest names. */
  async sweep(quietSince: Date, signal: AbortSignal): Promise<string[]> {
    const swept = await this.target.sweep(this.folder, quietSince, signal);
    for (const { path, modifiedAt } of await this.target.list(this.folder, signal)) {
      const [backup = '', file = ''] = path.slice(this.folder.length + 1).split('/');
      if (!isArtifact(file) || modifiedAt > quietSince || (await this.names(backup, file, signal))) continue;
      await this.target.remove(path, signal);
      swept.push(path);
    }
    return swept;
  }

  /** Whether a backup's manifest names this artifact; one that can't be read may. */
  private async names(backup: string, artifact: string, signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.find(backup, signal))?.artifact === artifact;
    } catch (error) {
      if (error instanceof ManifestError) return true;
      throw error;
    }
  }

  location(backup: string): string {
    return this.target.location(`${this.folder}/${backup}`);
  }
}
