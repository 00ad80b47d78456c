import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { systemTime, type Time } from '../../src/store/time';
import { compression } from '../../src/store/compression';
import type { Manifest } from '../../src/store/manifest';
import { lastStage } from '../../src/store/progress';
import { Conversation, dumpText } from './conversation';

let job: Conversation;
beforeEach(() => {
  job = new Conversation();
});
afterEach(() => job.end());

const manifest = () => JSON.parse(job.read('backups/shop/b1/manifest.json')) as Manifest;
const artifact = () => job.path(`backups/shop/b1/${manifest().artifact}`);
/** Everything on the backup volume, at any depth. */
const stored = () => (readdirSync(job.backups, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name)).sort();
/** A clock that runs so many times as fast, so that a minute's silence takes no minute. */
const faster = (times: number): Time => ({ now: () => new Date(Date.now() * times), sleep: (milliseconds, signal) => systemTime.sleep(milliseconds / times, signal) });

describe('taking a backup', () => {
  test('stores the dump whole, with a manifest that tells what it holds', async () => {
    const { result, exit, engineExit } = await job.job('put');
    expect(result).toMatchObject({ outcome: 'stored', backup: { name: 'b1', location: 'volume:shop/b1', serverVersion: '9.7.4', tables: 1, rows: 3, bytes: dumpText.length }, pruned: [] });
    expect([exit, engineExit]).toEqual([0, 0]);
    if (compression === 'gzip') expect(gunzipSync(readFileSync(artifact())).toString()).toBe(dumpText);
    expect(manifest()).toMatchObject({ format: 1, engine: 'mysql', rowsByTable: { 'shop.t': 3 } });
    expect(manifest()).not.toHaveProperty('verifiedAt');
  });

  test('proves it by a restore when asked to', async () => {
    const { result } = await job.job('put', { verify: true });
    expect(result).toMatchObject({ outcome: 'stored', backup: { verifiedAt: expect.any(String) as string } });
    expect(job.read('dbop/scratch/db/loaded')).toBe(dumpText);
  });

  test('says so when the restored copy differs, and never restores from it', async () => {
    job.write('dbop/counts', 'shop.t\t2\n');
    const { result, exit } = await job.job('put', { verify: true });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'VerificationFailed', message: expect.stringContaining('shop.t has 2 rows, the dump had 3') as string });
    expect(exit).toBe(1);
    expect((await job.job('get')).result).toMatchObject({ outcome: 'failed', reason: 'NoBackup', message: expect.stringContaining('failed its verification') as string });
  });

  test('dumps anew when the last try failed its verification', async () => {
    job.write('dbop/counts', 'shop.t\t2\n');
    await job.job('put', { verify: true });
    job.write('dbop/counts', 'shop.t\t3\n');
    expect((await job.job('put', { verify: true })).result.outcome).toBe('stored');
    expect(manifest()).not.toHaveProperty('verificationFailure');
  });

  test('leaves nothing when the dump fails, and tells why in the words of the dump', async () => {
    job.write('dbop/break', '');
    job.write('dbop/dump.sql', 'half');
    const { result, engineExit } = await job.job('put');
    expect(result).toMatchObject({ outcome: 'failed', reason: 'DumpFailed', message: expect.stringContaining('the server went away') as string });
    expect(engineExit).toBe(1);
    expect(stored()).toEqual([]);
  });

  test('leaves nothing when the dump ends without its end marker, though every program said that all was well', async () => {
    job.write('dbop/dump.sql', dumpText.replace('-- dbop dump completed\n', ''));
    expect((await job.job('put')).result).toMatchObject({ outcome: 'failed', reason: 'DumpCut' });
    expect(stored()).toEqual([]);
  });

  test('leaves nothing when the engine is killed in the middle of the dump', async () => {
    job.write('dbop/hang', '');
    job.write('dbop/dump.sql', dumpText.slice(0, 60));
    const running = job.job('put', {}, { time: faster(20) });
    await until(() => existsSync(job.path('dbop/hanging')));
    expect(stored().map((name) => name.endsWith('.part'))).toEqual([true]);
    job.killEngine();
    expect((await running).result).toMatchObject({ outcome: 'failed', reason: 'DumpCut' });
    expect(stored()).toEqual([]);
  });

  test('leaves nothing when the engine is killed after its last line, before it could say that all was well', async () => {
    job.write('dbop/hang', '');
    const running = job.job('put', {}, { time: faster(20) });
    await until(() => existsSync(job.path('dbop/hanging')));
    job.killEngine();
    expect((await running).result).toMatchObject({ outcome: 'failed', reason: 'EngineSilent' });
    expect(stored()).toEqual([]);
  });

  test('leaves nothing when the pod is told to stop', async () => {
    job.write('dbop/hang', '');
    const stop = new AbortController();
    const running = job.job('put', {}, { signal: stop.signal });
    await until(() => existsSync(job.path('dbop/hanging')));
    expect(stored().map((name) => name.endsWith('.part'))).toEqual([true]);
    stop.abort();
    const { result, engineExit } = await running;
    expect(result).toMatchObject({ outcome: 'failed', reason: 'Interrupted' });
    expect(engineExit).toBe(1);
    expect(stored()).toEqual([]);
  });

  test('gives up on an engine that never speaks', async () => {
    expect((await job.job('put', {}, { engine: false, time: faster(1000) })).result).toMatchObject({ outcome: 'failed', reason: 'EngineSilent' });
  });

  test('only verifies what an earlier try under the same name has stored', async () => {
    await job.job('put');
    const before = manifest();
    job.write('dbop/break', '');
    expect((await job.job('put', { verify: true })).result).toMatchObject({ outcome: 'stored', backup: { verifiedAt: expect.any(String) as string } });
    expect(manifest()).toMatchObject(before);
  });

  test('goes on with what an earlier try of the same run has stored', async () => {
    await job.job('put', { run: 'run-1' });
    const before = manifest();
    job.write('dbop/break', '');
    expect((await job.job('put', { run: 'run-1', verify: true })).result).toMatchObject({ outcome: 'stored', backup: { verifiedAt: expect.any(String) as string } });
    expect(manifest()).toMatchObject({ ...before, run: 'run-1' });
  });

  test.each([
    ['another run', 'run-1'],
    ['an earlier release, which named no run,', undefined],
  ])('never takes a good backup of %s for its own, nor touches it', async (_whose, run) => {
    await job.job('put', { run });
    const before = job.read('backups/shop/b1/manifest.json');
    job.write('dbop/dump.sql', dumpText.replace('(1),', ''));
    const { result, exit, engineExit } = await job.job('put', { run: 'run-2' });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'NameTaken', message: expect.stringContaining(`volume:shop/b1 holds a backup of another run, taken ${manifest().completedAt}`) as string });
    expect([exit, engineExit]).toEqual([3, 1]);
    expect(job.read('backups/shop/b1/manifest.json')).toBe(before);
    expect((await job.job('get')).result).toMatchObject({ outcome: 'restored', backup: { rows: 3 } });
  });

  test('is deleted by who took it, and by nobody who was refused its name', async () => {
    const remove = (run: string) => job.job('get', { action: 'delete', backup: 'b1', run }, { engine: false });
    await job.job('put', { run: 'run-1' });
    expect((await remove('run-2')).result).toMatchObject({ outcome: 'deleted', message: expect.stringContaining('another run, which is left as it is') as string });
    expect((await job.job('get')).result).toMatchObject({ outcome: 'restored', backup: { rows: 3 } });
    expect((await remove('run-1')).result).toMatchObject({ outcome: 'deleted', message: 'volume:shop/b1 is gone' });
    expect(() => job.read('backups/shop/b1/manifest.json')).toThrow('ENOENT');
  });

  test.each(['failed its verification', 'lacks its artifact'])('replaces what another run left under its name when that %s', async (how) => {
    if (how === 'failed its verification') job.write('dbop/counts', 'shop.t\t2\n');
    await job.job('put', { run: 'run-1', verify: how === 'failed its verification' });
    if (how === 'lacks its artifact') rmSync(artifact());
    expect((await job.job('put', { run: 'run-2' })).result).toMatchObject({ outcome: 'stored' });
    expect(manifest().run).toBe('run-2');
  });

  test('removes what a killed run under the same name has left', async () => {
    await job.job('put');
    rmSync(job.path('backups/shop/b1/manifest.json'));
    job.write('dbop/break', '');
    await job.job('put');
    expect(stored()).toEqual([]);
  });

  test.each(['while it dumps', 'after it has dumped'])('is not harmed by a run of the same name that was taken for dead, and is told to stop %s', async (when) => {
    job.write('dbop/hang', '');
    if (when === 'while it dumps') job.write('dbop/dump.sql', dumpText.slice(0, 60));
    const stop = new AbortController();
    const dead = job.job('put', {}, { signal: stop.signal });
    await until(() => existsSync(job.path('dbop/hanging')));
    const successor = new Conversation(['sh'], job.backups);
    try {
      expect((await successor.job('put')).result).toMatchObject({ outcome: 'stored' });
    } finally {
      successor.end();
    }
    stop.abort();
    expect((await dead).result).toMatchObject({ outcome: 'failed', reason: 'Interrupted' });
    expect(stored()).toEqual([manifest().artifact, 'manifest.json']);
    expect((await job.job('get')).result).toMatchObject({ outcome: 'restored', backup: { rows: 3 } });
  });

  test('is the successor’s when the run that was taken for dead comes to its end after all', async () => {
    job.write('dbop/hang', '');
    const dead = job.job('put', {}, { time: faster(20) });
    await until(() => existsSync(job.path('dbop/hanging')));
    const successor = new Conversation(['sh'], job.backups);
    try {
      await successor.job('put');
    } finally {
      successor.end();
    }
    const before = manifest();
    job.write('dbop/go-on', '');
    expect((await dead).result).toMatchObject({ outcome: 'failed', reason: 'TargetFailed', message: expect.stringMatching(/cannot write volume:shop\/b1\/dump-.*ENOENT/) as string });
    expect(manifest()).toEqual(before);
    expect(stored()).toEqual([before.artifact, 'manifest.json']);
  });

  test('is the successor’s when that has recorded its own a moment before', async () => {
    const theirs = '{"of":"the successor"}';
    const onLine = (line: string) => lastStage(line)?.stage === 'stored' && job.write('backups/shop/b1/manifest.json', theirs);
    expect((await job.job('put', {}, { onLine })).result).toMatchObject({ outcome: 'failed', reason: 'TargetFailed', message: expect.stringContaining('another run under the name b1') as string });
    expect(job.read('backups/shop/b1/manifest.json')).toBe(theirs);
    expect(stored()).toEqual(['manifest.json']);
  });

  test('is taken anew when its artifact is gone, though its manifest claims it', async () => {
    await job.job('put');
    rmSync(artifact());
    expect((await job.job('put')).result).toMatchObject({ outcome: 'stored' });
    expect(existsSync(artifact())).toBe(true);
  });

  test('keeps the newest so many and removes the others of this database only', async () => {
    for (const backup of ['b1', 'b2', 'b3']) await job.job('put', { backup, database: 'other' });
    await job.job('put', { backup: 'b1' });
    await job.job('put', { backup: 'b2' });
    expect((await job.job('put', { backup: 'b3', retention: { count: 2 } })).result).toMatchObject({ outcome: 'stored', pruned: ['b1'] });
    expect(readdirSync(job.path('backups/shop')).sort()).toEqual(['b2', 'b3']);
    expect(readdirSync(job.path('backups/other')).sort()).toEqual(['b1', 'b2', 'b3']);
  });
});

describe('restoring', () => {
  test('makes the data directory, with the accounts of the new pod, and remembers what it came from', async () => {
    await job.job('put');
    const { result, engineExit } = await job.job('get');
    expect(result).toMatchObject({ outcome: 'restored', backup: { name: 'b1' } });
    expect(engineExit).toBe(0);
    expect(job.read('data/db/loaded')).toBe(dumpText);
    expect(job.read('data/db/accounts')).toBe('applied\n');
    expect((await job.job('get')).result).toMatchObject({ outcome: 'present', backup: { name: 'b1' } });
  });

  test('never touches a directory that is there', async () => {
    await job.job('put');
    const data = job.path('data/db');
    await job.job('get');
    writeFileSync(`${data}/loaded`, 'changed since');
    expect((await job.job('get')).result.outcome).toBe('present');
    expect(job.read('data/db/loaded')).toBe('changed since');
  });

  test('starts empty without a backup, unless one is required', async () => {
    expect((await job.job('get')).result).toMatchObject({ outcome: 'none' });
    expect(existsSync(job.path('data/db'))).toBe(false);
    expect(await job.job('get', { required: true })).toMatchObject({ result: { outcome: 'failed', reason: 'NoBackup' }, exit: 3 });
    expect(await job.job('get', { backup: 'b7' })).toMatchObject({ result: { outcome: 'failed', reason: 'NoBackup' } });
  });

  test('takes the newest good backup', async () => {
    await job.job('put', { backup: 'old' });
    job.write('dbop/dump.sql', dumpText.replace('(1),', ''));
    await job.job('put', { backup: 'new' });
    expect((await job.job('get')).result).toMatchObject({ outcome: 'restored', backup: { name: 'new', rows: 2 } });
  });

  test('refuses what was damaged, and leaves no data directory', async () => {
    await job.job('put');
    const bytes = readFileSync(artifact());
    bytes[bytes.length - 3]! ^= 1;
    writeFileSync(artifact(), bytes);
    const { result, exit } = await job.job('get');
    expect(result).toMatchObject({ outcome: 'failed', reason: 'ChecksumMismatch' });
    expect(exit).toBe(3);
    expect(existsSync(job.path('data/db'))).toBe(false);
  });

  test('begins anew after a load that failed', async () => {
    await job.job('put');
    job.write('dbop/break-load', '');
    expect((await job.job('get')).result).toMatchObject({ outcome: 'failed', reason: 'LoadFailed', message: expect.stringContaining('syntax error') as string });
    expect(existsSync(job.path('data/db'))).toBe(false);
    rmSync(job.path('dbop/break-load'));
    expect((await job.job('get')).result.outcome).toBe('restored');
  });

  test.each([
    ['a newer server', { serverVersion: '9.8.0' }, 'NewerVersion', '9.8.0'],
    ['another engine', { engine: 'postgres' }, 'OtherEngine', 'postgres'],
  ])('refuses a backup of %s with the reason', async (_what, change, reason, word) => {
    await job.job('put');
    job.write('backups/shop/b1/manifest.json', JSON.stringify({ ...manifest(), ...change }));
    expect((await job.job('get')).result).toMatchObject({ outcome: 'failed', reason, message: expect.stringContaining(word) as string });
  });

  test('refuses a backup when nobody knows whether the server is newer', async () => {
    await job.job('put');
    job.write('dbop/no-version', '');
    expect((await job.job('get')).result).toMatchObject({ outcome: 'failed', message: expect.stringContaining('does not tell its version') as string });
    expect(existsSync(job.path('data/db'))).toBe(false);
  });

  test('gives the directory no name when it could not be written to the disk', async () => {
    await job.job('put');
    job.program('sync', 'case $* in --help) echo "  -f, --file-system  sync the file systems" ;; -f*) exit 1 ;; esac\n');
    expect((await job.job('get')).result).toMatchObject({ outcome: 'failed' });
    expect(existsSync(job.path('data/db'))).toBe(false);
  });

  test('is content with a sync that only knows everything', async () => {
    await job.job('put');
    job.program('sync', '[ $# -eq 0 ] || { echo "Usage: sync" >&2; exit 1; }\n');
    expect((await job.job('get')).result).toMatchObject({ outcome: 'restored' });
  });

  test('fails rather than starting empty when it cannot read a manifest', async () => {
    await job.job('put');
    job.write('backups/shop/b1/manifest.json', JSON.stringify({ ...manifest(), format: 99 }));
    expect((await job.job('get')).result).toMatchObject({ outcome: 'failed', reason: 'NoBackup', message: expect.stringContaining('format 99') as string });
  });
});

async function until(condition: () => boolean): Promise<void> {
  const never = new AbortController().signal;
  while (!condition()) await systemTime.sleep(10, never);
}
