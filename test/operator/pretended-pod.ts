import type { BackupFacts, StoreResult } from '../../src/store/result';
import type { TestCluster } from '../support/test-cluster';
import { waitFor, type AnyObject } from '../support/wait-for';

function facts(name: string): BackupFacts {
  const now = new Date().toISOString();
  return { database: 'orders', name, location: `volume:orders/${name}`, engine: 'mysql', serverVersion: '9.7.4', bytes: 10, storedBytes: 5, sha256: 'a'.repeat(64), tables: 1, rows: 2, startedAt: now, completedAt: now, verifiedAt: now };
}

/** What the store of a Job says when its work went well. */
export const wellDone = {
  stored: (name: string, pruned: string[] = []): StoreResult => ({ outcome: 'stored', message: `stored ${name}`, backup: facts(name), pruned }),
  restored: (name: string): StoreResult => ({ outcome: 'restored', message: `restored ${name}`, backup: facts(name) }),
  deleted: (name: string): StoreResult => ({ outcome: 'deleted', message: `${name} is gone` }),
};

/**
 * Ends the pod of a Job with a last word, as a kubelet would, on a cluster that has none: what follows is the Job controller's own.
 * A failure has the exit status that says that another try is pointless, so that the Job fails at once.
 */
export async function endPod(cluster: TestCluster, namespace: string, job: string, word: StoreResult): Promise<AnyObject> {
  const begun = await begin(cluster, namespace, job);
  const pods = await podsOf(cluster, namespace, begun);
  const ended = (name: string, exitCode: number, message?: string) => ({ name, ready: false, restartCount: 0, image: 'x', imageID: '', state: { terminated: { exitCode, message } } });
  const failed = word.outcome === 'failed';
  const status = { phase: failed ? 'Failed' : 'Succeeded', containerStatuses: [ended('engine', failed ? 1 : 0), ended('store', failed ? 3 : 0, JSON.stringify(word))] };
  await cluster.kubectl(`patch pod ${pods[0]!.metadata.name} -n ${namespace} --subresource status --type merge -p '${JSON.stringify({ status }).replaceAll("'", '’')}'`);
  return begun;
}

/** The pods of a Job, once it has one at work. */
export async function podsOfJob(cluster: TestCluster, namespace: string, job: string): Promise<AnyObject[]> {
  return podsOf(cluster, namespace, await begin(cluster, namespace, job));
}

/** Name of the Job that deletes the artifact of a backup, as long as its object is there. */
export async function deletionJob(cluster: TestCluster, namespace: string, backup: string): Promise<string> {
  const uid = await cluster.kubectl(`get dbb ${backup} -n ${namespace} -o jsonpath={.metadata.uid}`);
  return `${backup.slice(0, 47)}-delete-${uid.slice(0, 8)}`;
}

function begin(cluster: TestCluster, namespace: string, name: string): Promise<AnyObject> {
  return waitFor(cluster, { apiVersion: 'batch/v1', resource: 'jobs', namespace, name }, (seen) => seen?.status?.active === 1, { what: 'a pod' });
}

async function podsOf(cluster: TestCluster, namespace: string, job: AnyObject): Promise<AnyObject[]> {
  const selector = encodeURIComponent(`batch.kubernetes.io/controller-uid=${job.metadata.uid}`);
  return (await cluster.api.demand<{ items: AnyObject[] }>('GET', `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`)).items;
}
