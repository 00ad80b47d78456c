import { Cluster } from '../../cluster/cluster';
import { ClusterFolder } from '../../cluster/cluster-state';
import { isAlive } from '../../cluster/lock';
import { silent } from '../../cluster/progress';

const variable = 'DBOP_TEST_RUN';
const clusterOfRun = /^run-([0-9]+)-/;

/** Marks this process and the workers it will start as one run of the tests. */
export function beginRun(): void {
  process.env[variable] ??= String(process.pid);
}

/** A cluster's name by which it belongs to this run of the tests, and ends with it. */
export function nameInRun(suffix: string): string {
  const run = process.env[variable];
  if (!run) throw new Error(`${variable} is not set: the jest project of this test needs globalSetup test/support/global-setup.ts`);
  return `run-${run}-${suffix}`;
}

/** Removes the clusters of this run, and of runs that were killed before they could. */
export async function removeClusters(ofThisRun: boolean): Promise<void> {
  for (const name of ClusterFolder.names()) {
    const run = clusterOfRun.exec(name)?.[1];
    if (run === undefined) continue;
    const isMine = run === process.env[variable];
    if (isMine ? ofThisRun : !isAlive(Number(run))) await new Cluster(name, silent).down();
  }
}
