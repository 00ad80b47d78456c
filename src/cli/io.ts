import { setMaxListeners } from 'node:events';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock, type Clock } from '../runtime/clock';

/** What a command may touch of its process. Tests hand it one of their own. */
export interface Io {
  /** How the user calls us: `dbop`, or `kubectl dbop`. */
  readonly name: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** A person looks at the output: tables are drawn and colours may be used. */
  readonly interactive: boolean;
  readonly color: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  /** Aborted by Ctrl-C and by SIGTERM, once somebody asked for it. */
  readonly signal: AbortSignal;
  out(text: string): void;
  err(text: string): void;
  /** All of standard input. */
  stdin(): Promise<string>;
  /** What the process ends with, unless the command throws. */
  exitCode: number;
}

/** The process itself. Colours only on a terminal, and not where NO_COLOR is set. */
export function processIo(): Io {
  const { stdout, stderr, stdin, env } = process;
  const interactive = stdout.isTTY === true;
  let signal: AbortSignal | undefined;
  // A reader that has seen enough, such as `head`, is no failure of ours.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    name: basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl dbop' : 'dbop',
    env,
    clock: systemClock,
    interactive,
    color: interactive && !env.NO_COLOR && env.TERM !== 'dumb',
    width: interactive ? (stdout.columns ?? 80) : Infinity,
    get signal() {
      return (signal ??= interruption());
    },
    out: (line) => void stdout.write(line),
    err: (line) => void stderr.write(line),
    stdin: () => text(stdin),
    exitCode: 0,
  };
}

/** The user, or whoever runs us, wants an end. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`interrupted by ${signal}`);
    this.name = 'Interrupted';
  }
}

function interruption(): AbortSignal {
  const stop = new AbortController();
  // Every request under way listens to it; Node would take more than ten for a leak.
  setMaxListeners(0, stop.signal);
  // Once: a second Ctrl-C ends the process at once, as people expect.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new Interrupted(signal)));
  return stop.signal;
}
