import { writeFileSync } from 'node:fs';

/** Where the kubelet reads a container's last words. */
export const TERMINATION_LOG = '/dev/termination-log';

/** The kubelet keeps this many bytes of a termination message and cuts the rest off, which would leave half a JSON. */
const MAX_BYTES = 4096;

/** What is known of one backup; the part of its manifest that a status has room for. */
export interface BackupFacts {
  readonly database: string;
  readonly name: string;
  /** Where it lies: `volume:DATABASE/NAME`, or `s3://BUCKET/PREFIX/NAMESPACE/DATABASE/NAME`. */
  readonly location: string;
  readonly engine: string;
  readonly serverVersion: string;
  /** GTID set (MySQL) or WAL position (PostgreSQL) that the dump stands for. */
  readonly position?: string;
  /** Bytes of the dump, and of the artifact once compressed. */
  readonly bytes: number;
  readonly storedBytes: number;
  /** Of the artifact as it is stored. */
  readonly sha256: string;
  readonly tables: number;
  readonly rows: number;
  readonly startedAt: string;
  readonly completedAt: string;
  /** When the artifact was restored into a throw-away server and found equal. */
  readonly verifiedAt?: string;
}

/** Why a Job of ours failed; one word, treated as API. */
export type FailureReason =
  | 'ServerUnreachable'
  | 'DumpFailed'
  | 'DumpCut'
  | 'TargetFailed'
  | 'NameTaken'
  | 'VerificationFailed'
  | 'NoBackup'
  | 'NewerVersion'
  | 'OtherEngine'
  | 'ChecksumMismatch'
  | 'LoadFailed'
  | 'EngineSilent'
  | 'Interrupted'
  | 'Internal';

/**
 * What a Job tells the operator, in the termination message of its `store` container.
 * - `stored`: a backup was taken (and verified, if `backup.verifiedAt` is set).
 * - `restored`: the data directory was made from a backup.
 * - `present`: the restore found a whole data directory and left it alone; `backup` names what it was once restored from, if it was.
 * - `none`: the restore found no backup, and was told that this is fine; there is no data directory.
 * - `deleted`: the artifact is gone (or was never there).
 * - `failed`: the reason is one word, the message tells it in full.
 */
export type StoreResult =
  | { readonly outcome: 'stored'; readonly message: string; readonly backup: BackupFacts; readonly pruned: readonly string[] }
  | { readonly outcome: 'restored'; readonly message: string; readonly backup: BackupFacts }
  | { readonly outcome: 'present'; readonly message: string; readonly backup?: BackupFacts }
  | { readonly outcome: 'none'; readonly message: string }
  | { readonly outcome: 'deleted'; readonly message: string }
  | { readonly outcome: 'failed'; readonly reason: FailureReason; readonly message: string };

/** Reads a termination message; undefined when it is none of ours. */
export function parseResult(message: string): StoreResult | undefined {
  try {
    const value: unknown = JSON.parse(message);
    const outcomes = ['stored', 'restored', 'present', 'none', 'deleted', 'failed'];
    return typeof value === 'object' && value !== null && 'outcome' in value && outcomes.includes(String(value.outcome)) ? (value as StoreResult) : undefined;
  } catch {
    return undefined;
  }
}

/** The message for the kubelet: whole JSON, never longer than it keeps. */
export function resultText(result: StoreResult): string {
  const whole = JSON.stringify(result);
  if (Buffer.byteLength(whole) <= MAX_BYTES) return whole;
  const shorter = (length: number): StoreResult => {
    const message = result.message.slice(0, length);
    if (result.outcome === 'stored') return { ...result, message, pruned: [], backup: withShortPosition(result.backup) };
    return 'backup' in result && result.backup !== undefined ? { ...result, message, backup: withShortPosition(result.backup) } : { ...result, message };
  };
  const text = JSON.stringify(shorter(1000));
  return Buffer.byteLength(text) <= MAX_BYTES ? text : JSON.stringify(shorter(100));
}

/** Writes the last words. */
export function writeResult(result: StoreResult, path: string = TERMINATION_LOG): void {
  writeFileSync(path, resultText(result));
}

/** A GTID set grows with every server that ever wrote; the manifest keeps the whole one. */
function withShortPosition(backup: BackupFacts): BackupFacts {
  return backup.position !== undefined && backup.position.length > 500 ? { ...backup, position: undefined } : backup;
}
