import type { KubeObject } from '../../src/kind/resource';
import { isSignificant } from '../../src/runtime/significance';

const object = (metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'a', namespace: 'shop', uid: '1', generation: 2, labels: { app: 'a' }, ...metadata },
});

test('a change that leaves generation and metadata alone is one of the status', () => {
  expect(isSignificant(object(), object({ resourceVersion: '9' }))).toBe(false);
});

test.each<[string, Partial<KubeObject['metadata']>]>([
  ['the spec', { generation: 3 }],
  ['the object itself, by another of the same name', { uid: '2' }],
  ['its deletion', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['labels', { labels: { app: 'b' } }],
  ['annotations', { annotations: { note: 'x' } }],
  ['finalizers', { finalizers: ['example.com/x'] }],
  ['owners', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '3' }] }],
])('a change of %s is significant', (_, change) => {
  expect(isSignificant(object(), object(change))).toBe(true);
});

test('of a kind without a generation every change is significant', () => {
  expect(isSignificant(object({ generation: undefined }), object({ generation: undefined }))).toBe(true);
});
