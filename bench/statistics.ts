/** Several measurements of one thing. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, min: sorted[0]!, max: sorted[sorted.length - 1]! };
}

/** The median, and the range where there is one: `4.6 (4.4–5.5)`. */
export function spreadText({ median, min, max }: Spread, digits: number): string {
  const text = (value: number): string => value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return text(min) === text(max) ? text(median) : `${text(median)} (${text(min)}–${text(max)})`;
}
