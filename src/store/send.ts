import { pipeline } from 'node:stream/promises';
import type { Catalog } from './catalog';
import { decompressor } from './compression';
import { checked } from './digest';
import type { Exchange } from './exchange';
import { writeFifo } from './fifo';
import { artifactPath, type Manifest } from './manifest';
import type { Progress } from './progress';
import { StoreError, storeError } from './store-error';
import type { Target } from './target';
import type { Time } from './time';

/** What sending works with. */
interface SendWork {
  readonly target: Target;
  readonly catalog: Catalog;
  readonly exchange: Exchange;
  readonly time: Time;
  readonly progress: Progress;
}

/**
 * Orders the engine to load an artifact, and streams it there.
 *
 * Guarantees: returns only when every byte has been sent, their checksum was that of the manifest, and the engine has loaded them all.
 */
export async function send(manifest: Manifest, { target, catalog, exchange, time, progress }: SendWork): Promise<void> {
  const path = artifactPath(catalog.folder, manifest);
  const where = target.location(path);
  const source = await target.read(path, exchange.signal).catch((error: unknown) => {
    throw storeError(error, 'TargetFailed', `cannot read ${where}`);
  });
  if (source === undefined) throw new StoreError('TargetFailed', `${where} is missing, though its manifest is there; delete this backup and restore another one`);
  progress.reach('load', manifest.bytes);
  const { answer } = await exchange.give('load');
  const fifo = await writeFifo(exchange.path('artifact'), time, exchange.signal);
  try {
    await pipeline(checked(source, manifest, where), decompressor(manifest.compression), (text: AsyncIterable<Buffer>) => progress.counted(text), fifo, { signal: exchange.signal });
  } catch (error) {
    if (isBrokenPipe(error)) throw storeError(await exchange.explained(error, answer), 'EngineSilent', `the engine stopped reading ${where}`);
    if (exchange.signal.aborted) throw exchange.signal.reason;
    throw storeError(error, isDamage(error) ? 'ChecksumMismatch' : 'TargetFailed', `cannot read ${where} to its end`);
  }
  await answer;
}

function isBrokenPipe(error: unknown): boolean {
  return ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** What the decompressor says of bytes that it can't read. */
function isDamage(error: unknown): boolean {
  return /^(Z_|ZSTD_)/.test((error as NodeJS.ErrnoException).code ?? '');
}
