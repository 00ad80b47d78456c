import { Command, CommanderError } from 'commander';
import { packageVersion } from '../kind/package-version';
import { backupCommand } from './backup';
import { completeCommand, completionCommand } from './completion';
import { connectCommand } from './connect';
import { exitCodeOf, explained } from './failure';
import type { Io } from './io';
import { planCommand } from './plan';
import { renderCommand } from './render';
import { restoreCommand } from './restore';
import { runCommand } from './run';
import { statusCommand } from './status';
import { storeCommand } from './store';

/** The whole of `dbop`. Commands load what they need when they are called, so that `--help` is quick. */
export function program(io: Io): Command {
  const dbop = new Command(io.name)
    .description('Databases on Kubernetes as code: the operator, and the tools around it.')
    .version(packageVersion)
    .showHelpAfterError('(add --help for what can be given)')
    // What follows a command is the command's: `--version` of a restore is not ours.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text), getOutHasColors: () => io.color, getErrHasColors: () => false })
    .addHelpText('after', `\nExit codes: 0 done; 1 refused or failed, with the reason on standard error; 2 changes (plan only); 130 interrupted.`);
  const commands = [planCommand, renderCommand, statusCommand, backupCommand, restoreCommand, connectCommand, runCommand, completionCommand];
  for (const command of commands) dbop.addCommand(command(io).copyInheritedSettings(dbop));
  for (const command of [storeCommand(io), completeCommand(io, () => dbop)]) dbop.addCommand(command.copyInheritedSettings(dbop), { hidden: true });
  return dbop;
}

/**
 * Runs one command line.
 * @returns the exit code
 */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  try {
    await program(io).parseAsync(args, { from: 'user' });
    return io.exitCode;
  } catch (error) {
    // Commander has told what was wrong with the command line.
    if (error instanceof CommanderError) return error.exitCode;
    io.err(`${io.name}: ${explained(error)}\n`);
    return exitCodeOf(error);
  }
}
