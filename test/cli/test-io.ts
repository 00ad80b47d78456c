import { setMaxListeners } from 'node:events';
import { splitWords } from '../support/words';
import { systemClock } from '../../src/runtime/clock';
import type { Io } from '../../src/cli/io';
import { runProgram } from '../../src/cli/program';

/** What a command line came to. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Settings of a command line that is run in this process. */
export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called at each piece of output. */
  readonly onOut?: (all: string) => void;
}

/** Runs `dbop` as a user types it, in this process and without a terminal. */
export async function dbop(line: string, options: RunOptions = {}): Promise<Ran> {
  const written = { out: '', err: '' };
  const signal = options.signal ?? new AbortController().signal;
  setMaxListeners(0, signal);
  const io: Io = {
    name: 'dbop',
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...options.env },
    clock: systemClock,
    interactive: false,
    color: false,
    width: Infinity,
    signal,
    out: (text) => {
      written.out += text;
      options.onOut?.(written.out);
    },
    err: (text) => void (written.err += text),
    stdin: () => Promise.resolve(options.stdin ?? ''),
    exitCode: 0,
  };
  const code = await runProgram(splitWords(line), io);
  return { code, ...written };
}
