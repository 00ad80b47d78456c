import { measure, timesFloor, type Report, type SubjectReport } from './report';
import { spreadOf, spreadText, type Spread } from './statistics';

/** Rows of text, the first one being the heads. */
export interface TextTable {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

/** A report as tables, for the terminal and for the docs alike. */
export function tablesOf(report: Report): TextTable[] {
  const tables: TextTable[] = [];
  if (report.subjects.length > 0) tables.push(coldTable(report), laterTable(report));
  if (report.subjects.some(({ ready }) => ready.length > 0)) tables.push(readyTable(report));
  if (report.memory.length > 0) tables.push(memoryTable(report));
  if (report.render !== undefined) tables.push(renderTable(report.render));
  return tables;
}

function coldTable(report: Report): TextTable {
  const rows = report.subjects.map((subject) => [
    subject.title,
    text(measure(subject, 'cold', ({ seconds }) => seconds), 1),
    text(timesFloor(report, subject), 2),
    text(measure(subject, 'cold', ({ writes }) => writes), 0),
    text(measure(subject, 'cold', ({ cpuSeconds }) => cpuSeconds), 2),
    text(measure(subject, 'cold', ({ peakRssMb }) => peakRssMb), 0),
  ]);
  return { title: `Cold start: ${report.objects} objects, eight children each`, rows: [['', 'seconds', 'times the floor', 'writes', 'CPU s', 'peak RSS MB'], ...rows] };
}

function laterTable(report: Report): TextTable {
  const rows = report.subjects
    .filter(({ rounds }) => rounds.some(({ restart }) => restart !== undefined))
    .map((subject) => [
      subject.title,
      text(measure(subject, 'restart', ({ writes }) => writes), 0),
      text(measure(subject, 'restart', ({ cpuSeconds }) => cpuSeconds), 2),
      text(measure(subject, 'idle', ({ writes }) => writes), 0),
      text(measure(subject, 'idle', ({ cpuSeconds }) => cpuSeconds), 2),
      text(measure(subject, 'change', ({ seconds }) => seconds), 1),
      text(measure(subject, 'change', ({ writes }) => writes), 0),
      text(measure(subject, 'change', ({ cpuSeconds }) => cpuSeconds), 2),
    ]);
  const heads = ['', 'restart: writes', 'CPU s', `idle ${report.idleSeconds} s: writes`, 'CPU s', 'change: seconds', 'writes', 'CPU s'];
  return { title: 'Restart over unchanged objects, idling, and a change that touches three of the eight children', rows: [heads, ...rows] };
}

function readyTable(report: Report): TextTable {
  const rows = report.subjects.filter(({ ready }) => ready.length > 0).map(({ title, ready }: SubjectReport) => [title, text(spreadOf(ready), 2)]);
  return { title: 'From process start to /readyz over an empty namespace', rows: [['', 'seconds'], ...rows] };
}

function memoryTable({ memory }: Report): TextTable {
  const rows = memory.map(({ objects, cold }) => [objects, cold.peakRssMb, cold.seconds, cold.writes, cold.cpuSeconds].map((value, column) => text(spreadOf([value]), [0, 0, 1, 0, 2][column] ?? 0)));
  return { title: 'Our runtime by number of objects (cold start)', rows: [['objects', 'peak RSS MB', 'seconds', 'writes', 'CPU s'], ...rows] };
}

function renderTable(render: NonNullable<Report['render']>): TextTable {
  return {
    title: 'Rendering, in milliseconds a child',
    rows: [['', 'children', 'ms a child'], ...render.map(({ what, children, msPerChild }) => [what, String(children), text(spreadOf(msPerChild), 3)])],
  };
}

function text(spread: Spread | undefined, digits: number): string {
  return spread === undefined ? '–' : spreadText(spread, digits);
}
