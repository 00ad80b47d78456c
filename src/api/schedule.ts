import { z } from 'zod';
import { withRules } from '../kind/rule';

/** The five fields of a schedule, as CronJobs understand them. */
const fields = [
  { name: 'minute', number: '[0-5]?[0-9]', names: [] },
  { name: 'hour', number: '[01]?[0-9]|2[0-3]', names: [] },
  { name: 'day of the month', number: '0?[1-9]|[12][0-9]|3[01]', names: [] },
  { name: 'month', number: '0?[1-9]|1[0-2]', names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { name: 'day of the week', number: '[0-6]', names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
] as const;

type Field = (typeof fields)[number];

const fivePattern = '^[^ ]+( +[^ ]+){4}$';

/** When something is due: minute, hour, day of the month, month, day of the week. */
export function schedule(description: string) {
  const text = z
    .string()
    .max(256)
    .refine((value) => whyNoSchedule(value) === undefined, { error: (issue) => whyNoSchedule(String(issue.input)) });
  return withRules(
    text,
    { cel: `self.matches('${fivePattern}')`, message: 'must have five fields: minute, hour, day of the month, month and day of the week, such as 0 3 * * *; a CronJob knows no seconds' },
    { cel: `!self.matches('${fivePattern}') || self.matches('^${fields.map(fieldPattern).join(' +')}$')`, message: 'has a field that is out of bounds or no number, range or step' },
  ).describe(description);
}

/** A time zone of the IANA database. */
export function timeZone(description: string) {
  return z
    .string()
    .max(64)
    .regex(/^[A-Z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/, 'is not a time zone; write one such as Europe/Berlin or Etc/UTC')
    .refine(isKnownZone, 'is not a time zone that this machine knows; write one such as Europe/Berlin or Etc/UTC')
    .describe(description);
}

/** A pattern for one field: a list of `*`, a value or a range, each with an optional step. */
function fieldPattern({ number, names }: Field): string {
  const value = names.length === 0 ? `(${number})` : `(${number}|${names.map(anyCase).join('|')})`;
  const item = `([*]|${value}(-${value})?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
}

/** The API server's patterns have no flag for case. */
function anyCase(word: string): string {
  return [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
}

function whyNoSchedule(text: string): string | undefined {
  if (text.startsWith('@')) return 'is a nickname; write the five fields, such as 0 3 * * * for three in the night';
  const parts = text.trim().split(/ +/);
  if (parts.length === 6) return 'has six fields, and a CronJob knows no seconds; drop the first field';
  if (parts.length !== fields.length) return `has ${parts.length} of the five fields; write minute, hour, day of the month, month and day of the week, such as 0 3 * * *`;
  if (text !== text.trim()) return 'begins or ends with a space; remove it';
  return fields.map((field, i) => whyNoField(field, parts[i]!)).find((why) => why !== undefined);
}

function whyNoField(field: Field, part: string): string | undefined {
  if (!new RegExp(`^${fieldPattern(field)}$`).test(part)) return `has '${part}' as its ${field.name}, which is out of bounds or no number, range or step`;
  const backwards = part.split(',').find((item) => runsBackwards(item, field.names));
  return backwards === undefined ? undefined : `has '${backwards}' as its ${field.name}, a range that ends before it begins`;
}

function runsBackwards(item: string, names: readonly string[]): boolean {
  const ends = /^(\w+)-(\w+)/.exec(item);
  if (ends === null) return false;
  // January is 1, Sunday is 0.
  const first = names.length === 12 ? 1 : 0;
  const [from, to] = [ends[1]!, ends[2]!].map((end) => (/^\d/.test(end) ? Number(end) : names.indexOf(end.toLowerCase()) + first));
  return from! > to!;
}

function isKnownZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
