import { existsSync, statSync } from 'node:fs';
import { Cluster } from '../../cluster/cluster';
import { Daemons } from '../../cluster/daemons';
import { silent } from '../../cluster/progress';
import { describeOfOwn, firstUpTimeoutMs, ownCluster } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { nameInRun } from '../support/test-run';

describeOfOwn('one control plane', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await ownCluster({ nodes: 0 });
  }, firstUpTimeoutMs);

  afterAll(() => cluster.remove());

  test('survives a restart of its API server with all objects', async () => {
    await cluster.kubectl('create configmap kept');
    await cluster.restartApiServer();
    expect(await cluster.kubectl('get configmap kept -o name')).toBe('configmap/kept\n');
  }, 70_000);

  test('is left as it is by up, to the last file that others are reading', async () => {
    const { ino, mtimeMs } = statSync(cluster.kubeconfig);
    await cluster.demandOwn('an up').up(0);
    expect(statSync(cluster.kubeconfig)).toMatchObject({ ino, mtimeMs });
  }, 70_000);

  test('is repaired by up when its processes died', async () => {
    const own = cluster.demandOwn('processes to kill');
    await new Daemons(own.folder.path).stop('etcd', 0);
    await new Daemons(own.folder.path).stop('kube-controller-manager', 0);
    expect(own.status()?.daemons).toMatchObject({ etcd: 'stopped', 'kube-controller-manager': 'stopped' });
    await own.up(0);
    expect(new Set(Object.values(own.status()!.daemons))).toEqual(new Set(['running']));
    expect(await cluster.kubectl('get configmap kept -o name')).toBe('configmap/kept\n');
  }, 70_000);

  test('stands beside another one', async () => {
    const other = await ownCluster({ nodes: 0 });
    try {
      expect((await other.tryKubectl('get configmap kept')).code).toBe(1);
    } finally {
      await other.remove();
    }
    expect(await cluster.kubectl('get configmap kept -o name')).toBe('configmap/kept\n');
  }, 70_000);
});

test('ten times up and down leave no process and no folder', async () => {
  const cluster = new Cluster(nameInRun('ten'), silent);
  for (let round = 0; round < 10; round += 1) {
    await cluster.up(0);
    await cluster.down();
    expect(new Daemons(cluster.folder.path).processes()).toEqual([]);
    expect(existsSync(cluster.folder.path)).toBe(false);
  }
}, 300_000);

test('down of a cluster that never was is no error', async () => {
  await new Cluster(nameInRun('never'), silent).down();
});

test('up after a crash in the middle of up brings a whole cluster', async () => {
  const cluster = new Cluster(nameInRun('crash'), silent);
  await cluster.up(0);
  // What a crash between two starts leaves behind: state and keys, some processes, half a file.
  await new Daemons(cluster.folder.path).stop('kube-apiserver', 0);
  await cluster.up(0);
  expect(cluster.status()?.daemons).toMatchObject({ 'kube-apiserver': 'running' });
  await cluster.down();
}, 70_000);
