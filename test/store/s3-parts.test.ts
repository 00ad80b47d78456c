import { MAX_PARTS, parts, partSize } from '../../src/store/s3-parts';

const MIB = 1024 * 1024;

test('a stream is cut into parts of exactly their size, whatever its chunks are', async () => {
  const source = Buffer.alloc(20 * MIB + 5, 7);
  source.write('the end', source.length - 7);
  async function* chunks() {
    for (let at = 0, size = 1; at < source.length; at += size, size = 1 + ((size * 31) % (9 * MIB))) yield source.subarray(at, at + size);
  }
  const cut: Buffer[] = [];
  for await (const part of parts(chunks())) cut.push(part);
  expect(cut.map((part) => part.length)).toEqual([8 * MIB, 8 * MIB, 4 * MIB + 5]);
  expect(Buffer.concat(cut).equals(source)).toBe(true);
});

test('an empty stream has no parts', async () => {
  const cut: Buffer[] = [];
  for await (const part of parts((async function* () {})())) cut.push(part);
  expect(cut).toEqual([]);
});

test('all parts together hold more than half a tebibyte, and none more than fits a small container', () => {
  const sizes = Array.from({ length: MAX_PARTS }, (_, index) => partSize(index + 1));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(512 * 1024 * MIB);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * MIB);
});
