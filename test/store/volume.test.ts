import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Catalog } from '../../src/store/catalog';
import { readText } from '../../src/store/target';
import { VolumeTarget } from '../../src/store/volume';

let root: string;
let volume: VolumeTarget;
const signal = new AbortController().signal;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dbop-volume-'));
  volume = new VolumeTarget(root);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

test('a file is seen under its name only when it is whole', async () => {
  const seen: string[][] = [];
  async function* watched() {
    yield Buffer.from('a');
    seen.push(readdirSync(join(root, 'shop/b1')));
    yield Buffer.from('b');
  }
  await volume.write('shop/b1/dump', watched(), signal);
  expect(seen).toEqual([['dump.part']]);
  expect(readFileSync(join(root, 'shop/b1/dump'), 'utf8')).toBe('ab');
  expect((await volume.list('shop')).map(({ path }) => path)).toEqual(['shop/b1/dump']);
});

test('a source that fails leaves neither a file nor a folder', async () => {
  async function* failing() {
    yield Buffer.from('a');
    throw new Error('cut');
  }
  await expect(volume.write('shop/b1/dump', failing(), signal)).rejects.toThrow('cut');
  expect(readdirSync(join(root, 'shop'))).toEqual([]);
});

test('what is not there reads as nothing and can be removed', async () => {
  expect(await volume.read('shop/b1/dump', signal)).toBeUndefined();
  await volume.remove('shop/b1/dump');
  expect(await volume.list('shop')).toEqual([]);
});

test('litter is swept once it is quiet, and never a backup or what somebody writes just now', async () => {
  const catalog = new Catalog(volume, 'shop');
  const old = new Date(Date.now() - 3600_000);
  const file = (path: string, modified?: Date) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '{}');
    if (modified) utimesSync(join(root, path), modified, modified);
  };
  file('shop/killed/dump.sql.gz.part', old);
  file('shop/orphan/dump.sql.zst', old);
  file('shop/busy/dump.sql.gz.part');
  file('shop/fresh/dump.sql.gz');
  file('shop/good/dump.sql.gz', old);
  file('shop/good/manifest.json', old);
  file('other/killed/dump.sql.gz.part', old);
  expect(await catalog.sweep(new Date(Date.now() - 60_000), signal)).toEqual(['shop/killed/dump.sql.gz.part', 'shop/orphan/dump.sql.zst']);
  expect(readdirSync(join(root, 'shop')).sort()).toEqual(['busy', 'fresh', 'good']);
  expect(readdirSync(join(root, 'other'))).toEqual(['killed']);
});

test('a catalog never leaves its folder', () => {
  for (const folder of ['', '..', 'a/../b', '/a']) expect(() => new Catalog(volume, folder)).toThrow('is no folder for backups');
});

test('text is read back as it was written', async () => {
  await volume.write('shop/b1/manifest.json', chunks('{"a":', '1}'), signal);
  expect(await readText(volume, 'shop/b1/manifest.json', signal)).toBe('{"a":1}');
});
