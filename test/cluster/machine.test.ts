import { type Machine, checkMachine } from '../../cluster/machine';

const debian: Machine = { platform: 'linux', isRoot: true, has: () => Promise.resolve(true) };
const without = (missing: string): Machine => ({ ...debian, has: (program) => Promise.resolve(program !== missing) });

test.each([
  ['macOS', 0, { ...debian, platform: 'darwin' }, 'it runs darwin, not Linux; use a Linux machine'],
  ['no Go', 0, without('go'), 'Go is not installed; install Go 1.24 or newer'],
  ['nodes without root', 1, { ...debian, isRoot: false }, 'nodes need root, and this user is not; run as root (sudo -E)'],
  ['nodes without apt', 2, without('apt-get'), 'use Debian or Ubuntu'],
  ['nodes without namespaces', 1, without('unshare'), "'unshare' is not installed; install iproute2 and util-linux"],
])('%s is refused in one sentence with a remedy', async (_, nodes, machine, words) => {
  await expect(checkMachine(nodes, machine)).rejects.toThrow(words);
  await expect(checkMachine(nodes, machine)).rejects.toThrow(/^This machine can't host the test cluster: [^.]*DBOP_TEST_KUBECONFIG\.$|Go 1\.24/);
});

test('a control plane needs neither root nor Debian', async () => {
  await checkMachine(0, { platform: 'linux', isRoot: false, has: (program) => Promise.resolve(program === 'go') });
});
