import { ApiObject, type Chart } from 'cdk8s';
import { BackupVolume } from '../constructs/backup-volume';
import { protectedLabel } from '../constructs/deletion-protection';
import { DatabaseServer } from '../constructs/database-server';
import { RestoreJob } from '../constructs/restore-job';
import { BackupJob } from '../constructs/backup-job';
import type { KubeObject } from '../kind/resource';
import { render } from '../runtime/render';
import { accountsData, encoded } from './accounts';
import type { KnownPasswords } from './facts';
import { renderedPods } from './kept-pods';
import { identityData, identityNames, type ServerIdentity } from './tls/server-identity';
import { serviceHost, type DatabasePlan } from './plan';

/** What the volume remembers about itself: it outlives pods, Secrets and even the object that asked for it. */
export const claimMarks = {
  /** `empty`, `kept`, or the backup that it was filled from. */
  origin: 'dbop.dev/origin',
  /** When that was settled. */
  originAt: 'dbop.dev/origin-at',
  /** A server was ready on it. */
  holdsData: 'dbop.dev/holds-data',
  /** Version, as the spec names it, of the server that last answered from it. */
  version: 'dbop.dev/version',
  /** What that server called itself: the spec may leave the last numbers open. */
  answered: 'dbop.dev/answered-version',
  /** The application's account, which owns the database in it. */
  account: 'dbop.dev/account',
  /** Engine that its data is of. A claim of a release before this mark has none. */
  engine: 'dbop.dev/engine',
  /** Why its pods were last restarted although nothing in them changed: the annotation of their template, which a workload that is made anew must have again. */
  restartedFor: 'dbop.dev/restarted-for',
  /** Label; the admission policy refuses to delete a claim that carries it. */
  protected: protectedLabel,
} as const;

/** Annotation of the ConfigMap: the parameters that the running server has confirmed, as JSON. */
export const confirmedMark = 'dbop.dev/confirmed-parameters';

/** Annotation of the ConfigMap: the values that the running server has refused, as JSON. */
export const refusedMark = 'dbop.dev/refused-parameters';

/** Annotation of the accounts Secret: the rotation that was last asked for. */
export const rotationMark = 'dbop.dev/rotation';

/** Annotation of a restore Job: which backup it was made to look for, as JSON. */
export const wishMark = 'dbop.dev/restore-wish';

/** What a pass has found out and the children must show. */
export interface ServerState {
  readonly running: boolean;
  /** Applications are shut out, for the last backup. @default false */
  readonly closed?: boolean;
  readonly origin?: string;
  readonly originAt?: string;
  readonly holdsData: boolean;
  /** The version that last answered from the volume. @default none has yet */
  readonly version?: string;
  /** What it called itself. @default none has yet */
  readonly answered?: string;
  /** The application's account, once a server has let it in. @default none has yet */
  readonly account?: string;
  /** @default those of the plan: a server that starts reads them from its file */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
  /** Those that the running server is known to have. @default the same */
  readonly confirmed?: Readonly<Record<string, string>>;
  /** Values that it has refused. @default none */
  readonly refused?: Readonly<Record<string, string>>;
  readonly restartToken?: string;
  /** The volume outlives the database and is nobody's to guard. @default false */
  readonly released?: boolean;
}

/** Everything of a database but its Secrets and its backup volume, through the same construct that `cdk8s synth` uses. */
export function serverChildren(plan: DatabasePlan, state: ServerState): KubeObject[] {
  const parameters = state.parameters ?? plan.server.parameters ?? {};
  const podAnnotations = { ...plan.server.podAnnotations, ...(state.restartToken && { [claimMarks.restartedFor]: state.restartToken }) };
  // A server that sleeps can't be backed up, and a run that fails every night would hide one that matters.
  const backup = plan.server.backup && { ...plan.server.backup, schedule: { ...plan.server.backup.schedule, suspended: !state.running } };
  const props = { ...plan.server, backup, parameters, podAnnotations, names: plan.names, running: state.running, closed: state.closed, tlsSecret: identityNames(plan).server };
  const children = render((chart) => {
    new DatabaseServer(chart, 'server', props);
    plan.more?.(chart);
  });
  const workload = children.find((child) => isWorkload(child, plan));
  for (const child of children) {
    if (child.kind === 'PersistentVolumeClaim') markClaim(child, plan, state);
    if (child.kind === 'ConfigMap') markConfig(child, parameters, state);
    if (workload !== undefined && isDataClaim(child, plan)) annotate(child, renderedPods(workload, props));
  }
  return children;
}

/** Whether a child is what the server's pods are made by. */
export function isWorkload(child: KubeObject, plan: DatabasePlan): boolean {
  return child.kind === (plan.server.workload ?? 'StatefulSet') && child.metadata.name === plan.names.workload;
}

/** Whether a child is what the server's data rests on. */
export function isDataClaim(child: KubeObject, plan: DatabasePlan): boolean {
  return child.kind === 'PersistentVolumeClaim' && child.metadata.name === plan.names.dataClaim;
}

/** The passwords that the server has: mounted by its pods, read by backups, never by applications. */
export function accountsSecret(plan: DatabasePlan, known: KnownPasswords, more: { retained?: readonly string[]; staged?: Partial<KnownPasswords>; rotation?: string } = {}): KubeObject {
  return secret(plan, plan.names.accountsSecret, accountsData(known, more.retained, more.staged), more.rotation === undefined ? {} : { [rotationMark]: more.rotation });
}

/**
 * What an application connects by, in the keys that others' users already know.
 * @param trust PEM of the authorities that the server's certificate may come from
 */
export function applicationSecret(plan: DatabasePlan, username: string, password: string, trust: string): KubeObject {
  const endpoint = { host: serviceHost(plan), port: plan.engine.port, username, password, database: plan.application.database };
  const { uri, jdbcUrl } = plan.engine.connectionStrings(endpoint);
  const values = { ...endpoint, port: String(endpoint.port), uri, 'jdbc-url': jdbcUrl, 'ca.crt': trust };
  return secret(plan, plan.names.applicationSecret, Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encoded(value)])));
}

/** The Secrets by which the server proves who it is. */
export function identitySecrets(plan: DatabasePlan, identity: ServerIdentity): KubeObject[] {
  const names = identityNames(plan);
  const data = identityData(identity);
  return [...(data.authority === undefined ? [] : [secret(plan, names.authority, data.authority)]), secret(plan, names.server, data.server)];
}

/** Where backups rest, where the database has a place of its own: it outlives the database. */
export function backupVolume(plan: DatabasePlan): KubeObject[] {
  const { volume, target, more } = plan.backup;
  const { name, namespace, labels } = plan.server;
  const children = render((chart) => {
    if (volume !== undefined && target.volume !== undefined) {
      new BackupVolume(chart, 'backups', { ...volume, labels: { ...labels, 'app.kubernetes.io/instance': name }, name: target.volume.claimName, namespace });
    }
    more?.(chart);
  });
  for (const child of children) if (child.kind === 'PersistentVolumeClaim') guard(child, plan);
  return children;
}

/** The Job that fills the data volume before the server may start. */
export function restoreJob(plan: DatabasePlan, storeImage: string): KubeObject[] {
  const job = render((chart) => new RestoreJob(chart, 'restore', { ...jobProps(plan, storeImage), target: plan.restore.target ?? plan.backup.target, from: plan.restore.from, required: plan.restore.policy === 'Required', openFolder: plan.server.data.openFolder }));
  for (const child of job) annotate(child, { [wishMark]: restoreWish(plan) });
  return job;
}

/** What a restore Job is made for: one that was made for another says nothing about this. */
export function restoreWish({ restore, backup }: DatabasePlan): string {
  return JSON.stringify({ from: restore.from, target: restore.target ?? backup.target, required: restore.policy === 'Required' });
}

/** The Job that takes the last backup. It is always verified: what it read is about to be deleted. */
export function finalBackupJob(plan: DatabasePlan, storeImage: string, run: string | undefined): KubeObject[] {
  return backupJob(plan, storeImage, { name: plan.backup.finalJob, backupName: plan.backup.finalBackup, run, verify: true });
}

/** A Job that takes one backup now. Whoever asked for it is the run: a Job of his that was deleted may be followed by another. */
export function backupJob(plan: DatabasePlan, storeImage: string, job: { name: string; backupName?: string; run: string | undefined; verify: boolean }): KubeObject[] {
  return render((chart) => new BackupJob(chart, 'backup', { ...jobProps(plan, storeImage), ...job, retention: plan.backup.retention }));
}

function jobProps(plan: DatabasePlan, storeImage: string) {
  const { name: database, namespace, engine, version, image, labels, scheduling, imagePullSecrets } = plan.server;
  return { database, namespace, engine, version, image, labels, scheduling, imagePullSecrets, storeImage, target: plan.backup.target, names: plan.names };
}

function markConfig(config: KubeObject, parameters: object, { confirmed, refused = {} }: ServerState): void {
  annotate(config, { [confirmedMark]: JSON.stringify(confirmed ?? parameters), ...(Object.keys(refused).length > 0 && { [refusedMark]: JSON.stringify(refused) }) });
}

function markClaim(claim: KubeObject, plan: DatabasePlan, state: ServerState): void {
  annotate(claim, {
    ...(state.origin !== undefined && { [claimMarks.origin]: state.origin }),
    ...(state.originAt !== undefined && { [claimMarks.originAt]: state.originAt }),
    ...(state.holdsData && { [claimMarks.holdsData]: 'true' }),
    ...(state.version !== undefined && { [claimMarks.version]: state.version }),
    ...(state.answered !== undefined && { [claimMarks.answered]: state.answered }),
    ...(state.account !== undefined && { [claimMarks.account]: state.account }),
    ...(state.restartToken !== undefined && { [claimMarks.restartedFor]: state.restartToken }),
    [claimMarks.engine]: plan.engine.name,
  });
  if (state.released !== true) guard(claim, plan);
}

/** While the database is there, none but it lets its volumes go, whoever deletes the namespace around them. */
function guard(claim: KubeObject, plan: DatabasePlan): void {
  if (plan.protected || plan.deletionPolicy !== 'Delete') claim.metadata.labels = { ...claim.metadata.labels, [claimMarks.protected]: 'true' };
}

function annotate(object: KubeObject, annotations: Record<string, string>): void {
  object.metadata.annotations = { ...object.metadata.annotations, ...annotations };
}

function secret(plan: DatabasePlan, name: string, data: Record<string, string>, annotations: Record<string, string> = {}): KubeObject {
  const [rendered] = render((chart: Chart) => new ApiObject(chart, 'secret', { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: plan.server.namespace, labels: { ...plan.server.labels, 'app.kubernetes.io/instance': plan.server.name }, annotations }, type: 'Opaque', data }));
  return rendered!;
}
