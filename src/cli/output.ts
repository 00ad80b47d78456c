import { type Command, Option } from 'commander';
import { stringify } from 'yaml';

/** Formats for programs. */
export type Format = 'json' | 'yaml';

/** Gives a command `-o`. */
export function withOutputFlag(command: Command): Command {
  return command.addOption(new Option('-o, --output <format>', 'print data for programs instead').choices(['json', 'yaml']));
}

/** A value in a format for programs; a list as several YAML documents. */
export function formatted(value: unknown, format: Format): string {
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  return Array.isArray(value) ? value.map(yamlOf).join('---\n') : yamlOf(value);
}

/** A value without what the API server notes about who wrote which field: nobody reads that. */
export function withoutManagedFields<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === 'managedFields' ? undefined : inner))) as T;
}

/** YAML as people write it: no anchors, no folded lines. */
export function yamlOf(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}
