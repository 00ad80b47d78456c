import { createHash } from 'node:crypto';
import { StoreError } from './store-error';

/** Passes bytes on and keeps their sum and number. */
export class Digest {
  private readonly hash = createHash('sha256');
  bytes = 0;

  async *of(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of source) {
      this.hash.update(chunk);
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  /** Once, at the end. */
  hex(): string {
    return this.hash.digest('hex');
  }
}

/** Passes bytes on, and throws at the end unless they are the ones that the manifest names. */
export async function* checked(source: AsyncIterable<Buffer>, expected: { readonly sha256: string; readonly storedBytes: number }, where: string): AsyncIterable<Buffer> {
  const digest = new Digest();
  yield* digest.of(source);
  const sha256 = digest.hex();
  if (digest.bytes !== expected.storedBytes || sha256 !== expected.sha256) {
    throw new StoreError('ChecksumMismatch', `${where} has ${digest.bytes} bytes with sha256 ${sha256}, its manifest says ${expected.storedBytes} bytes with ${expected.sha256}: it was damaged or replaced; restore another backup`);
  }
}
