import { builtin, type KubeObject } from '../../src/kind/resource';
import { digestAnnotation, prepared, type Preparation } from '../../src/runtime/manifest';

const owner: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: 'shop', uid: 'the-uid' } };
const as = (own: Preparation['own']): Preparation => ({ manager: 'me', owner, ownerType: builtin.ConfigMap, own });
const config = (metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata } });

test.each<[Preparation['own'], object, number]>([
  ['reference', { 'app.kubernetes.io/managed-by': 'me', 'dbop.dev/owner': 'the-uid' }, 1],
  ['label', { 'app.kubernetes.io/managed-by': 'me', 'dbop.dev/owner': 'the-uid' }, 0],
  ['none', { 'app.kubernetes.io/managed-by': 'me' }, 0],
])("own: '%s' ties a child to its owner by just that", (own, labels, references) => {
  const { metadata } = prepared(config(), builtin.ConfigMap, as(own));
  expect(metadata).toMatchObject({ namespace: 'shop', labels });
  expect(Object.keys(metadata.labels ?? {})).toHaveLength(Object.keys(labels).length);
  expect(metadata.ownerReferences ?? []).toHaveLength(references);
});

test('an owner reference that the garbage collector could not follow is refused', () => {
  expect(() => prepared(config({ namespace: 'other' }), builtin.ConfigMap, as('reference'))).toThrow("ConfigMap 'a' lives in namespace 'other', where an owner reference to ConfigMap 'shop/owner' is invalid; apply it with own: 'label' and remove it in finalize");
  expect(() => prepared({ ...config(), kind: 'PersistentVolume' }, builtin.PersistentVolume, as('reference'))).toThrow(/is cluster-scoped/);
  expect(prepared(config({ namespace: 'other' }), builtin.ConfigMap, as('label')).metadata.namespace).toBe('other');
});

test('a Secret is sent as data, and nothing derived from its data is', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, type: 'Opaque', stringData: { password: 'x' } };
  const result = prepared(secret, builtin.Secret, as('label'));
  expect(result).toMatchObject({ data: { password: 'eA==' } });
  expect(result).not.toHaveProperty('stringData');
  expect(result.metadata.annotations).toBeUndefined();
});

test('what is null or a status is not sent', () => {
  const manifest = { ...config(), spec: { a: null, b: [{ c: null, d: 1 }] }, status: { e: 1 } };
  expect(prepared(manifest, builtin.ConfigMap, as('label'))).toMatchObject({ spec: { b: [{ d: 1 }] } });
  expect(Object.keys(prepared(manifest, builtin.ConfigMap, as('label')))).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
});

test('the digest is that of the wish, however it is spelled', () => {
  const digest = (spec: object): string | undefined => prepared({ ...config(), spec } as KubeObject, builtin.ConfigMap, as('label')).metadata.annotations?.[digestAnnotation];
  expect(digest({ a: 1, resources: { limits: { memory: '1024Mi' } } })).toBe(digest({ resources: { limits: { memory: '1Gi' } }, a: 1 }));
  expect(digest({ a: '1024Mi' })).not.toBe(digest({ a: '1Gi' }));
});
