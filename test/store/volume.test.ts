import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Catalog } from '../../src/store/catalog';
import { parseManifest } from '../../src/store/manifest';
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
  expect(seen).toEqual([[expect.stringMatching(/^dump\.[0-9a-f]{8}\.part$/)]]);
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
  const artifact = (digit: number) => `dump-0000000${digit}.sql.gz`;
  const file = (path: string, modified?: Date, text = '') => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
    if (modified) utimesSync(join(root, path), modified, modified);
  };
  file(`shop/killed/${artifact(1)}.part`, old);
  file(`shop/orphan/${artifact(1)}`, old);
  file(`shop/busy/${artifact(1)}.part`);
  file(`shop/fresh/${artifact(1)}`);
  file(`shop/good/${artifact(1)}`, old);
  file(`shop/good/${artifact(2)}`, old);
  file('shop/good/manifest.json', old, JSON.stringify({ format: 1, name: 'good', artifact: artifact(2), sha256: '', completedAt: '' }));
  file(`shop/newer/${artifact(1)}`, old);
  file('shop/newer/manifest.json', old, '{"format":2}');
  file(`other/killed/${artifact(1)}.part`, old);
  expect(await catalog.sweep(new Date(Date.now() - 60_000), signal)).toEqual([`shop/killed/${artifact(1)}.part`, `shop/good/${artifact(1)}`, `shop/orphan/${artifact(1)}`]);
  expect(readdirSync(join(root, 'shop')).sort()).toEqual(['busy', 'fresh', 'good', 'newer']);
  expect(readdirSync(join(root, 'shop/good')).sort()).toEqual([artifact(2), 'manifest.json']);
  expect(readdirSync(join(root, 'other'))).toEqual(['killed']);
});

test('a manifest that points outside its folder is none', () => {
  for (const artifact of ['../b2/dump-00000000.sql.gz', '/etc/passwd', 'manifest.json', undefined]) expect(() => parseManifest(JSON.stringify({ format: 1, name: 'b1', artifact, sha256: '', completedAt: '' }), 'here')).toThrow('here is no manifest of a backup');
});

test('a catalog never leaves its folder', () => {
  for (const folder of ['', '..', 'a/../b', '/a']) expect(() => new Catalog(volume, folder)).toThrow('is no folder for backups');
});

test('text is read back as it was written', async () => {
  await volume.write('shop/b1/manifest.json', chunks('{"a":', '1}'), signal);
  expect(await readText(volume, 'shop/b1/manifest.json', signal)).toBe('{"a":1}');
});
