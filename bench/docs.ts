import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lifeTable, type LifeReport } from './life';
import { neighboursTable, type NeighboursReport } from './neighbours';
import { plotOf } from './plot';
import type { Report } from './report';
import { tablesOf, type TextTable } from './tables';

const folder = join(__dirname, '..', 'docs');
const page = join(folder, 'benchmarks.md');

/** Puts what was measured into the docs: all numbers there come from here, none from a keyboard. */
export function writeDocs(report: Report): void {
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify(report, undefined, 1)}\n`);
  writeFileSync(join(folder, 'bench.svg'), plotOf(report));
  put('measured', measured(report));
}

/** The same for the times of databases, which have a place of their own. */
export function writeLifeDocs(report: LifeReport): void {
  writeFileSync(join(folder, 'bench-life.json'), `${JSON.stringify(report, undefined, 1)}\n`);
  const rounds = Math.max(...Object.values(report.births).map((births) => births.length));
  put('life', [aboutRun(report, rounds), markdown(lifeTable(report))].join('\n\n'));
}

/** The same for databases that have sick neighbours. */
export function writeNeighboursDocs(report: NeighboursReport): void {
  writeFileSync(join(folder, 'bench-neighbours.json'), `${JSON.stringify(report, undefined, 1)}\n`);
  put('neighbours', [aboutRun(report, report.rounds.length), markdown(neighboursTable(report))].join('\n\n'));
}

function put(place: string, text: string): void {
  const [begin, end] = [`<!-- ${place}: begin -->`, `<!-- ${place}: end -->`];
  const before = readFileSync(page, 'utf8');
  const [from, to] = [before.indexOf(begin), before.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} has no place for the numbers; it needs the lines '${begin}' and '${end}'`);
  writeFileSync(page, `${before.slice(0, from + begin.length)}\n${text}\n${before.slice(to)}`);
}

function measured(report: Report): string {
  const rounds = Math.max(0, ...report.subjects.map((subject) => subject.rounds.length));
  return ['![Cold start, restart and change](bench.svg)', aboutRun(report, rounds), ...tablesOf(report).map(markdown)].join('\n\n');
}

function aboutRun({ date, machine }: Pick<Report, 'date' | 'machine'>, rounds: number): string {
  return `${date}: ${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, Node ${machine.node}, ${rounds} rounds; load before the start ${machine.loadBefore.toFixed(1)}. Median, and in brackets the least and the most.`;
}

function markdown({ title, rows }: TextTable): string {
  const [heads = [], ...rest] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [`**${title}**`, '', line(heads), line(heads.map((_, column) => (column === 0 ? '---' : '---:'))), ...rest.map(line)].join('\n');
}
