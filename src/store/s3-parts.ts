const MIB = 1024 * 1024;

/** S3 takes no more parts than these in one upload. */
export const MAX_PARTS = 10_000;

/**
 * How large a part is: small ones first, so that a small backup needs little memory, then larger ones, so that a large one
 * stays within the number of parts. All together they hold 580 GiB.
 */
export function partSize(number: number): number {
  return number <= 500 ? 8 * MIB : number <= 1000 ? 16 * MIB : number <= 2000 ? 32 * MIB : 64 * MIB;
}

/** Cuts a stream into the parts of an upload; each but the last has exactly its size. */
export async function* parts(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let number = 1;
  // One buffer a part, filled in place: pieces that are joined in the end would take twice the memory.
  let part = Buffer.allocUnsafeSlow(partSize(number));
  let held = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.copy(part, held, at);
      at += taken;
      held += taken;
      if (held < part.length) continue;
      yield part;
      number += 1;
      part = Buffer.allocUnsafeSlow(partSize(number));
      held = 0;
    }
  }
  if (held > 0) yield part.subarray(0, held);
}
