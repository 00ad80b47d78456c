const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** How long ago a moment was, as kubectl writes it: 45s, 12m, 3h, 4d. */
export function age(since: string | undefined, now: number): string {
  if (since === undefined) return '';
  return duration(now - Date.parse(since));
}

/** Milliseconds in words of the same kind. */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  // Two of a unit before it is used: "90s" says more than "1m".
  for (const [unit, size] of UNITS) if (seconds >= 2 * size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}
