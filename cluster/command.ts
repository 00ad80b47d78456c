import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';

export interface CommandOptions {
  readonly cwd?: string;
  /** Added to this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** A file that receives everything the command prints, for errors that need more than the last lines. */
  readonly log?: string;
  /** Lowers the command's priority, so that the person at the machine can go on working. */
  readonly nice?: boolean;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that ended with an error: says which, how, and what it said last. */
export class CommandError extends Error {
  public constructor(
    public readonly command: string,
    public readonly result: CommandResult,
    log?: string,
  ) {
    // Both: npm warns on one of them and compilers complain on the other.
    const said = lastLines(`${result.stdout.trim()}\n${result.stderr.trim()}`.trim());
    super(`'${command}' ended with code ${result.code}${log ? ` (all it printed: ${log})` : ''}${said ? `:\n${said}` : ''}`);
    this.name = 'CommandError';
  }
}

/** Runs a program to its end and returns what it printed. @throws CommandError when it fails. */
export async function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await tryRun(program, args, options);
  if (result.code !== 0) throw new CommandError([program, ...args].join(' '), result, options.log);
  return result.stdout;
}

/** Like `run`, but a failing program is a result, not an error. A program that doesn't exist has code 127, as in a shell. */
export function tryRun(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [command, rest] = options.nice ? ['nice', ['-n', '10', program, ...args]] : [program, args];
  return new Promise((resolve) => {
    const child = spawn(command, rest, { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: 'pipe' });
    const log = options.log ? createWriteStream(options.log, { flags: 'a' }) : undefined;
    const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (chunk: Buffer) => {
        printed[stream].push(chunk);
        log?.write(chunk);
      });
    }
    const end = (code: number, problem = ''): void => {
      log?.end();
      resolve({ code, stdout: Buffer.concat(printed.stdout).toString(), stderr: Buffer.concat(printed.stderr).toString() + problem });
    };
    child.on('error', (error) => end(127, error.message));
    child.on('close', (code, signal) => end(code ?? 128, signal ? `killed by ${signal}` : ''));
    // A program that ends before it has read its input closes the pipe; its exit code tells the story better.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input);
  });
}

function lastLines(text: string, count = 15): string {
  return text.split('\n').slice(-count).join('\n');
}
