import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podScripts } from '../../src/engines/pod-scripts';
import type { Stage } from '../../src/store/progress';
import { parseResult, type StoreResult } from '../../src/store/result';
import { runStore } from '../../src/store/run-store';
import type { StoreSettings } from '../../src/store/settings';
import type { Time } from '../../src/store/time';

/** A tiny engine: its data is a file of lines; a dump of it is a MySQL dump of one table. */
const functions = String.raw`
server_version() { [ -e /dbop/no-version ] || echo 9.7.4; }
initialize() { rm -rf "$1"; mkdir "$1"; }
begin_server() { sleep 1000 & server=$!; directory=$1; }
end_server_signal=TERM
end_server() { kill "$server"; }
log_in() { :; }
ask() { :; }
dump_everything() { cat /dbop/dump.sql; [ ! -e /dbop/hang ] || { : > /dbop/hanging; i=0; until [ -e /dbop/go-on ] || [ $((i += 1)) -gt 10000 ]; do sleep 0.1; done; }; [ ! -e /dbop/break ] || { echo 'the server went away' >&2; return 1; }; }
load_artifact() { cat "$exchange/artifact" > "$directory/loaded"; [ ! -e /dbop/break-load ] || { echo 'syntax error' >&2; return 1; }; }
count_rows() { cat /dbop/counts > "$private/answer"; }
apply_accounts() { echo applied > "$directory/accounts"; }
`;

/** Ten lines, three rows. */
export const dumpText = '-- dbop dump 1 mysql 9.7.4\nUSE `shop`;\nCREATE TABLE `t` (\n  `id` int\n);\nINSERT INTO `t` VALUES (1),(2),(3);\n-- dbop dump completed\n';

/** Both halves of a Job in one folder: the real shell scripts around a tiny engine, and the real store. */
export class Conversation {
  readonly root = mkdtempSync(join(tmpdir(), 'dbop-store-'));
  private engine?: ChildProcess;

  constructor(
    private readonly shell: readonly string[] = ['sh'],
    /** The backup volume; of its own, unless it is given that of another. */
    readonly backups = join(this.root, 'backups'),
  ) {
    for (const folder of ['dbop/scripts', 'data', 'backups', 'bin']) mkdirSync(join(this.root, folder), { recursive: true });
    const scripts = podScripts({ functions, ready: '', stop: '' });
    for (const [name, text] of Object.entries(scripts)) writeFileSync(this.path(`dbop/scripts/${name}`), text.replace(/\/(?=dbop\/|data\b)/g, `${this.root}/`));
    this.write('dbop/dump.sql', dumpText);
    this.write('dbop/counts', 'shop.t\t3\n');
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  /** Puts a program before those of the system, for the engine's half. */
  program(name: string, script: string): void {
    writeFileSync(this.path(`bin/${name}`), `#!/bin/sh\n${script}`, { mode: 0o755 });
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** One Job: starts the engine's script, runs the store, and waits for both. */
  async job(action: 'put' | 'get', more: Partial<StoreSettings> = {}, options: { signal?: AbortSignal; time?: Time; engine?: boolean; onLine?: (line: string) => void } = {}): Promise<{ result: StoreResult; exit: number; engineExit: number | null }> {
    this.newPod();
    const ended = options.engine === false ? Promise.resolve(null) : this.startEngine(action);
    const exit = await runStore({ env: { DBOP_STORE: this.settings(action, more), JOB_NAME: 'b1', POD_NAMESPACE: 'ns' }, signal: options.signal ?? new AbortController().signal, write: options.onLine ?? (() => undefined), time: options.time });
    const result = parseResult(this.read('termination-log'));
    if (result === undefined) throw new Error(`no result: ${this.read('termination-log')}`);
    return { result, exit, engineExit: await ended };
  }

  /** One Job whose pod is killed the moment its store reaches a stage. */
  async killedAt(stage: Stage, action: 'put' | 'get', more: Partial<StoreSettings> = {}): Promise<void> {
    this.newPod();
    const ended = this.startEngine(action);
    const store = spawn(process.execPath, ['--import', require.resolve('tsx'), require.resolve('./store-that-dies'), stage], { stdio: 'ignore', env: { ...process.env, DBOP_STORE: this.settings(action, more) } });
    const signal = await new Promise((resolve) => store.once('exit', (_code, by) => resolve(by)));
    if (signal !== 'SIGKILL') throw new Error(`the store ended by itself before it reached '${stage}'`);
    this.killEngine();
    await ended;
  }

  /** As the kernel kills a container: everything in it, at once. */
  killEngine(): void {
    if (this.engine?.pid === undefined) return;
    try {
      process.kill(-this.engine.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }

  end(): void {
    this.killEngine();
    rmSync(this.root, { recursive: true, force: true });
  }

  private settings(action: 'put' | 'get', more: Partial<StoreSettings>): string {
    return JSON.stringify({ action, engine: 'mysql', database: 'shop', target: { volume: { path: this.backups } }, exchange: this.path('dbop/exchange'), terminationLog: this.path('termination-log'), ...more } satisfies StoreSettings);
  }

  /** What belongs to a pod is new with it. */
  private newPod(): void {
    for (const folder of ['exchange', 'private', 'scratch']) {
      rmSync(this.path(`dbop/${folder}`), { recursive: true, force: true });
      mkdirSync(this.path(`dbop/${folder}`));
    }
  }

  private startEngine(action: 'put' | 'get'): Promise<number | null> {
    const script = action === 'put' ? 'backup.sh' : 'restore.sh';
    const [command = 'sh', ...args] = this.shell;
    const engine = spawn(command, [...args, this.path(`dbop/scripts/${script}`)], { detached: true, stdio: 'ignore', env: { PATH: `${this.path('bin')}:${process.env['PATH']}`, SERVER_HOST: 'shop', SERVER_PORT: '3306' } });
    this.engine = engine;
    return new Promise((resolve) =>
      engine.once('exit', (code) => {
        // With its first process, all of a container ends.
        this.killEngine();
        resolve(code);
      }),
    );
  }
}
