import { done, stuck, wait, type Outcome } from '../../src/runtime/outcome';
import { mergePatch, statusAfter } from '../../src/runtime/status';

const now = new Date('2026-01-01T00:00:00Z');
const all = new Set(['phase', 'message', 'observedGeneration', 'conditions', 'endpoint']);
const object = (status?: object) => ({ apiVersion: 'example.com/v1', kind: 'Basket', metadata: { name: 'a', generation: 3 }, status });
const ready = (status: string, reason: string, message: string) => [{ type: 'Ready', status, reason, message, observedGeneration: 3, lastTransitionTime: '2026-01-01T00:00:00Z' }];

test.each<[string, Outcome<{ phase?: string }>, object]>([
  ['done', done({ phase: 'Running' }), { phase: 'Running', observedGeneration: 3, conditions: ready('True', 'Ready', 'everything is as the spec asks') }],
  ['done, but', done({ phase: 'Running' }, { message: 'no backup was restored' }), { phase: 'Running', observedGeneration: 3, conditions: ready('True', 'Ready', 'no backup was restored') }],
  ['wait', wait('Starting', 'waiting for pods', { status: { phase: 'Creating' } }), { phase: 'Creating', observedGeneration: 3, conditions: ready('False', 'Starting', 'waiting for pods') }],
  ['stuck', stuck('NoSpace', 'make room'), { observedGeneration: 3, conditions: ready('False', 'NoSpace', 'make room') }],
])('%s says what it means in the status', (_kind, outcome, status) => {
  expect(statusAfter(object(), all, outcome, now)).toEqual(status);
});

test('fields that a pass does not name stay, and undefined removes one', () => {
  const before = { phase: 'Creating', endpoint: 'a:3306', message: 'old' };
  expect(statusAfter(object(before), new Set(['phase', 'endpoint', 'message']), done<{ phase?: string; message?: string }>({ phase: 'Running', message: undefined }), now)).toEqual({ phase: 'Running', endpoint: 'a:3306' });
});

test('only fields that the kind knows are written', () => {
  expect(statusAfter(object(), new Set(['phase']), done<{ phase?: string; extra?: string }>({ phase: 'Running', extra: 'x' }), now)).toEqual({ phase: 'Running' });
});

test('a pass may state conditions of its own, also Ready itself', () => {
  const said = done<{ conditions: object[] }>({ conditions: [{ type: 'BackedUp', status: 'False', reason: 'Never', message: 'no backup yet' }, { type: 'Ready', status: 'Unknown', reason: 'Mine', message: 'mine' }] });
  expect(statusAfter(object(), all, said, now).conditions).toEqual([
    expect.objectContaining({ type: 'Ready', status: 'Unknown', reason: 'Mine', observedGeneration: 3 }),
    expect.objectContaining({ type: 'BackedUp', observedGeneration: 3 }),
  ]);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>, object | undefined]>([
  ['nothing differs', { a: 1, b: { c: [1] } }, { b: { c: [1] }, a: 1 }, undefined],
  ['only undefined differs', { a: { b: 1 } }, { a: { b: 1, c: undefined } }, undefined],
  ['a field is new', {}, { a: 1 }, { a: 1 }],
  ['a field is gone', { a: 1, b: 2 }, { b: 2 }, { a: null }],
  ['a field of a map is gone', { a: { b: 1, c: 2 } }, { a: { c: 2 } }, { a: { b: null } }],
  ['a list differs', { a: [1, 2] }, { a: [1] }, { a: [1] }],
])('the patch when %s', (_what, before, after, patch) => {
  expect(mergePatch(before, after)).toEqual(patch);
});
