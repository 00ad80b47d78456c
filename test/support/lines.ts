import type { Readable } from 'node:stream';

/**
 * The lines of a stream as they come. Unlike node:readline it ends with an error when the stream breaks off, where
 * readline would wait for ever.
 */
export async function* lines(stream: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop()!;
    yield* parts;
  }
  if (rest !== '') yield rest;
}
