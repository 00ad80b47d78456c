import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { Compression } from './manifest';

/** Newer Node versions have these; older ones compress with gzip. */
type Zstd = { createZstdCompress?: (options: object) => Transform; createZstdDecompress?: (options: object) => Transform };
const zstd = zlib as Zstd;

const CHUNK = 256 * 1024;
/** What may wait for the compressor, so that nobody else waits for it. */
const AHEAD = 1024 * 1024;
/** `ZSTD_c_compressionLevel` of zstd's own header; older Node versions lack the constant. */
const ZSTD_LEVEL = 100;

/** The best compression that this Node has. */
export const compression: Compression = zstd.createZstdCompress === undefined ? 'gzip' : 'zstd';

export function compressor(): Transform {
  // Level 1: a dump has to leave the server quickly, and twice the time would save a tenth of the space.
  return zstd.createZstdCompress?.({ chunkSize: CHUNK, writableHighWaterMark: AHEAD, params: { [ZSTD_LEVEL]: 1 } }) ?? zlib.createGzip({ level: 1, chunkSize: CHUNK, writableHighWaterMark: AHEAD } as zlib.ZlibOptions);
}

/** @throws when this Node can't read it */
export function decompressor(of: Compression): Transform {
  if (of === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK });
  if (zstd.createZstdDecompress === undefined) throw new Error(`the artifact is compressed with zstd, which Node ${process.version} can't read; use an image with Node 22.15 or later`);
  return zstd.createZstdDecompress({ chunkSize: CHUNK });
}
