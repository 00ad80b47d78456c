import { diffArrays } from 'diff';
import { createColors } from 'picocolors';
import type { Change } from './change';
import { yamlOf } from './output';
import type { PlanReport } from './planning';

/** Unchanged lines shown around changed ones. */
const CONTEXT = 2;

/** Texts of more lines than these are only counted where they are new. */
const LONG_TEXT = 6;

const SIGNS: Readonly<Record<Change['action'], string>> = { create: '+', change: '~', replace: '±', delete: '-', refused: '!', none: ' ' };

/** A plan as people read it: what changes, line by line, each line under the keys that it belongs to. */
export function planText(report: PlanReport, options: { readonly color: boolean }): string {
  const { bold, red, yellow, dim } = createColors(options.color);
  const changes = report.changes.filter(({ action }) => action !== 'none');
  const parts = [`${bold(report.database)}: ${summary(report)}\n`];
  if (report.refused !== undefined) parts.push(`${red('! refused:')} ${report.refused}\n`);
  for (const change of changes) parts.push(`\n${changeText(change, options)}`);
  if (report.notes.length > 0) parts.push(`\n${report.notes.map((note) => `${yellow('*')} ${note}\n`).join('')}`);
  const same = report.changes.length - changes.length;
  if (same > 0 && changes.length > 0) parts.push(`\n${dim(`${same} more ${same === 1 ? 'object stays as it is' : 'objects stay as they are'}`)}\n`);
  return parts.join('');
}

/** One line: how many objects of each fate. */
export function summary(report: PlanReport): string {
  if (report.refused !== undefined) return 'the operator would refuse this';
  const words: [Change['action'], string][] = [['create', 'to create'], ['change', 'to change'], ['replace', 'to replace'], ['delete', 'to delete'], ['refused', 'refused']];
  const counted = words.map(([action, text]) => [report.changes.filter((change) => change.action === action).length, text] as const).filter(([count]) => count > 0);
  return counted.length === 0 ? 'no changes' : counted.map(([count, text]) => `${count} ${text}`).join(', ');
}

function changeText(change: Change, options: { readonly color: boolean }): string {
  const colors = createColors(options.color);
  const paint = { create: colors.green, change: colors.yellow, replace: colors.yellow, delete: colors.red, refused: colors.red, none: colors.dim }[change.action];
  const head = paint(`${SIGNS[change.action]} ${change.kind} ${change.name}`);
  if (change.action === 'refused') return `${head}: ${change.why}\n`;
  if (change.action === 'delete') return `${head}\n`;
  const lines = difference(linesOf(change.before), linesOf(change.before === undefined ? shortened(change.after) : change.after));
  const told = change.action === 'replace' ? ' (a field of it can’t be changed: it is deleted without its pods and made anew)' : '';
  return `${head}${told}\n${kept(lines).map((line) => `  ${painted(line, colors)}\n`).join('')}`;
}

interface Line {
  readonly sign: '+' | '-' | ' ' | '…';
  readonly text: string;
}

function painted({ sign, text }: Line, colors: ReturnType<typeof createColors>): string {
  const line = `${sign} ${text}`.trimEnd();
  return sign === '+' ? colors.green(line) : sign === '-' ? colors.red(line) : colors.dim(line);
}

function difference(before: readonly string[], after: readonly string[]): Line[] {
  return diffArrays([...before], [...after]).flatMap(({ added, removed, value }) => value.map((text): Line => ({ sign: added ? '+' : removed ? '-' : ' ', text })));
}

/** Changed lines, a little around them, and the keys that they stand under: a line of YAML alone says little. */
function kept(lines: readonly Line[]): Line[] {
  const keep = new Set<number>();
  lines.forEach(({ sign, text }, at) => {
    if (sign === ' ') return;
    for (let near = at - CONTEXT; near <= at + CONTEXT; near++) keep.add(near);
    let indent = depth(text);
    for (let above = at - 1; above >= 0 && indent > 0; above--) {
      if (depth(lines[above]!.text) >= indent) continue;
      indent = depth(lines[above]!.text);
      keep.add(above);
    }
  });
  return lines.flatMap((line, at) => {
    if (keep.has(at)) return [line];
    return at > 0 && !keep.has(at - 1) ? [] : [{ sign: '…', text: '' } as const];
  });
}

/** How deep a line of YAML stands; the item of a list counts as deeper than the key that holds it. */
function depth(text: string): number {
  const [blanks] = /^ */.exec(text)!;
  return blanks.length + (text.trimStart().startsWith('- ') ? 1 : 0);
}

function linesOf(object: unknown): string[] {
  return object === undefined ? [] : yamlOf(object).trimEnd().split('\n');
}

/** Scripts and configuration that are new fill pages and are read elsewhere (`dbop render`). */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    const lines = value.trimEnd().split('\n').length;
    return lines > LONG_TEXT ? `(${lines} lines)` : value;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}
