import { expired, factsOf, type Manifest, newestGood } from '../../src/store/manifest';
import { parseResult, resultText } from '../../src/store/result';

const now = new Date('2026-03-31T00:00:00Z');
const day = (age: number) => new Date(now.getTime() - age * 24 * 3600 * 1000).toISOString();
const backup = (name: string, age: number, more: Partial<Manifest> = {}): Manifest => ({
  format: 1, artifact: 'dump-00000000.sql.gz', database: 'shop', name, engine: 'mysql', serverVersion: '8.4.3', compression: 'gzip', bytes: 1, storedBytes: 1, sha256: '', tables: 0, rows: 0, startedAt: day(age), completedAt: day(age), ...more,
});
const bad = { verificationFailure: 'differs' };

describe('retention', () => {
  const four = [backup('d', 0), backup('c', 1), backup('b', 10), backup('a', 20)];

  test.each([
    ['nothing without bounds', four, {}, []],
    ['what is beyond the count', four, { count: 2 }, ['b', 'a']],
    ['what is too old', four, { days: 5 }, ['b', 'a']],
    ['only what neither bound keeps', four, { count: 1, days: 15 }, ['a']],
    ['never the last good one, however old', [backup('a', 400)], { days: 1 }, []],
    ['never the last good one for the sake of a newer bad one', [backup('b', 0, bad), backup('a', 400)], { count: 1 }, ['b']],
    ['never the last verified one for the sake of newer unverified ones', [backup('c', 0), backup('b', 1), backup('a', 9, { verifiedAt: day(9) })], { count: 1 }, ['b']],
  ])('removes %s', (_what, manifests, retention, gone) => {
    expect(expired(manifests, retention, now)).toEqual(gone);
  });
});

test('the newest good backup is the newest that did not fail its verification', () => {
  expect(newestGood([backup('a', 3), backup('c', 1, bad), backup('b', 2)])?.name).toBe('b');
  expect(newestGood([backup('c', 1, bad)])).toBeUndefined();
});

describe('the termination message', () => {
  test('is read back as it was written, and nothing else is read', () => {
    const result = { outcome: 'none', message: 'nothing there' } as const;
    expect(parseResult(resultText(result))).toEqual(result);
    for (const foreign of ['', 'panic: x', '{}', '{"outcome":"great"}', '[]', 'null']) expect(parseResult(foreign)).toBeUndefined();
  });

  test('is whole JSON within 4 KiB whatever happened', () => {
    const text = resultText({ outcome: 'failed', reason: 'DumpFailed', message: 'ü'.repeat(10_000) });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    expect(parseResult(text)).toMatchObject({ outcome: 'failed', reason: 'DumpFailed' });
    const facts = factsOf(backup('a', 1, { position: 'x'.repeat(9000) }), 'volume:a');
    const stored = resultText({ outcome: 'stored', message: 'm', backup: facts, pruned: Array.from({ length: 900 }, (_, index) => `backup-${index}`) });
    expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(4096);
    expect(parseResult(stored)).toMatchObject({ outcome: 'stored', backup: { name: 'a' } });
  });
});
