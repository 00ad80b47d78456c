import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runClient } from '../../src/cli/client-run';

const login = { host: '127.0.0.1', port: 1, username: 'app', password: 'topsecret', database: 'shop' };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-run-'));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'tmp'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Puts a program on PATH that writes down how it was called. */
async function program(name: string, script: string): Promise<void> {
  const file = join(folder, 'bin', name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

const run = (engine: 'mysql' | 'postgres', args: string[] = []) =>
  runClient(engine, login, args, { env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, TMPDIR: join(folder, 'tmp'), SEEN: join(folder, 'seen') }, signal: new AbortController().signal, name: 'dbop' });

describe('running a client', () => {
  it('hands the password over in a file of mode 0600, which is gone afterwards', async () => {
    await program('mysql', 'f="${1#--defaults-file=}"; { stat -c %a "$f" "$(dirname "$f")"; cat "$f"; echo "args: $*"; env; } > "$SEEN"');
    expect(await run('mysql', ['-e', 'select 1'])).toBe(0);
    const seen = await readFile(join(folder, 'seen'), 'utf8');
    expect(seen).toMatch(/^600\n700\n/);
    expect(seen.match(/topsecret/g)).toHaveLength(1);
    expect(seen).toMatch(/args: --defaults-file=\S+ -e select 1\n/);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });

  it('passes on how the client ended, and cleans up all the same', async () => {
    await program('psql', 'exit 7');
    expect(await run('postgres')).toBe(7);
    await program('psql', 'kill -TERM $$');
    expect(await run('postgres')).toBe(143);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });

  it('falls back to MariaDB’s client', async () => {
    await program('mariadb', 'echo mariadb > "$SEEN"');
    const alone = { PATH: join(folder, 'bin'), TMPDIR: join(folder, 'tmp'), SEEN: join(folder, 'seen') };
    expect(await runClient('mysql', login, [], { env: alone, signal: new AbortController().signal, name: 'dbop' })).toBe(0);
    expect(await readFile(join(folder, 'seen'), 'utf8')).toBe('mariadb\n');
  });

  it('says what to install when there is no client', async () => {
    const none = { PATH: join(folder, 'bin'), TMPDIR: join(folder, 'tmp') };
    await expect(runClient('postgres', login, [], { env: none, signal: new AbortController().signal, name: 'dbop' })).rejects.toThrow('there is no psql on PATH; install the client, or connect another one by: dbop connect NAME --print');
  });
});
