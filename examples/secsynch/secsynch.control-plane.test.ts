import { operatorOf, type Operator } from '../../test/runtime/example';
import { makeNamespace, removeNamespace } from '../../test/support/test-namespace';
import { waitFor, type AnyObject } from '../../test/support/wait-for';
import { controllers, name, SecSynch } from '.';

jest.setTimeout(60_000);

let operator: Operator;
let targets: string[];
beforeAll(async () => {
  operator = await operatorOf(name, controllers, SecSynch, { everywhere: true });
  targets = [await makeNamespace(operator.cluster), await makeNamespace(operator.cluster)];
}, operatorOf.timeoutMs);
afterAll(async () => {
  await Promise.all(targets.map((namespace) => removeNamespace(operator.cluster, namespace)));
  await operator.end();
});

const source = (word: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shared', namespace: operator.namespace }, stringData: { word } });
const synch = (namespaces: string[]) => ({ apiVersion: 'user.k8sasdb.org/v1', kind: 'SecSynch', metadata: { name: 'shared', namespace: operator.namespace }, spec: { secret: 'shared', namespaces } });
const copy = (namespace: string | undefined, isSo: (object: AnyObject | undefined) => boolean, what: string) =>
  waitFor(operator.cluster, { apiVersion: 'v1', resource: 'secrets', namespace, name: 'shared' }, isSo, { what });
const says = (word: string) => (object: AnyObject | undefined): boolean => object?.data?.word === Buffer.from(word).toString('base64');

test('copies follow their source, stay where they are wanted, and go with the object', async () => {
  const { cluster, namespace } = operator;
  const target = { apiVersion: 'user.k8sasdb.org/v1', resource: 'secsynches', namespace, name: 'shared' };
  await cluster.apply(synch(targets));
  await waitFor(cluster, target, (object) => object?.status?.conditions?.[0]?.reason === 'NoSource', { what: 'waiting for its source' });

  await cluster.apply(source('one'));
  await Promise.all(targets.map((there) => copy(there, says('one'), 'copied')));
  await waitFor(cluster, target, (object) => object?.status?.copies === 2, { what: 'two copies' });

  const { proxy } = operator.rig;
  proxy.forget();
  await cluster.apply(source('two'));
  await Promise.all(targets.map((there) => copy(there, says('two'), 'copied anew')));
  expect(operator.rig.writes()).toEqual(['PATCH secrets/shared', 'PATCH secrets/shared']);

  proxy.forget();
  await cluster.apply({ ...source('unrelated'), metadata: { name: 'another', namespace } });
  await cluster.apply(synch(targets.slice(0, 1)));
  await copy(targets[1], (object) => object === undefined, 'pruned');
  await waitFor(cluster, target, (object) => object?.status?.copies === 1, { what: 'one copy' });
  expect(operator.rig.writes()).toEqual(['DELETE secrets/shared', 'PATCH shared/status']);

  await cluster.kubectl(`delete secsynch shared -n ${namespace}`);
  await copy(targets[0], (object) => object === undefined, 'removed');
  await copy(namespace, says('two'), 'the source, untouched');
});

test('a namespace that is missing is waited for', async () => {
  const { cluster, namespace } = operator;
  const late = `${namespace}-late`;
  await cluster.apply(source('one'), synch([late]));
  await waitFor(cluster, { apiVersion: 'user.k8sasdb.org/v1', resource: 'secsynches', namespace, name: 'shared' }, (object) => object?.status?.conditions?.[0]?.message === `waiting for namespace ${late}`, { what: 'waiting' });
  await cluster.kubectl(`create namespace ${late}`);
  await copy(late, says('one'), 'copied');
  await cluster.kubectl(`delete secsynch shared -n ${namespace}`);
  await removeNamespace(cluster, late);
});
