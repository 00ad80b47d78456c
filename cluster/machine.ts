import { tryRun } from './command';

/** This machine can't do what is asked; the message says why and what would help. */
class UnsupportedMachine extends Error {
  public constructor(why: string, remedy: string) {
    super(`This machine can't host the test cluster: ${why}; ${remedy}, or name a throw-away cluster (kind, k3d, minikube) in DBOP_TEST_KUBECONFIG.`);
    this.name = 'UnsupportedMachine';
  }
}

/** What is known of a machine before anything is tried on it. */
export interface Machine {
  readonly platform: string;
  readonly isRoot: boolean;
  /** Which of the wanted programs are there. */
  has(program: string): Promise<boolean>;
}

const thisMachine: Machine = {
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  has: async (program) => (await tryRun('which', [program])).code === 0,
};

/** @throws UnsupportedMachine unless a control plane can run here, and, where asked for, nodes too. */
export async function checkMachine(nodes: number, machine: Machine = thisMachine): Promise<void> {
  if (machine.platform !== 'linux') throw new UnsupportedMachine(`it runs ${machine.platform}, not Linux`, 'use a Linux machine');
  if (!(await machine.has('go'))) throw new UnsupportedMachine('Go is not installed', 'install Go 1.24 or newer');
  if (nodes === 0) return;
  if (!machine.isRoot) throw new UnsupportedMachine('nodes need root, and this user is not', 'run as root (sudo -E)');
  if (!(await machine.has('apt-get'))) throw new UnsupportedMachine('it has no apt-get, and nodes and images are made from Debian packages', 'use Debian or Ubuntu');
  for (const program of ['ip', 'unshare', 'nsenter']) {
    if (!(await machine.has(program))) throw new UnsupportedMachine(`'${program}' is not installed`, 'install iproute2 and util-linux');
  }
}
