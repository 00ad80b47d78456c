import type { StageLine } from '../store/progress';

/** Bytes as people read them: 1.2 MiB. */
export function byteText(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** How far a stage is: `dump, 1.2 MiB so far`, `load, 1.2 MiB of 3.4 MiB`. */
export function stageText({ stage, bytes, of }: Pick<StageLine, 'bytes' | 'of'> & { readonly stage: string }): string {
  if (bytes === undefined) return stage;
  return of === undefined ? `${stage}, ${byteText(bytes)} so far` : `${stage}, ${byteText(bytes)} of ${byteText(of)}`;
}
