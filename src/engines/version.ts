import type { VersionChange } from './engine';

/** The numbers of a version: `8.4.3-oracle` → [8, 4, 3]. Empty when it begins with none. */
export function versionParts(version: string): number[] {
  const match = /^v?(\d+(?:\.\d+)*)/.exec(version.trim());
  return match?.[1] === undefined ? [] : match[1].split('.').map(Number);
}

/** Below zero when `a` is older than `b`; a part that one of them leaves open counts as equal, as image tags float. */
export function compareVersions(a: string, b: string): number {
  const left = versionParts(a);
  const right = versionParts(b);
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

/** @param series how the engine names the releases that share a format of data directories */
export function versionChange(from: string, to: string, series: (version: string) => string): VersionChange {
  if (from === to) return 'same';
  if (compareVersions(to, from) < 0) return 'downgrade';
  return series(from) === series(to) ? 'minor' : 'major';
}
