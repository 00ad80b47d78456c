import { testOfOwn } from '../support/shared-cluster';
import { waitFor, type AnyObject } from '../support/wait-for';
import type { Living } from './living';

/** Versions beside the one that the database was made with. */
export interface Versions {
  /** Of the same series and not older; there is an image of it. */
  readonly next: string;
  /** Of the same series, older than `next`. */
  readonly older: string;
  /** Of another series. */
  readonly major: string;
  /** Of the same series and newer than all others; there is no image of it. */
  readonly missing: string;
}

/** What a living database survives: growth, the death of its container, other versions, changes that can't be carried out. */
export function enduranceOf(living: Living, engine: string, versions: Versions): void {
  const rows = () => living.sql('SELECT count(*) FROM notes');

  it('grows its volume under the running server: the StatefulSet is made anew, the pod is not', async () => {
    const { cluster, namespace, name, at } = living;
    const pod = await living.podUid();
    const before = await cluster.kubectl(`get statefulset ${name} -n ${namespace} -o jsonpath={.metadata.uid}`);
    await living.change({ size: '2Gi' });
    await waitFor(cluster, at('persistentvolumeclaims', `data-${name}-0`), (seen) => seen?.status.capacity.storage === '2Gi', { what: 'a larger volume' });
    const anew = await waitFor(cluster, at('statefulsets', name, 'apps/v1'), (seen) => seen !== undefined && seen.metadata.uid !== before && seen.status.readyReplicas === 1, { what: 'a new StatefulSet that has adopted the pod' });
    expect(anew.spec.volumeClaimTemplates[0].spec.resources.requests.storage).toBe('2Gi');
    expect(anew.status.updateRevision).toBe(anew.status.currentRevision);
    await living.becomes('Ready with a larger volume', living.isReady);
    expect(await living.podUid()).toBe(pod);
  }, 90_000);

  testOfOwn('comes back with its data when its container is killed', async () => {
    const { cluster, namespace, name, at } = living;
    const pod = JSON.parse(await cluster.kubectl(`get pod ${name}-0 -n ${namespace} -o json`)) as { metadata: { uid: string }; spec: { nodeName: string }; status: { containerStatuses: { containerID: string }[] } };
    const node = await cluster.demandOwn('containers that tests may kill').node(pod.spec.nodeName);
    await node.run('ctr', ['--namespace', 'k8s.io', 'task', 'kill', '--signal', 'SIGKILL', pod.status.containerStatuses[0]!.containerID.replace('containerd://', '')]);
    await living.becomes('a server that is down', (object) => living.ready(object)?.status === 'False');
    await waitFor(cluster, at('pods', `${name}-0`), (seen) => seen?.status.containerStatuses[0].restartCount === 1 && seen.status.containerStatuses[0].ready, { what: 'a new container', withinMs: 90_000 });
    await living.becomes('Ready again', living.isReady);
    expect(await living.podUid()).toBe(pod.metadata.uid);
    expect(await rows()).toBe('2');
  }, 180_000);

  it('takes another minor version, and labels and annotations for its pod, in one restart', async () => {
    const { cluster, namespace, name } = living;
    const before = await living.podUid();
    await living.change({ version: versions.next, podLabels: { team: 'shop' }, podAnnotations: { 'example.com/on-call': 'dba' } });
    const { status } = await living.becomes('Ready after the upgrade', living.isReady);
    const pod = JSON.parse(await cluster.kubectl(`get pod ${name}-0 -n ${namespace} -o json`)) as AnyObject;
    expect(pod.metadata.uid).not.toBe(before);
    expect(pod.metadata).toMatchObject({ labels: { team: 'shop' }, annotations: { 'example.com/on-call': 'dba' } });
    expect(pod.spec.containers[0].image).toBe(`${engine}:${versions.next}`);
    expect(await living.sql('SELECT version()')).toContain(status.version);
    expect(await rows()).toBe('2');
    await living.change({ podLabels: null, podAnnotations: null });
    await living.becomes('Ready without labels', living.isReady);
    expect(await cluster.kubectl(`get pod ${name}-0 -n ${namespace} --show-labels`)).not.toContain('team=shop');
  }, 240_000);

  it('refuses an older version and another major one with the reason, and serves on', async () => {
    const pod = await living.podUid();
    const refusal = (why: string) => living.becomes(why, (object) => living.ready(object)?.reason === 'ChangeRefused' && living.ready(object).message.includes(why));
    await living.change({ version: versions.older });
    expect((await refusal(`version ${versions.next} → ${versions.older} is a downgrade`)).status.phase).toBe('Running');
    await living.change({ version: versions.major });
    await refusal(`version ${versions.next} → ${versions.major} is a major upgrade`);
    expect(await rows()).toBe('2');
    await living.change({ version: versions.next });
    await living.becomes('Ready as before', living.isReady);
    expect(await living.podUid()).toBe(pod);
  }, 120_000);

  it('tells of a version whose image cannot be pulled, then of a request that fits no node, and heals when both are corrected', async () => {
    await living.change({ version: versions.missing });
    const unpulled = await living.becomes('the failure', (object) => object.status?.phase === 'Failed');
    expect(living.ready(unpulled).message).toContain(`${engine}:${versions.missing}`);
    await living.change({ version: versions.next, resources: { requests: { cpu: '1000' } } });
    const unplaced = await living.becomes('the wait for a node', (object) => living.ready(object)?.reason === 'Unschedulable');
    expect(unplaced.status.phase).toBe('Failed');
    expect(living.ready(unplaced).message).toContain('Insufficient cpu');
    await living.change({ resources: null });
    await living.becomes('healing', living.isReady);
    expect(await rows()).toBe('2');
  }, 300_000);
}
