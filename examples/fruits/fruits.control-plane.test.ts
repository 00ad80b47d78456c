import { operatorOf, type Operator } from '../../test/runtime/example';
import { waitFor } from '../../test/support/wait-for';
import { controllers, Fruit, name } from '.';

jest.setTimeout(180_000);

let operator: Operator;
beforeAll(async () => {
  operator = await operatorOf(name, controllers, Fruit);
}, operatorOf.timeoutMs);
afterAll(() => operator.end());

const apple = (spec: object) => ({ apiVersion: 'user.k8sasdb.org/v1', kind: 'Fruit', metadata: { name: 'apple', namespace: operator.namespace }, spec });

test('an apple gets its label, a change reaches it, and both go together', async () => {
  const { cluster, namespace } = operator;
  const label = { apiVersion: 'v1', resource: 'configmaps', namespace, name: 'apple-label' };
  await cluster.apply(apple({ sweetness: false, weight: 100, comment: 'little bit rotten' }));
  await waitFor(cluster, label, (object) => object?.data?.label === 'sour apple (100 g) - little bit rotten', { what: 'labelled' });

  await cluster.apply(apple({ sweetness: true, weight: 120 }));
  await waitFor(cluster, label, (object) => object?.data?.label === 'sweet apple (120 g)', { what: 'labelled anew' });
  await waitFor(cluster, { apiVersion: 'user.k8sasdb.org/v1', resource: 'fruits', namespace, name: 'apple' }, (object) => object?.status?.label === 'sweet apple (120 g)', { what: 'answered' });
  expect(await cluster.kubectl(`get fruit apple -n ${namespace} --no-headers`)).toMatch(/^apple\s+120\s+sweet apple \(120 g\)/);

  await cluster.kubectl(`delete fruit apple -n ${namespace}`);
  // The garbage collector halts for half a minute whenever a definition goes, also one of another test.
  await waitFor(cluster, label, (object) => object === undefined, { what: 'collected', withinMs: 120_000 });
});

test('a wrong type is refused by the API server with the name of the field', async () => {
  const { stderr } = await operator.cluster.tryKubectl('apply -f -', JSON.stringify(apple({ weight: 'heavy' })));
  expect(stderr).toMatch(/spec\.weight.*must be of type integer/);
});
