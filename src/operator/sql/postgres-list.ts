import { SqlError } from './door';

/** Settings whose elements the server quotes one by one, by whether it reads bare ones in small letters: `pg_dump` knows the same list. */
const QUOTED = new Map([
  ['search_path', true],
  ['temp_tablespaces', true],
  ['local_preload_libraries', false],
  ['session_preload_libraries', false],
  ['shared_preload_libraries', false],
  ['unix_socket_directories', false],
]);

/** An element in quotes, in which a quote is doubled, or a bare one; then the comma before the next, or the end. */
const ELEMENT = /\s*(?:"((?:[^"]|"")*)"|([^\s",](?:[^",]*[^\s",])?))\s*(,|$)/y;

/**
 * The elements of a setting, read as the server reads them from its file. ALTER SYSTEM takes one literal for one element: the
 * whole list in a single one would become a single name with commas in it.
 * @throws SqlError `refused` for what the server could not read from its file
 */
export function elementsOf(name: string, value: string): string[] {
  const lowers = QUOTED.get(name.toLowerCase());
  if (lowers === undefined || value.trim() === '') return [value];
  const found: string[] = [];
  ELEMENT.lastIndex = 0;
  for (;;) {
    const [, quoted, bare, then] = ELEMENT.exec(value) ?? [];
    // A bare name ends at a space; a bare path may hold one.
    if (then === undefined || (lowers && /\s/.test(bare ?? ''))) throw new SqlError('refused', `cannot set ${name}: ${JSON.stringify(value)} is no list of names with commas between them`);
    found.push(quoted?.replaceAll('""', '"') ?? (lowers ? bare!.toLowerCase() : bare!));
    if (then === '') return found;
  }
}
