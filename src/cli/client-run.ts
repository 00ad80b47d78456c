import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { access, constants as modes, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { EngineName } from '../engines/engine';
import { clientProgram, type ClientLogin } from './client-program';
import { Failure } from './failure';
import type { Io } from './io';

/**
 * Runs an engine's client in the user's terminal until it ends.
 *
 * Guarantees: the password stands in a file of mode 0600 in a folder of mode 0700 and nowhere else, and both are gone afterwards.
 * @returns the client's exit code
 */
export async function runClient(engine: EngineName, login: ClientLogin, args: readonly string[], io: Pick<Io, 'env' | 'signal' | 'name'>): Promise<number> {
  const program = clientProgram(engine, login);
  const path = await findProgram(program.programs, io.env.PATH ?? '');
  if (path === undefined) throw new Failure(`there is no ${program.programs.join(' or ')} on PATH; install the client, or connect another one by: ${io.name} connect NAME --print`);
  const folder = await mkdtemp(join(io.env.TMPDIR ?? tmpdir(), 'dbop-'));
  try {
    const file = join(folder, 'login');
    await writeFile(file, program.secretFile, { mode: 0o600 });
    return await run(path, [...program.arguments(file), ...args], { ...io.env, ...program.environment(file) }, io.signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findProgram(names: readonly string[], path: string): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of path.split(delimiter).filter(Boolean)) {
      const file = join(folder, name);
      if (await access(file, modes.X_OK).then(() => true, () => false)) return file;
    }
  }
  return undefined;
}

function run(path: string, args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: 'inherit', env });
    // Ctrl-C belongs to the client, which cancels a query by it; it reaches the client through the terminal.
    const ignore = () => {};
    process.on('SIGINT', ignore);
    const stop = () => child.kill('SIGTERM');
    process.once('SIGTERM', stop);
    process.once('SIGHUP', stop);
    const over = (settle: () => void) => {
      process.off('SIGINT', ignore).off('SIGTERM', stop).off('SIGHUP', stop);
      settle();
    };
    if (signal.aborted) stop();
    child.once('error', (error) => over(() => reject(new Failure(`cannot start ${path}: ${error.message}`, { cause: error }))));
    child.once('close', (code, killedBy) => over(() => resolve(code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]))));
  });
}
