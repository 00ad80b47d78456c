import { Command } from 'commander';
import { VERSION } from '../runtime/version';
import { runCommand } from './run';

/** The whole of `dbop`. Commands load what they need when they are called, so that `--help` is quick. */
export function program(): Command {
  return new Command('dbop')
    .description('Databases on Kubernetes as code: the operator, and the tools around it.')
    .version(VERSION)
    .showHelpAfterError('(add --help for what can be given)')
    .addCommand(runCommand());
}
