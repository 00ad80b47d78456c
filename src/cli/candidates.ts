import type { Command, Option } from 'commander';
import type { ConnectionFlags } from './connection';

/** What an unfinished word may become. */
export interface Candidates {
  readonly found: readonly string[];
  /** Names of databases are possible too, in the place that these flags name. */
  readonly names?: ConnectionFlags;
}

/** Arguments that are the name of a Database. */
const DATABASE_ARGUMENTS: Readonly<Record<string, true>> = { status: true, backup: true, connect: true };

/** Reads a command line as far as it is typed: all words but the last one are finished. */
export function candidates(root: Command, words: readonly string[]): Candidates {
  const typed = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  const command = root.commands.find((candidate) => candidate.name() === typed[0]);
  const starting = (options: readonly string[]) => options.filter((option) => option.startsWith(last));
  if (command === undefined) {
    if (typed.length > 0) return { found: [] };
    return { found: starting([...root.createHelp().visibleCommands(root).map((visible) => visible.name()), ...flagsOf(root)]) };
  }
  const { flags, plain, open } = read(command, typed.slice(1));
  if (open !== undefined) return { found: starting(open.argChoices ?? []), ...(open.long === '--from' && { names: flags }) };
  if (last.startsWith('-')) return { found: starting(flagsOf(command)) };
  const argument = command.registeredArguments[plain];
  if (argument === undefined) return { found: [] };
  return { found: starting(argument.argChoices ?? []), ...(DATABASE_ARGUMENTS[command.name()] && { names: flags }) };
}

/** Splits finished words into options with their values and plain ones; `open` is an option whose value comes next. */
function read(command: Command, words: readonly string[]): { flags: Record<string, string>; plain: number; open?: Option } {
  const flags: Record<string, string> = {};
  let plain = 0;
  let open: Option | undefined;
  for (const word of words) {
    if (open !== undefined) {
      flags[open.attributeName()] = word;
      open = undefined;
    } else if (word.startsWith('-')) {
      const [name, value] = word.split('=', 2);
      const option = command.options.find(({ long, short }) => long === name || short === name);
      if (option?.required !== true) continue;
      if (value === undefined) open = option;
      else flags[option.attributeName()] = value;
    } else plain += 1;
  }
  return { flags, plain, open };
}

function flagsOf(command: Command): string[] {
  return command.createHelp().visibleOptions(command).flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
}
