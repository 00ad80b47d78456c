import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds from text such as 90s, 30m or 2h. */
export function timeout(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,4})([smh])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) throw new InvalidArgumentError('Write a number with a unit, such as 90s, 30m or 2h.');
  return Number(count) * UNITS[unit]!;
}
