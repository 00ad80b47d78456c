import type { KubeObject } from '../../src/kind/resource';
import { ObjectStore } from '../../src/runtime/object-store';

const object = (name: string, teams: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { teams } } });
const teamsOf = ({ metadata }: KubeObject): string[] => metadata.labels?.teams?.split('-') ?? [];
const names = (objects: KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

test('an index finds an object under each of its values, and under the new ones after a change', () => {
  const store = new ObjectStore<KubeObject>();
  store.addIndex('team', teamsOf);
  store.set('a', object('a', 'red-blue'));
  store.set('b', object('b', 'blue'));
  expect([names(store.byIndex('team', 'red')), names(store.byIndex('team', 'blue'))]).toEqual([['a'], ['a', 'b']]);
  store.set('a', object('a', 'green'));
  expect(['red', 'blue', 'green'].map((team) => names(store.byIndex('team', team)))).toEqual([[], ['b'], ['a']]);
});

test('an index hands out the current object though the change did not move it', () => {
  const store = new ObjectStore<KubeObject>();
  store.addIndex('team', teamsOf);
  store.set('a', object('a', 'red'));
  const newer = object('a', 'red');
  store.set('a', newer);
  expect(store.byIndex('team', 'red')[0]).toBe(newer);
});

test('an index that comes later files what is there, and a deleted object is in none', () => {
  const store = new ObjectStore<KubeObject>();
  store.set('a', object('a', 'red'));
  store.addIndex('team', teamsOf);
  expect(names(store.byIndex('team', 'red'))).toEqual(['a']);
  store.delete('a');
  expect(store.byIndex('team', 'red')).toEqual([]);
  expect(store.size).toBe(0);
});

test('an unknown index is an error that names those there are', () => {
  const store = new ObjectStore<KubeObject>();
  store.addIndex('team', teamsOf);
  expect(() => store.byIndex('owner', 'x')).toThrow("no index 'owner'; there are: team");
});
