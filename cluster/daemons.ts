import { spawn } from 'node:child_process';
import { mkdirSync, openSync, closeSync, readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DaemonSpec {
  /** Unique in the cluster; names the log file too. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const clusterMark = 'DBOP_CLUSTER_FOLDER';
const daemonMark = 'DBOP_DAEMON';

/** Twenty Go programs that each take the whole machine for theirs spend a fifth of their time on looking for work. */
const GOMAXPROCS = String(Math.ceil(availableParallelism() / 2));

/**
 * The long-running processes of one cluster.
 *
 * Guarantees: a process is known by marks in its environment and by nothing else. There are no files of process
 * numbers that could be stale after a crash, name somebody else's process, or be lost with a half-written state;
 * and what a daemon starts itself inherits the marks, so that it is found and stopped as well.
 */
export class Daemons {
  public constructor(private readonly folder: string) {}

  /** Starts a program that outlives this process, unless it is running already. */
  public start(spec: DaemonSpec): void {
    if (this.isRunning(spec.name)) return;
    mkdirSync(join(this.folder, 'logs'), { recursive: true });
    const log = openSync(this.logFile(spec.name), 'a');
    try {
      const child = spawn(spec.program, spec.args, {
        detached: true,
        cwd: this.folder,
        env: { ...process.env, GOMAXPROCS, ...spec.env, [clusterMark]: this.folder, [daemonMark]: spec.name },
        stdio: ['ignore', log, log],
      });
      child.on('error', (error) => console.error(`cannot start ${spec.name}: ${error.message}`));
      child.unref();
    } finally {
      closeSync(log);
    }
  }

  public isRunning(name: string): boolean {
    return this.processes(name).length > 0;
  }

  /** The numbers of the processes of one daemon, or of all. */
  public processes(name?: string): number[] {
    const marks = [`${clusterMark}=${this.folder}`, ...(name === undefined ? [] : [`${daemonMark}=${name}`])];
    return processNumbers().filter((pid) => {
      const environment = environmentOf(pid);
      return marks.every((mark) => environment.includes(mark));
    });
  }

  /**
   * Stops one daemon, or all, and returns when no process is left.
   * @param graceMs how long a process may take to end by itself; 0 kills at once.
   */
  public async stop(name: string | undefined, graceMs: number): Promise<void> {
    const deadline = Date.now() + graceMs;
    for (let left = this.processes(name); left.length > 0; left = this.processes(name)) {
      const signal = Date.now() >= deadline ? 'SIGKILL' : 'SIGTERM';
      for (const pid of left) signalTo(pid, signal);
      await sleep(20);
    }
  }

  public logFile(name: string): string {
    return join(this.folder, 'logs', `${name}.log`);
  }

  /** The end of what a daemon printed, for error messages. */
  public lastWords(name: string, lines = 12): string {
    try {
      return readFileSync(this.logFile(name), 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
    } catch {
      return '(it printed nothing)';
    }
  }
}

function processNumbers(): number[] {
  return readdirSync('/proc').filter((entry) => /^[0-9]+$/.test(entry)).map(Number);
}

/** Empty for a process that has ended, is a zombie, or belongs to somebody else. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
