import { Argument, Command } from 'commander';
import { candidates } from './candidates';
import { completionScripts, type Shell } from './completion-scripts';
import { withConnection, type ConnectionFlags } from './connection';
import type { Io } from './io';

/** `dbop completion`: a script that teaches a shell our commands, options and the names in the cluster. */
export function completionCommand(io: Io): Command {
  return new Command('completion')
    .description('Print a script that completes commands, options and names of databases.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(completionScripts)))
    .addHelpText(
      'after',
      `
Examples:
  source <(dbop completion bash)                                        # ~/.bashrc
  source <(dbop completion zsh)                                         # ~/.zshrc, after compinit
  dbop completion fish > ~/.config/fish/completions/dbop.fish`,
    )
    .action((shell: Shell) => io.out(completionScripts[shell]));
}

/** What the scripts call: the words so far, the last one unfinished; prints what it may become. */
export function completeCommand(io: Io, root: () => Command): Command {
  return new Command('__complete')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { found, names } = candidates(root(), words);
      const known = names === undefined ? [] : await namesOf(names, io);
      io.out([...found, ...known.filter((name) => name.startsWith(words.at(-1) ?? ''))].map((word) => `${word}\n`).join(''));
    });
}

/** Names of databases. A shell that asks must not be disturbed by a cluster that can't be reached. */
async function namesOf(flags: ConnectionFlags, io: Io): Promise<string[]> {
  const quick = AbortSignal.any([io.signal, AbortSignal.timeout(2_000)]);
  try {
    return await withConnection(flags, io, async ({ client, namespace, database }) => (await client.list(database, { namespace, signal: quick })).items.map(({ metadata }) => metadata.name));
  } catch {
    return [];
  }
}
