import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureInstalled } from '../../cluster/debian';
import { programs } from '../../cluster/programs';
import { silent } from '../../cluster/progress';
import { firstUpTimeoutMs, ownCluster, testOfOwn } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { Session } from './session';
import { pageBlocks, walks } from './walks';

const root = join(__dirname, '..', '..');

/** Of everything that a reader's commands may write. */
const place = mkdtempSync(join(tmpdir(), 'dbop-walk-'));
const checkout = join(place, 'checkout');

let cluster: TestCluster;

beforeAll(async () => {
  // What a clone would have; the packages are there already, as after `npm start`.
  const left = ['node_modules', 'lib', '.git', 'docs/api'].map((name) => join(root, name));
  cpSync(root, checkout, { recursive: true, filter: (file) => !left.includes(file) });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  await ensureInstalled({ mysql: 'mariadb-client-core' }, silent);
  cluster = await ownCluster({ nodes: 1 });
  await cluster.ensureImages('mysql:8.4', 'postgres:15');
  await cluster.kubectl('create namespace shop');
}, firstUpTimeoutMs);

afterAll(async () => {
  await cluster?.remove();
  rmSync(place, { recursive: true, force: true });
}, 120_000);

/** What a reader has before the first line: a shell in the checkout, kubectl and, after the tutorial, dbop. */
async function reader(namespace: string): Promise<Session> {
  const notes = mkdtempSync(join(place, 'notes-'));
  const kubeconfig = join(notes, 'kubeconfig');
  const own = { KUBECONFIG: kubeconfig };
  cpSync(cluster.kubeconfig, kubeconfig);
  await cluster.kubectl(`config set-context --current --namespace=${namespace} --kubeconfig=${kubeconfig}`);
  const { kubectl } = await programs(['kubectl'], silent);
  // Where the tutorial installs the package.
  const bin = join(place, 'acme', 'node_modules', '.bin');
  const DBOP_CLUSTER = cluster.demandOwn('a name').name;
  return new Session(checkout, notes, { ...own, DBOP_CLUSTER, NO_COLOR: '1', PATH: `${bin}:${dirname(kubectl)}:${process.env['PATH']}` });
}

testOfOwn.each(walks)('$page can be followed literally', async ({ page, namespace }) => {
  const session = await reader(namespace);
  for (const block of pageBlocks(page)) await session.follow(block);
}, 900_000);
