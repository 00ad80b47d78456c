import type { Condition } from '../../src/kind/resource';
import { withConditions } from '../../src/runtime/conditions';

const early = new Date('2026-01-01T00:00:00.123Z');
const late = new Date('2026-01-02T00:00:00Z');
const ready = { type: 'Ready', status: 'False', reason: 'Starting', message: 'waiting', observedGeneration: 1 } as const;
const before: Condition[] = [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }];

test('a first condition gets the present time, without fractions', () => {
  expect(withConditions(undefined, [ready], early)).toEqual(before);
});

test('another reason or message of the same status keeps the time of the last transition', () => {
  expect(withConditions(before, [{ ...ready, reason: 'Restoring', message: 'else', observedGeneration: 2 }], late)).toEqual([
    { ...ready, reason: 'Restoring', message: 'else', observedGeneration: 2, lastTransitionTime: '2026-01-01T00:00:00Z' },
  ]);
});

test('another status moves the time', () => {
  expect(withConditions(before, [{ ...ready, status: 'True' }], late)[0]?.lastTransitionTime).toBe('2026-01-02T00:00:00Z');
});

test('when nothing differs, the very same list comes back', () => {
  expect(withConditions(before, [{ ...ready }], late)).toBe(before);
});

test('Ready stands first, and conditions of others stay', () => {
  const theirs: Condition = { type: 'Audited', status: 'True', reason: 'Yes', message: '', lastTransitionTime: '2025-01-01T00:00:00Z' };
  expect(withConditions([theirs], [ready], early).map(({ type }) => type)).toEqual(['Ready', 'Audited']);
});
