import { jsonLines } from '../../src/runtime/json-lines';

async function* chunked(text: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const batch of jsonLines(chunks)) values.push(...batch);
  return values;
}

const lines = [{ a: 1 }, { text: 'Käse, 🧀 and "quotes"\n' }, { b: [1, 2, 3] }];
const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');

test.each([1, 2, 3, 7, 64, 100_000])('values are the same however the stream is cut (chunks of %i bytes)', async (size) => {
  await expect(collect(chunked(text, size))).resolves.toEqual(lines);
});

test('the values of one chunk come together', async () => {
  const batches: unknown[][] = [];
  for await (const batch of jsonLines(chunked(text, 100_000))) batches.push(batch);
  expect(batches).toEqual([lines]);
});

test('a stream that ends in the middle of a line is an error, not a silent loss', async () => {
  await expect(collect(chunked('{"a":1}\n{"b":', 4))).rejects.toThrow('the stream ended in the middle of a line, 5 bytes into it');
});

test('a line of 16 MiB in chunks of 1 KiB takes time in proportion to its length, not to its square', async () => {
  const joins = jest.spyOn(Buffer, 'concat');
  const line = `${JSON.stringify('x'.repeat(16 << 20))}\n`;
  await expect(collect(chunked(line, 1024))).resolves.toHaveLength(1);
  expect(joins).toHaveBeenCalledTimes(1);
  joins.mockRestore();
});
