import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** How to start a program. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Clock ticks a second in /proc; the same on every Linux that people run. */
const ticksPerSecond = 100;
const farewellMs = 30_000;

/** A program whose use of the machine is read from /proc, threads included. */
export class MeasuredProcess {
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private isRunning = true;
  /** When it was started, on the clock of `performance.now()`. */
  readonly startedAt: number;

  /** @param logFile takes what it prints, so that its output costs all programs the same */
  constructor({ program, args, cwd, env }: Command, private readonly logFile: string) {
    const log = openSync(logFile, 'w', 0o600);
    this.startedAt = performance.now();
    this.child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', log, log] });
    closeSync(log);
    const kill = (): boolean => this.child.kill('SIGKILL');
    process.once('exit', kill);
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.isRunning = false;
        process.off('exit', kill);
        resolve();
      };
      this.child.once('exit', end).once('error', end);
    });
  }

  /** Processor time used so far, in seconds. */
  cpuSeconds(): number {
    // The name in parentheses may hold spaces; the numbers begin behind it.
    const fields = this.read('stat').replace(/^.*\) /s, '').split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }

  /** Most memory held at any time so far, in megabytes of a million bytes. */
  peakRssMb(): number {
    return (Number(/VmHWM:\s+(\d+) kB/.exec(this.read('status'))?.[1]) * 1024) / 1e6;
  }

  /** Waits for something that can only happen while the program runs. */
  async whileRunning<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([work, this.ended.then(() => Promise.reject(this.death()))]);
  }

  /** Asks it to end, and waits until it has. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await Promise.race([this.ended, sleep(farewellMs, undefined, { ref: false })]);
    if (this.isRunning) this.child.kill('SIGKILL');
    await this.ended;
  }

  private read(file: string): string {
    if (!this.isRunning) throw this.death();
    return readFileSync(`/proc/${this.child.pid}/${file}`, 'utf8');
  }

  private death(): Error {
    return new Error(`${this.child.spawnfile} ended though nobody asked it to; it said:\n${readFileSync(this.logFile, 'utf8').slice(-2000)}`);
  }
}
