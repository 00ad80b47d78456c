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
  let pieces: Buffer[] = [];
  let held = 0;
  let number = 1;
  for await (const chunk of source) {
    let rest = chunk;
    while (held + rest.length >= partSize(number)) {
      const room = partSize(number) - held;
      yield Buffer.concat([...pieces, rest.subarray(0, room)]);
      rest = rest.subarray(room);
      pieces = [];
      held = 0;
      number += 1;
    }
    if (rest.length > 0) {
      pieces.push(rest);
      held += rest.length;
    }
  }
  if (held > 0) yield Buffer.concat(pieces);
}
