import { builtin, keyOf, type KubeObject, type ResourceType } from '../kind/resource';
import { ownerLabel } from '../runtime/manifest';
import { accountsSecret, claimMarks, finalBackupJob, isWorkload, serverChildren } from './children';
import { keepSpec, type Claim } from './claim';
import { close } from './closing';
import { isOfOtherEngine, refusal } from './decide';
import type { Facts } from './facts';
import { failureOf, troubleOfJob, type Job } from './job-fact';
import type { Pass, Telling } from './life';
import { podsOf } from './observe';
import type { DatabasePlan } from './plan';

/** The order of removal: nothing may write to a volume that is about to go, and the passwords go last. */
const workloadType = ({ server }: DatabasePlan): ResourceType => (server.workload === 'Deployment' ? builtin.Deployment : builtin.StatefulSet);
const REST: readonly ResourceType[] = [builtin.Service, builtin.ConfigMap, builtin.ServiceAccount, builtin.NetworkPolicy, builtin.Secret];

/** Takes the last backup of a database that is being deleted. Nothing is removed before it is proved. */
export async function finalBackup(pass: Pass): Promise<Telling> {
  const { context, plan, facts, tools } = pass;
  const told = (kind: Telling['kind'], reason: string, message: string): Telling => ({ kind, phase: 'Deleting', reason, message, after: kind === 'wait' ? 5_000 : undefined });
  const job = facts.finalJob;
  if (job?.state === 'running') {
    const trouble = troubleOfJob(context, job);
    if (trouble === undefined) return told('wait', 'FinalBackup', `Job ${job.name} takes the last backup and proves it`);
    return told('wait', 'FinalBackupBlocked', `Job ${job.name} can't take the last backup: ${trouble}. Nothing is deleted until it can, and the server stays closed to applications; mend the cause, or ${plan.wayOut} to delete without a last backup.`);
  }
  if (job?.state === 'succeeded' && job.result === undefined) {
    return told('wait', 'FinalBackup', `Job ${job.name} has ended, but what it has to say can't be read; if this lasts, delete the Job to have the backup taken again`);
  }
  if (job?.state === 'failed' || job?.state === 'succeeded') {
    const why = failureOf(job);
    return told('stuck', 'FinalBackupFailed', `the last backup failed, so nothing is deleted, and the server stays closed to applications: ${why}. Mend the cause and delete Job ${job.name} to try again, or ${plan.wayOut} to delete without it.`);
  }
  // Before the server is closed to applications: nobody knows how long this takes.
  if (facts.backups.missingSecret !== undefined) return told('wait', 'FinalBackupBlocked', `the last backup can't be taken: ${facts.backups.missingSecret}. Nothing is deleted until it can; ${plan.wayOut} to delete without a last backup.`);
  const running = asItRuns(plan, facts);
  const awaited = await close({ ...pass, plan: running });
  if (awaited !== undefined) return awaited;
  if (!(await makeWay(pass, plan.backup.finalJob))) return told('wait', 'FinalBackup', `waits for a former Job ${plan.backup.finalJob} to go`);
  await context.apply(finalBackupJob(running, tools.storeImage, context.object.metadata.uid));
  context.event('Normal', 'FinalBackup', `Job ${plan.backup.finalJob} takes the last backup before the database is deleted`);
  context.audit('final-backup-started', { database: plan.server.name });
  return told('wait', 'FinalBackup', `Job ${plan.backup.finalJob} takes the last backup and proves it`);
}

/** The plan without a change that was refused: it must neither reach the data by the way nor stand in the way of the end. */
function asItRuns(plan: DatabasePlan, facts: Facts): DatabasePlan {
  if (refusal(plan, facts) === undefined || isOfOtherEngine(plan, facts.data)) return plan;
  const { version, image, parameters } = plan.server;
  return { ...plan, server: { ...plan.server, version: facts.data?.version ?? version, image: facts.image ?? image, parameters: facts.confirmedParameters ?? parameters } };
}

/** Removes everything but backups, failed Jobs (for their logs) and, if it is to be retained, the data. */
export async function remove(asked: Pass): Promise<Telling> {
  const pass = { ...asked, plan: asItRuns(asked.plan, asked.facts) };
  const { context, plan, facts } = pass;
  const waits = (message: string, reason = 'Removing'): Telling => ({ kind: 'wait', phase: 'Deleting', reason, message, after: 2_000 });
  const jobs = context.read<Job>(builtin.Job).children().filter((job) => !isKept(job, plan));
  const pods = podsOf(context, plan, 'server');
  const isOrphaned = pods.some(isOrphan);
  if (isOrphaned) await adopt(pass);
  await removeAll(pass, [...(isOrphaned ? [] : childrenOf(pass, workloadType(plan))), ...childrenOf(pass, builtin.CronJob), ...jobs]);
  if (pods.length > 0) return waits(`waits for pod ${pods[0]!.metadata.name} to shut down`);
  const claims = ownClaims(pass);
  if (plan.deletionPolicy === 'Retain') await refuseTerminating(pass);
  await unguard(pass);
  if (plan.deletionPolicy === 'Retain') await release(pass);
  else if (!(await removeAll(pass, claims))) {
    const name = claims[0]?.metadata.name;
    // A reason of its own, so that an Event tells it too: this is where a deletion can hang for ever.
    return waits(`waits for volume ${name} to be given back; whatever pod still uses it must go first: kubectl describe pvc ${name}`, 'VolumeReleasing');
  }
  if (!(await removeAll(pass, [...REST, ...(plan.moreKinds ?? [])].flatMap((type) => childrenOf(pass, type))))) return waits('waits for the last children to go');
  const left = volumeLeft(pass);
  if (left !== undefined) context.event('Warning', 'VolumeLeft', left);
  context.audit('database-removed', { database: plan.server.name, policy: plan.deletionPolicy, finalBackup: facts.finalJob?.name });
  return { kind: 'done', phase: 'Deleting', reason: 'Removed', message: 'everything but the backups is gone' };
}

/** The claims that this database may let go of: what another engine has written is not for it to judge. */
function ownClaims({ context, plan, facts: { data } }: Pass): KubeObject[] {
  const claims = context.read(builtin.PersistentVolumeClaim).children();
  return isOfOtherEngine(plan, data) ? claims.filter(({ metadata }) => metadata.name !== data?.name) : claims;
}

/** What is to be said of a data volume that stays though nobody asked for that. */
function volumeLeft({ plan, facts: { data } }: Pass): string | undefined {
  if (data === undefined) return undefined;
  const left = `volume ${data.name} was left as it was found`;
  if (isOfOtherEngine(plan, data)) return `${left}: it holds the data of a ${data.engine}, and this database was a ${plan.engine.name}`;
  if (plan.deletionPolicy === 'Retain' || data.ours || data.going) return undefined;
  return `${left}: a database before this one made it, and this one never took it up. If its data may go: kubectl delete pvc ${data.name} -n ${plan.server.namespace}`;
}

/** The claim stays, and the passwords that open it, without a mark of their owner: a new object of the same name takes them up. */
async function release({ context, plan, facts }: Pass): Promise<void> {
  const { data, known } = facts;
  if (data === undefined || isOfOtherEngine(plan, data)) return;
  if (known === undefined) return disown(context, plan.names.dataClaim);
  const claims = serverChildren(plan, { running: false, origin: data.origin, originAt: data.originAt, holdsData: data.holdsData, version: data.version, answered: data.answered, released: true }).filter((child) => child.kind === 'PersistentVolumeClaim');
  for (const claim of claims) keepSpec(claim, context.read<Claim>(builtin.PersistentVolumeClaim).get(claim.metadata.name));
  await context.apply([...claims, accountsSecret(plan, known, { retained: facts.retained, staged: facts.wanted, rotation: facts.rotated })], { own: 'none' });
}

/** A claim that may never have been taken up is not made as this spec asks: a field that differs would keep the object for ever. */
async function disown(context: Pass['context'], name: string): Promise<void> {
  const claim = context.read(builtin.PersistentVolumeClaim).get(name);
  if (claim?.metadata.labels?.[ownerLabel] === undefined) return;
  await context.client.patch(builtin.PersistentVolumeClaim, keyOf(claim), { metadata: { uid: claim.metadata.uid, labels: { [ownerLabel]: null, [claimMarks.protected]: null } } });
}

/** A namespace that is being deleted would take what is retained in it: asked before anything is let go. @throws ApiError (isNamespaceTerminating) */
async function refuseTerminating({ context, plan: { server } }: Pass): Promise<void> {
  await context.client.create(builtin.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${server.name}-retained`, namespace: server.namespace } }, { dryRun: true });
}

/** The admission policy would refuse to delete the claims; what stays is no longer the database's. */
async function unguard(pass: Pass): Promise<void> {
  const { context, plan } = pass;
  for (const claim of [...ownClaims(pass), context.read(builtin.PersistentVolumeClaim).get(plan.names.backupClaim)]) {
    if (claim?.metadata.labels?.[claimMarks.protected] === undefined) continue;
    const patch = { metadata: { uid: claim.metadata.uid, labels: { [claimMarks.protected]: null } } };
    await context.client.patch(builtin.PersistentVolumeClaim, keyOf(claim), patch);
  }
}

/** A Job of the same name that belongs to a former object says nothing about this one. @returns whether there is none (any more) */
async function makeWay({ context }: Pass, name: string): Promise<boolean> {
  const former = context.read<Job>(builtin.Job).get(name);
  if (former === undefined || former.metadata.labels?.[ownerLabel] === context.object.metadata.uid) return true;
  return context.remove(former);
}

function childrenOf({ context }: Pass, type: ResourceType): KubeObject[] {
  return context.read(type).children();
}

async function removeAll({ context }: Pass, objects: readonly KubeObject[]): Promise<boolean> {
  const gone = await Promise.all(objects.map((object) => context.remove(object)));
  return gone.every(Boolean);
}

/** Has a pod taken up by a workload that wants none, and so ends it: the operator itself has no right to. */
async function adopt({ context, plan }: Pass): Promise<void> {
  const workload = serverChildren(plan, { running: false, holdsData: false }).filter((child) => isWorkload(child, plan));
  await context.apply(workload, { replaceable: [builtin.StatefulSet] });
}

/** A StatefulSet that was being made anew, or whose volume was deleted, has left its pod to nobody: the garbage collector passes it by. */
function isOrphan({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).length === 0;
}

/** What failed is kept for its logs, unless its pod would hold a volume that is to go; and the last backup, once it is made, for its word. */
function isKept({ metadata, status }: Job, { names, backup, deletionPolicy }: DatabasePlan): boolean {
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  if (metadata.name === names.restoreJob && deletionPolicy !== 'Retain') return false;
  return has('Failed') || (metadata.name === backup.finalJob && has('Complete'));
}
