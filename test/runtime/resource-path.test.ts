import { builtin } from '../../src/kind/resource';
import { collectionPath, objectPath, query } from '../../src/runtime/resource-path';

test('core kinds live under /api, all others under /apis', () => {
  expect(objectPath(builtin.Secret, { namespace: 'shop', name: 'a' })).toBe('/api/v1/namespaces/shop/secrets/a');
  expect(objectPath(builtin.StatefulSet, { namespace: 'shop', name: 'a' }, 'status')).toBe('/apis/apps/v1/namespaces/shop/statefulsets/a/status');
  expect(objectPath(builtin.Node, { name: 'a' })).toBe('/api/v1/nodes/a');
});

test('without a namespace a collection is that of all namespaces', () => {
  expect(collectionPath(builtin.Secret)).toBe('/api/v1/secrets');
});

test('an object without a name is refused, because the path would mean the whole collection', () => {
  expect(() => objectPath(builtin.Secret, { namespace: 'shop', name: '' })).toThrow('Secret (v1) without a name; an empty name would address all of them');
});

test('an object of a namespaced kind without a namespace is refused', () => {
  expect(() => objectPath(builtin.Secret, { name: 'a' })).toThrow('Secret (v1) a without a namespace; its kind lives in namespaces, so name one');
});

test('a namespace for a cluster-scoped kind is refused', () => {
  expect(() => collectionPath(builtin.Node, 'shop')).toThrow('Node (v1) is cluster-scoped, but the namespace shop was named; leave it out');
});

test('names cannot climb out of their place in the path', () => {
  expect(objectPath(builtin.Secret, { namespace: 'a/b', name: '../c?d' })).toBe('/api/v1/namespaces/a%2Fb/secrets/..%2Fc%3Fd');
});

test('a query leaves out what is undefined and quotes the rest', () => {
  expect(query({ a: undefined })).toBe('');
  expect(query({ labelSelector: 'a=b,c', limit: 500, watch: true, x: undefined })).toBe('?labelSelector=a%3Db%2Cc&limit=500&watch=true');
});
