import { waitFor } from '../support/wait-for';
import type { Living } from './living';
import { Writer, type WriterStory } from './writer';

/**
 * The end of a database under an application that never stops writing, with every accident on the way: the operator is replaced, the
 * last backup fails, the pod is killed.
 * @param make applies the object that it began with
 */
export function farewellOf(living: Living, story: WriterStory, make: () => Promise<unknown>): void {
  const isGone = () => waitFor(living.cluster, living.at('databases', living.name, 'dbop.dev/v1alpha1'), (seen) => seen === undefined, { what: 'the end', withinMs: 240_000 });
  let acknowledged: number[];
  let final: string;

  it('takes no more writes before its last backup is begun, and stays so when that fails and its pod is killed', async () => {
    const { cluster, namespace, name } = living;
    await living.sql('CREATE TABLE acknowledged (id int)');
    const writer = new Writer(cluster, namespace, 'writer');
    await writer.start(name, story);
    // Only the server knows when the writer is at work.
    while (Number(await living.sql('SELECT count(*) FROM acknowledged')) < 100);
    const closing = living.becomes('the closing', (object) => living.ready(object)?.reason === 'Closing');
    await cluster.kubectl(`delete db ${name} -n ${namespace} --wait=false`);
    expect(living.ready(await closing).message).toContain('applications are shut out before the last backup');
    await living.restartOperator();
    const { metadata } = await living.becomes('the last backup', (object) => living.ready(object)?.reason === 'FinalBackup');
    final = `${name}-final-${metadata.uid.slice(0, 8)}`;
    await cluster.kubectl(`patch job ${final} -n ${namespace} -p '{"spec":{"activeDeadlineSeconds":1}}'`);
    acknowledged = await writer.refused();
    expect(acknowledged.length).toBeGreaterThan(100);
    const failed = await living.becomes('the failure of the last backup', (object) => living.ready(object)?.reason === 'FinalBackupFailed');
    expect(living.ready(failed).message).toMatch(/nothing is deleted, and the server stays closed to applications: .*deadline.*delete Job .* to try again, or set spec.deletionPolicy to Delete/s);
    const pod = await living.podUid();
    await cluster.kubectl(`delete pod ${name}-0 -n ${namespace} --force --grace-period=0`);
    await waitFor(cluster, living.at('pods', `${name}-0`), (seen) => seen !== undefined && seen.metadata.uid !== pod && seen.status?.containerStatuses?.[0]?.ready === true, { what: 'a new pod', withinMs: 90_000 });
    await expect(living.sql('INSERT INTO acknowledged VALUES (0)')).rejects.toThrow(story.refusal);
    await cluster.kubectl(`delete job ${final} -n ${namespace}`);
  }, 400_000);

  it('leaves nothing behind but its backups when the last one is proved', async () => {
    const { cluster, namespace, name } = living;
    await isGone();
    const left = (await cluster.kubectl(`get statefulset,service,secret,configmap,pvc -n ${namespace} -l app.kubernetes.io/instance=${name} -o name`)).trim();
    expect(left).toBe(`persistentvolumeclaim/${name}-backups`);
    // The first try failed; the record tells of the last one.
    await waitFor(cluster, living.at('databasebackups', final, 'dbop.dev/v1alpha1'), (seen) => seen?.status?.phase === 'Succeeded' && seen.status.verified === true, { what: 'the record of the last backup' });
  }, 300_000);

  it('has every row that was ever acknowledged when it is made again, and takes writes', async () => {
    await make();
    const again = await living.becomes('Ready in its second life', living.isReady, 240_000);
    expect(again.status.restored.from).toMatch(/^orders-final-[0-9a-f]{8}$/);
    const restored = new Set((await living.sql('SELECT id FROM acknowledged')).split('\n').map(Number));
    expect(acknowledged.filter((id) => !restored.has(id))).toEqual([]);
    expect(await living.sql('SELECT count(*) FROM notes')).toBe('2');
    await living.sql('INSERT INTO notes VALUES (3, NULL)');
  }, 300_000);

  it('leaves its volume and the passwords that open it when it is to be retained, and takes them up again', async () => {
    const { cluster, namespace, name } = living;
    await living.change({ deletionPolicy: 'Retain' });
    await living.becomes('the new policy', living.isReady);
    await living.sql('INSERT INTO notes VALUES (4, NULL)');
    const claim = await cluster.kubectl(`get pvc data-${name}-0 -n ${namespace} -o jsonpath={.metadata.uid}`);
    await cluster.kubectl(`delete db ${name} -n ${namespace} --timeout=120s`);
    await make();
    await living.becomes('Ready in its third life', living.isReady);
    expect(await cluster.kubectl(`get pvc data-${name}-0 -n ${namespace} -o jsonpath={.metadata.uid}`)).toBe(claim);
    expect(await living.sql('SELECT count(*) FROM notes')).toBe('4');
  }, 300_000);

  it('takes a last backup of its own in each life: one of a former life never passes for it', async () => {
    await living.sql('INSERT INTO notes VALUES (5, NULL)');
    await living.cluster.kubectl(`delete db ${living.name} -n ${living.namespace} --timeout=240s`);
    await make();
    await living.becomes('Ready in its fourth life', living.isReady, 240_000);
    expect(await living.sql('SELECT count(*) FROM notes')).toBe('5');
  }, 500_000);

  it('runs on when its volume is deleted under it, says what to do, comes back by that, and goes with such a pod where no backup is wanted', async () => {
    const { cluster, namespace, name } = living;
    await living.change({ deletionPolicy: 'Delete' });
    await waitFor(cluster, living.at('persistentvolumeclaims', `data-${name}-0`), (seen) => seen?.metadata.labels?.['dbop.dev/protected'] === undefined, { what: 'a volume that anybody may delete' });
    const pod = await living.podUid();
    const rows = await living.sql('SELECT count(*) FROM notes');
    await cluster.kubectl(`delete pvc data-${name}-0 -n ${namespace} --wait=false`);
    const told = await living.becomes('the loss to come', (object) => living.ready(object)?.reason === 'VolumeDeleted');
    expect(living.ready(told).message).toContain('take a backup, then delete the pod');
    expect(await living.sql('SELECT count(*) FROM notes')).toBe(rows);
    // Nobody may put an empty server in its place.
    await waitFor(cluster, living.at('statefulsets', name, 'apps/v1'), (seen) => seen === undefined, { what: 'a pod without a StatefulSet' });
    expect(await living.podUid()).toBe(pod);
    await cluster.apply({ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'rescue', namespace }, spec: { database: name } });
    await waitFor(cluster, living.at('databasebackups', 'rescue', 'dbop.dev/v1alpha1'), (seen) => seen?.status?.phase === 'Succeeded', { what: 'the backup', withinMs: 120_000 });
    await cluster.kubectl(`delete pod ${name}-0 -n ${namespace}`);
    const back = await living.becomes('Ready from the backup', (object) => living.isReady(object) && object.status.restored?.from === 'rescue', 180_000);
    expect(back.status.phase).toBe('Running');
    expect(await living.sql('SELECT count(*) FROM notes')).toBe(rows);
    await cluster.kubectl(`delete pvc data-${name}-0 -n ${namespace} --wait=false`);
    await waitFor(cluster, living.at('statefulsets', name, 'apps/v1'), (seen) => seen === undefined, { what: 'a pod without a StatefulSet again' });
    await cluster.kubectl(`delete db ${name} -n ${namespace} --timeout=120s`);
    expect(await cluster.kubectl(`get pods -n ${namespace} -l app.kubernetes.io/component=server -o name`)).toBe('');
  }, 400_000);
}
