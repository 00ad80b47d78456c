import Table from 'cli-table3';
import { createColors } from 'picocolors';
import type { Io } from './io';

/** Rows under a heading, as kubectl prints them: nothing but blanks between columns, so that scripts can cut them. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[], io: Pick<Io, 'color'>): string {
  const { bold } = createColors(io.color);
  return aligned([heading.map((title) => bold(title)), ...rows]);
}

/** Columns without a heading. */
export function aligned(rows: readonly (readonly string[])[], indent = ''): string {
  const drawn = new Table({ chars: NOTHING, style: { 'padding-left': 0, 'padding-right': 3, head: [], border: [] } });
  drawn.push(...rows.map((row) => [...row]));
  return drawn
    .toString()
    .split('\n')
    .map((line) => `${indent}${line}`.trimEnd())
    .join('\n')
    .concat('\n');
}

const NOTHING = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'].map((place) => [place, '']),
);
