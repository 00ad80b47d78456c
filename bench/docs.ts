import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plotOf } from './plot';
import type { Report } from './report';
import { tablesOf, type TextTable } from './tables';

const folder = join(__dirname, '..', 'docs');
const begin = '<!-- measured: begin -->';
const end = '<!-- measured: end -->';

/** Puts what was measured into the docs: all numbers there come from here, none from a keyboard. */
export function writeDocs(report: Report): void {
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify(report, undefined, 1)}\n`);
  writeFileSync(join(folder, 'bench.svg'), plotOf(report));
  const page = join(folder, 'benchmarks.md');
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} has no place for the numbers; it needs the lines '${begin}' and '${end}'`);
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n${measured(report)}\n${text.slice(to)}`);
}

function measured(report: Report): string {
  const { machine } = report;
  const rounds = Math.max(0, ...report.subjects.map((subject) => subject.rounds.length));
  const about = `${report.date}: ${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, Node ${machine.node}, ${rounds} rounds; load before the start ${machine.loadBefore.toFixed(1)}. Median, and in brackets the least and the most.`;
  return ['![Cold start, restart and change](bench.svg)', about, ...tablesOf(report).map(markdown)].join('\n\n');
}

function markdown({ title, rows }: TextTable): string {
  const [heads = [], ...rest] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [`**${title}**`, '', line(heads), line(heads.map((_, column) => (column === 0 ? '---' : '---:'))), ...rest.map(line)].join('\n');
}
