import type { KubeObject } from '../../src/kind/resource';
import { trim, trimmed } from '../../src/runtime/trim';

const object = (): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' },
    managedFields: [
      { manager: 'kubectl', operation: 'Apply' },
      { manager: 'us', operation: 'Apply', fieldsV1: { 'f:data': {} } },
      { manager: 'us', operation: 'Update', subresource: 'status' },
    ],
  },
});

test('only the managed fields of one manager are kept, in all of its entries, as text', () => {
  expect(trim(object(), 'us').metadata.managedFields).toEqual([
    { manager: 'us', operation: 'Apply', fieldsV1: '{"f:data":{}}' },
    { manager: 'us', operation: 'Update', subresource: 'status' },
  ]);
});

test('without a manager of interest no managed fields are kept, not even an empty list', () => {
  expect(trim(object(), undefined).metadata).not.toHaveProperty('managedFields');
  expect(trim(object(), 'somebody').metadata).not.toHaveProperty('managedFields');
});

test("kubectl's copy of the manifest is dropped and other annotations are kept", () => {
  expect(trim(object(), 'us').metadata.annotations).toEqual({ kept: 'yes' });
});

test('the answer to a write is left as it is: its owner may still read it', () => {
  const original = object();
  expect(trimmed(original, undefined).metadata.annotations).toEqual({ kept: 'yes' });
  expect(original).toEqual(object());
});
