import { randomBytes } from 'node:crypto';
import type { Retention } from '../constructs/backup-job';
import type { BackupFacts } from './result';

/** Version of the artifact's layout that this release writes, and the newest that it reads. */
export const FORMAT = 1;

/** How the artifact is compressed. */
export type Compression = 'zstd' | 'gzip';

/** Per-table counts are kept up to this many tables: a manifest stays a small file. */
const MAX_COUNTED_TABLES = 5000;

/**
 * What is known of an artifact, stored beside it as `manifest.json`.
 * An artifact without a manifest is no backup: the manifest is written last.
 */
export interface Manifest extends Omit<BackupFacts, 'location'> {
  readonly format: number;
  /** File name of the artifact, beside the manifest. */
  readonly artifact: string;
  readonly compression: Compression;
  /** Which run has taken it: names are used again, by another Job or in another cluster. */
  readonly run?: string;
  /** Rows by `schema.table` (MySQL) or `database.schema.table` (PostgreSQL); left out beyond 5000 tables. */
  readonly rowsByTable?: Readonly<Record<string, number>>;
  /** Why a restore into a throw-away server did not give back what was dumped; such a backup is never restored. */
  readonly verificationFailure?: string;
}

/** Nothing but a file's name: a manifest never points outside its own folder. */
const ARTIFACT = /^dump-[0-9a-f]{8}\.sql\.(zst|gz)$/;

/** A name that no other run gives its artifact. A pod that was taken for dead may still write: it must not do so beside its successor, under one name. */
export function newArtifact(compression: Compression): string {
  return `dump-${randomBytes(4).toString('hex')}.sql.${compression === 'zstd' ? 'zst' : 'gz'}`;
}

export function isArtifact(fileName: string): boolean {
  return ARTIFACT.test(fileName);
}

/** The path of a backup's artifact. */
export function artifactPath(folder: string, { name, artifact }: Pick<Manifest, 'name' | 'artifact'>): string {
  return `${folder}/${name}/${artifact}`;
}

/** The path of a backup's manifest. */
export function manifestPath(folder: string, backup: string): string {
  return `${folder}/${backup}/manifest.json`;
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** A text that is no manifest, or one of a newer release. */
export class ManifestError extends Error {}

/** @throws ManifestError when the text is no manifest that this release reads */
export function parseManifest(text: string, where: string): Manifest {
  let value: Partial<Manifest>;
  try {
    value = JSON.parse(text) as Partial<Manifest>;
  } catch (error) {
    throw new ManifestError(`${where} is not JSON`, { cause: error });
  }
  if (typeof value.format === 'number' && value.format > FORMAT) throw new ManifestError(`${where} has format ${value.format}; this release reads up to ${FORMAT}: use a newer one`);
  if (typeof value.format !== 'number' || typeof value.name !== 'string' || typeof value.sha256 !== 'string' || typeof value.completedAt !== 'string' || !isArtifact(value.artifact ?? '')) throw new ManifestError(`${where} is no manifest of a backup`);
  return value as Manifest;
}

/** The per-table counts, if they are few enough to keep. */
export function keptCounts(rows: ReadonlyMap<string, number>): Record<string, number> | undefined {
  return rows.size > MAX_COUNTED_TABLES ? undefined : Object.fromEntries(rows);
}

/** The part that a status shows. */
export function factsOf(manifest: Manifest, location: string): BackupFacts {
  const { database, name, engine, serverVersion, position, bytes, storedBytes, sha256, tables, rows, startedAt, completedAt, verifiedAt } = manifest;
  return { database, name, location, engine, serverVersion, position, bytes, storedBytes, sha256, tables, rows, startedAt, completedAt, verifiedAt };
}

/** A backup that may be restored: whole, and not known to be wrong. */
export function isGood(manifest: Manifest): boolean {
  return manifest.verificationFailure === undefined;
}

/** The newest good backup. */
export function newestGood(manifests: readonly Manifest[]): Manifest | undefined {
  return newestFirst(manifests).find(isGood);
}

/**
 * Names of the backups that retention no longer wants: those that neither the count nor the age keeps.
 *
 * Guarantees: never the newest good one, nor the newest verified one; without bounds, none.
 */
export function expired(manifests: readonly Manifest[], retention: Retention, now: Date): string[] {
  const sorted = newestFirst(manifests);
  const sacred = new Set([sorted.find(isGood)?.name, sorted.find((manifest) => isGood(manifest) && manifest.verifiedAt !== undefined)?.name]);
  const { count, days } = retention;
  if (count === undefined && days === undefined) return [];
  const oldest = now.getTime() - (days ?? 0) * 24 * 3600 * 1000;
  let good = 0;
  return sorted
    .filter((manifest) => {
      if (isGood(manifest)) good += 1;
      const keptByCount = count !== undefined && isGood(manifest) && good <= count;
      const keptByAge = days !== undefined && Date.parse(manifest.completedAt) >= oldest;
      return !keptByCount && !keptByAge && !sacred.has(manifest.name);
    })
    .map((manifest) => manifest.name);
}

function newestFirst(manifests: readonly Manifest[]): Manifest[] {
  return [...manifests].sort((left, right) => right.completedAt.localeCompare(left.completedAt) || right.name.localeCompare(left.name));
}
