const NEWLINE = 0x0a;

/**
 * Parses a stream of JSON values, one a line, and hands out those of each chunk together: a busy watch packs many events
 * into one chunk, and a promise for each of them would cost more than parsing it.
 *
 * Every byte is looked at once: the pieces of a line that spans chunks are joined only when its end has come.
 */
export async function* jsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<unknown[], void, undefined> {
  let pieces: Buffer[] = [];
  for await (const chunk of chunks) {
    const values: unknown[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = pieces.length === 0 ? chunk.toString('utf8', start, end) : Buffer.concat([...pieces, chunk.subarray(start, end)]).toString('utf8');
      pieces = [];
      start = end + 1;
      if (line !== '') values.push(JSON.parse(line));
    }
    if (start < chunk.length) pieces.push(start === 0 ? chunk : chunk.subarray(start));
    if (values.length > 0) yield values;
  }
  if (pieces.length > 0) throw new Error(`the stream ended in the middle of a line, ${Buffer.concat(pieces).length} bytes into it`);
}
