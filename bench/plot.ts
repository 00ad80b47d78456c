import { measure, type Report, type SubjectReport } from './report';
import type { Spread } from './statistics';

interface Panel {
  readonly title: string;
  readonly digits: number;
  readonly of: (subject: SubjectReport) => Spread | undefined;
}

const panels: readonly Panel[] = [
  { title: 'Cold start, seconds', digits: 1, of: (subject) => measure(subject, 'cold', ({ seconds }) => seconds) },
  { title: 'Cold start, writes', digits: 0, of: (subject) => measure(subject, 'cold', ({ writes }) => writes) },
  { title: 'Cold start, CPU seconds', digits: 2, of: (subject) => measure(subject, 'cold', ({ cpuSeconds }) => cpuSeconds) },
  { title: 'Cold start, peak RSS in MB', digits: 0, of: (subject) => measure(subject, 'cold', ({ peakRssMb }) => peakRssMb) },
  { title: 'Restart, writes', digits: 0, of: (subject) => measure(subject, 'restart', ({ writes }) => writes) },
  { title: 'Change of three children, writes', digits: 0, of: (subject) => measure(subject, 'change', ({ writes }) => writes) },
];

const size = { panel: 330, bar: 18, gap: 8, names: 10, head: 34, margin: 24, columns: 3 };
const colours: Readonly<Record<string, string>> = { ours: '#2563eb', floor: '#94a3b8' };
const otherColour = '#cbd5e1';

/** The report as a picture: one panel a measure, one bar a subject (median), a line from the least to the most measured. */
export function plotOf(report: Report): string {
  const panelHeight = size.head + report.subjects.length * (size.bar + size.gap + size.names + 4);
  const rows = Math.ceil(panels.length / size.columns);
  const width = size.columns * (size.panel + size.margin) + size.margin;
  const height = rows * (panelHeight + size.margin) + 62;
  const drawn = panels.map((panel, index) => {
    const x = size.margin + (index % size.columns) * (size.panel + size.margin);
    const y = 50 + Math.floor(index / size.columns) * (panelHeight + size.margin);
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, report)}</g>`;
  });
  const rounds = Math.max(...report.subjects.map((subject) => subject.rounds.length));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#0f172a">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    label(size.margin, 28, `${report.objects} objects with eight children each; median of ${rounds} rounds, lines from least to most`, 'font-size="14" font-weight="600"'),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function drawPanel({ title, digits, of }: Panel, { subjects }: Report): string {
  const most = Math.max(1e-9, ...subjects.map((subject) => of(subject)?.max ?? 0));
  const length = (value: number): number => Math.round((value / most) * (size.panel - 60) * 10) / 10;
  const bars = subjects.map((subject, index) => {
    const y = size.head + index * (size.bar + size.gap + size.names + 4);
    const spread = of(subject);
    const name = label(0, y - 3, subject.title, 'fill="#475569"');
    if (spread === undefined) return name + label(0, y + 13, '–');
    const middle = y + size.bar / 2;
    const value = spread.median.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return [
      name,
      `<rect x="0" y="${y}" width="${Math.max(1, length(spread.median))}" height="${size.bar}" rx="2" fill="${colours[subject.id] ?? otherColour}"/>`,
      spread.max > spread.min ? `<path d="M${length(spread.min)} ${middle}H${length(spread.max)}" stroke="#0f172a" stroke-width="1.5"/>` : '',
      label(length(spread.max) + 6, y + 13, value, 'font-weight="600"'),
    ].join('');
  });
  return label(0, 10, title, 'font-size="12" font-weight="600"') + bars.join('\n');
}

function label(x: number, y: number, text: string, attributes = ''): string {
  const escaped = text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<text x="${x}" y="${y}"${attributes === '' ? '' : ` ${attributes}`}>${escaped}</text>`;
}
