import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtin, type KubeObject, type ResourceType } from '../../src/kind/resource';
import { digestAnnotation, prepared } from '../../src/runtime/manifest';
import { matches } from '../../src/runtime/matches';
import { eightChildren, type Manifest } from './children';

/** What the API server made of `eightChildren('orders')`; a control-plane test captures it anew and compares. */
const lives = JSON.parse(readFileSync(join(__dirname, 'fixtures/applied-children.json'), 'utf8')) as KubeObject[];
const manager = 'tester';
const owner: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: 'mf-exp', uid: '00000000-0000-4000-8000-000000000001' } };

/** As deep as tests need to reach into a manifest. */
type Anything = ReturnType<typeof JSON.parse>;

function wanted(name: string, change: (manifest: Anything) => void = () => undefined): KubeObject {
  const manifest = eightChildren('orders').find((child) => address(child) === name) as Manifest;
  change(manifest);
  const type = (builtin as Record<string, ResourceType>)[manifest.kind] as ResourceType;
  return prepared(manifest, type, { manager, owner, ownerType: builtin.ConfigMap, own: 'label', set: 'all' });
}

function live(name: string, change: (object: Anything) => void = () => undefined): KubeObject {
  const object = structuredClone(lives.find((child) => address(child) === name) as KubeObject);
  change(object);
  return object;
}

const address = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;
const server = (statefulSet: Anything): Anything => statefulSet.spec.template.spec.containers[0];
const fields = (object: Anything): Anything => object.metadata.managedFields[0].fieldsV1;

test.each(lives.map(address))('%s needs no request once it is applied', (name) => {
  expect(matches(wanted(name), live(name), manager)).toBe(true);
});

test.each<[string, string, (manifest: Anything) => void]>([
  ['a text that only looks like a quantity', 'ConfigMap/orders', (m) => (m.data.size = '1Gi')],
  ['a new key of a map', 'ConfigMap/orders', (m) => (m.data.more = 'x')],
  ['a key that is gone', 'ConfigMap/orders', (m) => delete m.data.comment],
  ['a secret value', 'Secret/orders', (m) => (m.stringData.password = 'another')],
  ['a label', 'Secret/orders', (m) => (m.metadata.labels = { more: 'x' })],
  ['an annotation', 'Secret/orders', (m) => (m.metadata.annotations = { more: 'x' })],
  ['a selector, which is owned whole', 'Service/orders', (m) => (m.spec.selector = { app: 'others' })],
  ['a port that is gone', 'Service/orders', (m) => m.spec.ports.pop()],
  ['a port of another protocol', 'Service/orders', (m) => (m.spec.ports[2].protocol = 'SCTP')],
  ['a new field of an item of a list', 'Service/orders', (m) => (m.spec.ports[1].targetPort = 5353)],
  ['an image', 'StatefulSet/orders', (m) => (server(m).image = 'example.com/server:2')],
  ['more of a quantity', 'StatefulSet/orders', (m) => (server(m).resources.limits.cpu = '1001m')],
  ['the order of arguments', 'StatefulSet/orders', (m) => server(m).args.reverse()],
  ['a variable that is gone', 'StatefulSet/orders', (m) => server(m).env.pop()],
  ['a field of a value that is owned whole', 'StatefulSet/orders', (m) => (m.spec.template.spec.tolerations[0].effect = 'NoSchedule')],
  ['a security context that is no longer empty', 'StatefulSet/orders', (m) => (m.spec.template.spec.securityContext = { runAsUser: 1 })],
  ['an empty map that is gone', 'StatefulSet/orders', (m) => delete m.spec.template.spec.securityContext],
  ['a larger claim', 'StatefulSet/orders', (m) => (m.spec.volumeClaimTemplates[0].spec.resources.requests.storage = '2Gi')],
  ['a rule that has become wider by leaving a field out', 'NetworkPolicy/orders', (m) => delete m.spec.ingress[0].ports],
  ['an empty selector, which means everybody', 'NetworkPolicy/orders', (m) => (m.spec.ingress[0].from[0].namespaceSelector = {})],
  ['an unlimited number instead of a number', 'PodDisruptionBudget/orders', (m) => (m.spec.maxUnavailable = '1%')],
])('a change of the manifest is seen: %s (%s)', (_what, name, change) => {
  expect(matches(wanted(name, change), live(name), manager)).toBe(false);
});

test.each<[string, string, (manifest: Anything) => void]>([
  ['a quantity in another unit', 'StatefulSet/orders', (m) => (server(m).resources.limits = { cpu: 1, memory: '2Gi' })],
  ['a claim in another unit', 'StatefulSet/orders', (m) => (m.spec.volumeClaimTemplates[0].spec.resources.requests.storage = '1Gi')],
  ['a size limit in another unit', 'StatefulSet/orders', (m) => (m.spec.template.spec.volumes[0].emptyDir.sizeLimit = '1Gi')],
  ['keys in another order', 'StatefulSet/orders', (m) => (m.spec = Object.fromEntries(Object.entries(m.spec).reverse()))],
  ['items with keys in another order', 'Service/orders', (m) => m.spec.ports.reverse()],
  ['a field that is null', 'StatefulSet/orders', (m) => (m.spec.revisionHistoryLimit = null)],
  ['data instead of stringData', 'Secret/orders', (m) => Object.assign(m, { stringData: undefined, data: { password: 'b25seS1hLXRlc3Q=', comment: 'b25l' } })],
  ['empty labels', 'ConfigMap/orders', (m) => (m.metadata.labels = {})],
  ['a status', 'PodDisruptionBudget/orders', (m) => (m.status = { currentHealthy: 1 })],
])('another spelling is no change: %s (%s)', (_what, name, change) => {
  expect(matches(wanted(name, change), live(name), manager)).toBe(true);
});

test.each<[string, string, (object: Anything) => void]>([
  ['somebody took a field, as kubectl scale does', 'StatefulSet/orders', (o) => delete fields(o)['f:spec']['f:replicas']],
  ['somebody took a field of an item', 'StatefulSet/orders', (o) => delete fields(o)['f:spec']['f:template']['f:spec']['f:containers']['k:{"name":"server"}']['f:image']],
  ['somebody took a whole item', 'Service/orders', (o) => delete fields(o)['f:spec']['f:ports']['k:{"port":53,"protocol":"UDP"}']],
  ['we own something that we no longer want', 'ConfigMap/orders', (o) => (fields(o)['f:data']['f:old'] = {})],
  ['we own an item that we no longer want', 'Service/orders', (o) => (fields(o)['f:spec']['f:ports']['k:{"port":99,"protocol":"TCP"}'] = { '.': {}, 'f:port': {} })],
  ['a Secret was changed under our name', 'Secret/orders', (o) => (o.data.password = 'eA==')],
  ['we never applied it', 'ConfigMap/orders', (o) => (o.metadata.managedFields = [])],
  ['only its status is ours', 'ConfigMap/orders', (o) => (o.metadata.managedFields[0].subresource = 'status')],
  ['we once updated it', 'ConfigMap/orders', (o) => (o.metadata.managedFields[0].operation = 'Update')],
  ['another manager applied the same', 'ConfigMap/orders', (o) => (o.metadata.managedFields[0].manager = 'other')],
])('a change of the live object is seen: %s (%s)', (_what, name, change) => {
  expect(matches(wanted(name), live(name, change), manager)).toBe(false);
});

test.each<[string, string, (object: Anything) => void]>([
  ["others' fields", 'ConfigMap/orders', (o) => (o.data.theirs = 'x')],
  ["others' labels", 'StatefulSet/orders', (o) => (o.metadata.labels.theirs = 'x')],
  ["others' containers", 'StatefulSet/orders', (o) => o.spec.template.spec.containers.push({ name: 'sidecar' })],
])('what others own is left to them: %s (%s)', (_what, name, change) => {
  expect(matches(wanted(name), live(name, change), manager)).toBe(true);
});

test('without the digest, defaults inside a value that is owned whole look like fields that are no longer wanted', () => {
  const forget = (object: Anything): void => void delete object.metadata.annotations[digestAnnotation];
  expect(matches(wanted('NetworkPolicy/orders'), live('NetworkPolicy/orders', forget), manager)).toBe(false);
  expect(matches(wanted('Service/orders'), live('Service/orders', forget), manager)).toBe(true);
});

test('lists of plain values that are owned by value may stand in any order', () => {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      finalizers: ['x/theirs', 'x/b', 'x/a'],
      managedFields: [{ manager, operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:metadata': { 'f:finalizers': { 'v:"x/a"': {}, 'v:"x/b"': {} } } } }],
    },
  };
  const manifest = (...finalizers: string[]): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', finalizers } });
  expect(matches(manifest('x/a', 'x/b'), object, manager)).toBe(true);
  expect(matches(manifest('x/a'), object, manager)).toBe(false);
  expect(matches(manifest('x/a', 'x/c'), object, manager)).toBe(false);
});
