import type { Manifest } from './manifest';

/** The engine's counts: a line a table, name and number with a tab between; `-` for a table that can't be compared. */
export function parseCounts(text: string): Map<string, number | undefined> {
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const tab = line.lastIndexOf('\t');
        const count = line.slice(tab + 1);
        return [line.slice(0, tab), count === '-' ? undefined : Number(count)];
      }),
  );
}

/** What a restored server holds that the dump didn't, or the other way round; the first few, in words. */
export function differences(manifest: Pick<Manifest, 'rowsByTable' | 'tables' | 'rows'>, counts: ReadonlyMap<string, number | undefined>): string[] {
  if (manifest.rowsByTable === undefined) {
    const rows = [...counts.values()].reduce<number>((sum, count) => sum + (count ?? 0), 0);
    return rows === manifest.rows ? [] : [`${rows} rows were restored, the dump had ${manifest.rows}`];
  }
  const dumped = new Map(Object.entries(manifest.rowsByTable));
  const found: string[] = [];
  for (const [table, rows] of dumped) {
    if (!counts.has(table)) found.push(`table ${table} is missing`);
    else if (counts.get(table) !== undefined && counts.get(table) !== rows) found.push(`table ${table} has ${counts.get(table)} rows, the dump had ${rows}`);
  }
  for (const [table, rows] of counts) {
    if (!dumped.has(table) && (rows ?? 0) > 0) found.push(`table ${table} has ${rows} rows, the dump had no such table`);
  }
  return found.length > 5 ? [...found.slice(0, 5), `and ${found.length - 5} more`] : found;
}
