import { ClusterFolder } from '../../cluster/cluster-state';
import { fullName } from '../../cluster/images/image-store';
import { LanAddresses } from '../../cluster/network';
import { splitWords } from '../support/words';

test.each([
  ['mysql', 'docker.io/library/mysql:latest'],
  ['mysql:8.0', 'docker.io/library/mysql:8.0'],
  ['team/app:1', 'docker.io/team/app:1'],
  ['registry.k8s.io/pause:3.10', 'registry.k8s.io/pause:3.10'],
  ['localhost/app', 'localhost/app:latest'],
  ['host:5000/app', 'host:5000/app:latest'],
])('the image name %s is completed to %s', (name, full) => {
  expect(fullName(name)).toBe(full);
});

test.each([
  ['get pods -n shop', ['get', 'pods', '-n', 'shop']],
  ['  a   b ', ['a', 'b']],
  [`exec x -- sh -c 'echo "hi there"'`, ['exec', 'x', '--', 'sh', '-c', 'echo "hi there"']],
  [`-l '' x`, ['-l', '', 'x']],
  [`a"b c"d`, ['ab cd']],
])('the command line %j is split as a shell does', (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test('an open quote is an error', () => {
  expect(() => splitWords("echo 'x")).toThrow("a quote is not closed in: echo 'x");
});

test('a cluster is recognised by the machine\'s address in its network', () => {
  expect(LanAddresses.ofHost(new LanAddresses(7).host)?.index).toBe(7);
  expect(LanAddresses.ofHost('127.0.0.1')).toBeUndefined();
});

test.each(['', 'Upper', '-x', 'a_b', 'x'.repeat(21)])('%j is no name for a cluster', (name) => {
  expect(() => new ClusterFolder(name)).toThrow('is no cluster name');
});
