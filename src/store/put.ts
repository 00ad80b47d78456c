import { pipeline } from 'node:stream/promises';
import type { Catalog } from './catalog';
import { compression, compressor } from './compression';
import { Digest } from './digest';
import { DumpScan } from './dump-scan';
import type { Exchange } from './exchange';
import { readFifo } from './fifo';
import { artifactPath, expired, factsOf, FORMAT, isGood, keptCounts, type Manifest, newArtifact } from './manifest';
import type { Progress } from './progress';
import type { StoreResult } from './result';
import { send } from './send';
import type { StoreSettings } from './settings';
import { StoreError, storeError } from './store-error';
import type { Target } from './target';
import type { Time } from './time';
import { differences, parseCounts } from './verification';

/** What the steps of a backup or restore work with. */
export interface StoreWork {
  readonly settings: StoreSettings;
  readonly target: Target;
  readonly catalog: Catalog;
  readonly exchange: Exchange;
  readonly time: Time;
  readonly progress: Progress;
}

/** Litter of other runs is litter when nobody has written to it for so long. */
const QUIET_MS = 15 * 60 * 1000;

/**
 * Takes a backup: dump, artifact, manifest, verification, retention, in this order.
 *
 * Guarantees: killed at any moment, it leaves no manifest without a whole artifact. Tried again, it goes on where it stopped: an artifact
 * with a manifest is only verified. A good backup that another run has taken under the same name is neither touched nor taken for its own.
 */
export async function put(work: StoreWork): Promise<StoreResult> {
  const { settings, catalog, exchange, time, progress } = work;
  const name = settings.backup ?? '';
  progress.reach('connect');
  const signal = exchange.signal;
  const known = await whole(work, name).catch(targetFailed(`cannot look for ${catalog.location(name)}`));
  // What is there without a good manifest is a killed or failed run's. Should its pod be alive after all, it finds its file gone and ends.
  if (known === undefined) await catalog.remove(name, signal).catch(targetFailed(`cannot tidy up ${catalog.location(name)}`));
  const stored = known ?? (await dump(work, name));
  const manifest = settings.verify === true && stored.verifiedAt === undefined ? await verify(work, stored) : stored;
  await exchange.order('end');
  const pruned = await prune(work, time.now());
  const facts = factsOf(manifest, catalog.location(name));
  const verified = manifest.verifiedAt === undefined ? 'not verified' : 'verified by a restore';
  return { outcome: 'stored', message: `${manifest.tables} tables with ${manifest.rows} rows in ${facts.location}, ${verified}`, backup: facts, pruned };
}

async function dump(work: StoreWork, name: string): Promise<Manifest> {
  const { settings, catalog, exchange, target, time, progress } = work;
  const engine = settings.engine ?? 'mysql';
  const startedAt = time.now().toISOString();
  const scan = new DumpScan(engine);
  const digest = new Digest();
  const artifact = newArtifact(compression);
  const path = artifactPath(catalog.folder, { name, artifact });
  const fifo = await readFifo(exchange.path('dump'));
  progress.reach('dump');
  const { answer } = await exchange.give('dump');
  try {
    await pipeline(
      fifo,
      (source: AsyncIterable<Buffer>) => scanned(source, scan, progress),
      compressor(),
      (source: AsyncIterable<Buffer>) => digest.of(source),
      (source: AsyncIterable<Buffer>) => target.write(path, source, exchange.signal).catch(targetFailed(`cannot write ${target.location(path)}`)),
      { signal: exchange.signal },
    );
    await answer;
    progress.reach('stored');
  } catch (error) {
    await target.remove(path, new AbortController().signal).catch(() => undefined);
    throw isCut(error) ? await exchange.explained(error, answer) : exchange.signal.aborted ? exchange.signal.reason : error;
  }
  const { rows, bytes, serverVersion = '', position } = scan.summary();
  const manifest: Manifest = {
    format: FORMAT,
    database: settings.database,
    name,
    artifact,
    run: settings.run,
    engine,
    serverVersion,
    position,
    compression,
    bytes,
    storedBytes: digest.bytes,
    sha256: digest.hex(),
    tables: rows.size,
    rows: total(rows),
    rowsByTable: keptCounts(rows),
    startedAt,
    completedAt: time.now().toISOString(),
  };
  const mine = await stillMine(work, manifest).catch(targetFailed(`cannot look for ${catalog.location(name)}`));
  if (!mine) {
    await target.remove(path, exchange.signal).catch(() => undefined);
    throw new StoreError('TargetFailed', `another run under the name ${name} has begun after this one, and the backup is its own`);
  }
  await catalog.record(manifest, exchange.signal).catch(targetFailed(`cannot write the manifest of ${catalog.location(name)}`));
  progress.reach('recorded');
  return manifest;
}

/** What an earlier try of this run has stored, if that is good and all of it is there. */
async function whole({ settings, catalog, exchange }: StoreWork, name: string): Promise<Manifest | undefined> {
  const found = await catalog.find(name, exchange.signal);
  if (found === undefined || !isGood(found) || !(await catalog.holds(found, exchange.signal))) return undefined;
  // Jobs of earlier releases don't know which run they are.
  if (settings.run !== undefined && found.run !== settings.run) {
    throw new StoreError('NameTaken', `${catalog.location(name)} holds a backup of another run, taken ${found.completedAt}, which is left as it is; choose another name, or delete that backup first`);
  }
  return found;
}

/** Nobody who takes this run for dead has recorded a backup of his own, or removed our artifact. There was no manifest when the dump began. */
async function stillMine({ catalog, exchange }: StoreWork, manifest: Manifest): Promise<boolean> {
  return !(await catalog.isRecorded(manifest.name, exchange.signal)) && (await catalog.holds(manifest, exchange.signal));
}

async function* scanned(source: AsyncIterable<Buffer>, scan: DumpScan, progress: Progress): AsyncIterable<Buffer> {
  for await (const chunk of source) {
    scan.push(chunk);
    progress.advance(chunk.length);
    yield chunk;
  }
  const { complete, bytes } = scan.summary();
  if (!complete) throw new StoreError('DumpCut', `the dump ended after ${bytes} bytes without its end marker`);
  progress.reach('marked');
}

function isCut(error: unknown): boolean {
  return error instanceof StoreError && error.reason === 'DumpCut';
}

async function verify(work: StoreWork, manifest: Manifest): Promise<Manifest> {
  const { catalog, exchange, time, progress } = work;
  try {
    await send(manifest, work);
    progress.reach('count');
    const found = differences(manifest, parseCounts(await exchange.order('count')));
    if (found.length > 0) throw new StoreError('VerificationFailed', `the restored copy of ${catalog.location(manifest.name)} differs: ${found.join('; ')}`);
  } catch (error) {
    const failure = exchange.signal.aborted ? exchange.signal.reason : error;
    // Only what speaks against the artifact itself is held against it: a pod that was killed says nothing about the dump.
    if (failure instanceof StoreError && ['VerificationFailed', 'ChecksumMismatch', 'LoadFailed'].includes(failure.reason)) {
      await catalog.record({ ...manifest, verificationFailure: failure.message }, new AbortController().signal);
      throw new StoreError('VerificationFailed', failure.message, failure);
    }
    throw failure;
  }
  const verified: Manifest = { ...manifest, verifiedAt: time.now().toISOString() };
  await catalog.record(verified, exchange.signal).catch(targetFailed(`cannot write the manifest of ${catalog.location(manifest.name)}`));
  progress.reach('verified');
  return verified;
}

/** A backup is taken: that something old couldn't be removed doesn't make it a failure, and the next run tries again. */
async function prune({ settings, catalog, progress }: StoreWork, now: Date): Promise<string[]> {
  const signal = new AbortController().signal;
  const gone: string[] = [];
  try {
    for (const litter of await catalog.sweep(new Date(now.getTime() - QUIET_MS), signal)) progress.note(`removed ${litter}, which a run that was killed had left`);
    for (const name of expired((await catalog.list(signal)).manifests, settings.retention ?? {}, now)) {
      await catalog.remove(name, signal);
      gone.push(name);
    }
  } catch (error) {
    progress.note(`cannot remove old backups: ${(error as Error).message}`);
  }
  return gone;
}

function total(rows: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of rows.values()) sum += count;
  return sum;
}

function targetFailed(doing: string): (error: unknown) => never {
  return (error) => {
    throw storeError(error, 'TargetFailed', doing);
  };
}
