import { isReservedAccount } from '../api/reserved-account';
import type { Context } from '../runtime/context';
import { compareQuantities } from '../kind/quantity';
import { builtin } from '../kind/resource';
import { ownerLabel } from '../runtime/manifest';
import { parseResult, type StoreResult } from '../store/result';
import { decoded, readAccounts, type Secret } from './accounts';
import { missingBucketSecret } from './bucket-secrets';
import { claimMarks, confirmedMark, refusedMark, rotationMark } from './children';
import type { Claim } from './claim';
import type { DataClaim, Facts, KnownPasswords, ServerAnswer } from './facts';
import { jobFact, type Job, type JobFact } from './job-fact';
import { isKeptInstead, KEPT } from './kept-data';
import { observeBackups } from './observe-backups';
import { podStory, type Pod, type PodStory } from './pod-story';
import { serviceHost, type DatabasePlan } from './plan';
import type { ServerProbe } from './sql/server-probe';
import type { GivenCertificate } from './tls/certificate';
import { givenCertificate } from './tls/given-certificate';
import { identityNames } from './tls/server-identity';
import { isRolledOut, type Rollout } from './rollout';
import type { SuppliedSecrets } from './supplied-secrets';

/** What looking around needs. */
export interface Senses {
  readonly probe: ServerProbe;
  readonly supplied: SuppliedSecrets;
}

/** Gathers the facts: from the cache, but for the question to the server itself and for Secrets that are not ours. Changes nothing. */
export async function observe(context: Context, plan: DatabasePlan, senses: Senses): Promise<Facts> {
  const { object } = context;
  const accountsObject = context.read<Secret>(builtin.Secret).get(plan.names.accountsSecret);
  const accounts = readAccounts(accountsObject);
  const data = dataClaim(context, plan, context.read<Claim>(builtin.PersistentVolumeClaim).get(plan.names.dataClaim));
  const credentials = ownedBy(data?.account, await applicationCredentials(context, plan, senses.supplied), plan);
  const pod = serverPod(context, plan);
  const configMap = context.read(builtin.ConfigMap).get(plan.names.configMap);
  const facts: Facts = {
    deleting: object.metadata.deletionTimestamp !== undefined,
    known: accounts?.known,
    accountsAreOurs: accountsObject?.metadata.labels?.[ownerLabel] === object.metadata.uid,
    retained: accounts?.retained ?? [],
    wanted: wantedPasswords(plan, accounts?.known, accounts?.staged ?? {}, credentials.password),
    authority: authority(context, plan),
    certificate: await certificate(context, plan, senses.supplied),
    shown: credentials.password,
    username: credentials.username,
    missingSecret: credentials.missing,
    ...workload(context, plan),
    rotated: accountsObject?.metadata.annotations?.[rotationMark],
    data,
    mayHaveBackup: mayHaveBackup(context, plan),
    confirmedParameters: parsed(configMap?.metadata.annotations?.[confirmedMark]),
    refusedParameters: parsed(configMap?.metadata.annotations?.[refusedMark]),
    pod,
    restoreJob: restoreJob(context, plan),
    finalJob: job(context, plan.backup.finalJob),
    lastBackup: lastBackup(context, plan),
    backups: { ...observeBackups(context, plan), missingSecret: await missingBucketSecret(plan.backup.target, context, senses.supplied) },
  };
  return { ...facts, server: await ask(context, plan, facts, senses.probe) };
}

function dataClaim({ object: { metadata } }: Context, plan: DatabasePlan, claim: Claim | undefined): DataClaim | undefined {
  if (claim === undefined) return undefined;
  const marks = claim.metadata.annotations ?? {};
  const data: DataClaim = {
    name: claim.metadata.name,
    uid: claim.metadata.uid ?? '',
    volume: claim.spec?.volumeName,
    going: claim.metadata.deletionTimestamp !== undefined,
    origin: marks[claimMarks.origin],
    originAt: marks[claimMarks.originAt],
    holdsData: marks[claimMarks.holdsData] === 'true',
    version: marks[claimMarks.version],
    answered: marks[claimMarks.answered],
    account: marks[claimMarks.account],
    engine: marks[claimMarks.engine],
    restartedFor: marks[claimMarks.restartedFor],
    ours: claim.metadata.labels?.[ownerLabel] === metadata.uid,
    growing: growing(claim),
  };
  const madeAt = metadata.creationTimestamp;
  return metadata.deletionTimestamp === undefined && isKeptInstead(plan, { ...data, madeAt }) ? { ...data, origin: KEPT, originAt: madeAt } : data;
}

/** Whoever expands volumes says in the claim's conditions what keeps it: a node that must mount it, or a quota of the cloud. */
function growing({ metadata, spec, status }: Claim): string | undefined {
  const [has, wants] = [status?.capacity?.storage, spec?.resources?.requests?.storage];
  if (has === undefined || wants === undefined || compareQuantities(has, wants) >= 0) return undefined;
  const why = (status?.conditions ?? []).filter(({ message, ...condition }) => condition.status === 'True' && message).map(({ message }) => message);
  return [`volume ${metadata.name} is growing from ${has} to ${wants}`, ...why].join(': ');
}

interface Credentials {
  readonly username: string;
  readonly password?: string;
  readonly missing?: string;
}

/** An account that owns the database stays the application's, whatever is asked for: what it owns can't be handed to another. */
function ownedBy(account: string | undefined, asked: Credentials, { application: { suppliedSecret } }: DatabasePlan): Credentials {
  if (account === undefined || (asked.missing === undefined && asked.username === account)) return asked;
  const who = suppliedSecret === undefined ? `the account ${asked.username} is asked for` : `Secret ${suppliedSecret} names the account ${asked.username}`;
  const remedy = suppliedSecret === undefined ? `set credentials to a Secret with the username ${account}` : `set the username in it to ${account}`;
  return { username: account, missing: asked.missing ?? `${who}, but the database belongs to ${account}; ${remedy}` };
}

/** The application's account: from a Secret of the user's, or from ours, which a user may have edited. */
async function applicationCredentials(context: Context, plan: DatabasePlan, supplied: SuppliedSecrets): Promise<Credentials> {
  const { username, suppliedSecret } = plan.application;
  if (suppliedSecret === undefined) {
    const own = context.read<Secret>(builtin.Secret).get(plan.names.applicationSecret);
    return { username, password: own && decoded(own, 'password') };
  }
  const secret = await supplied.get(context.client, { namespace: plan.server.namespace, name: suppliedSecret }, context.signal);
  if (secret === undefined) return { username, missing: `Secret ${suppliedSecret} does not exist; create it with the keys username and password` };
  // The newline at the end of a file that the Secret was made from is not part of it; the server's scripts take it off as well.
  const line = (key: string) => decoded(secret, key)?.replace(/\n+$/, '');
  const given = { username: line('username'), password: line('password') };
  for (const [key, value] of Object.entries(given)) if (!value) return { username, missing: `Secret ${suppliedSecret} has no ${key}; add the key` };
  if (isReservedAccount(given.username!)) return { username, missing: `Secret ${suppliedSecret} names the account ${given.username}, which belongs to the server or to the operator; choose another username` };
  return given as { username: string; password: string };
}

function authority(context: Context, plan: DatabasePlan): string | undefined {
  const secret = context.read<Secret>(builtin.Secret).get(identityNames(plan).server);
  return secret && decoded(secret, 'ca.crt');
}

async function certificate(context: Context, plan: DatabasePlan, supplied: SuppliedSecrets): Promise<GivenCertificate | undefined> {
  const { certificateSecret: name } = plan;
  if (name === undefined) return undefined;
  const secret = await supplied.get(context.client, { namespace: plan.server.namespace, name }, context.signal);
  return givenCertificate(name, secret, serviceHost(plan), new Date(context.clock.now()));
}

/** What should differ from what the server has: staged by a rotation, named by the object, or edited in a Secret. */
function wantedPasswords(plan: DatabasePlan, known: KnownPasswords | undefined, staged: Partial<KnownPasswords>, app: string | undefined): Partial<KnownPasswords> {
  if (known === undefined) return {};
  // An edit that came after the rotation began is newer than what that has chosen.
  const wanted = { ...staged, ...(app && app !== known.app && { app }), ...(plan.rootPassword && { root: plan.rootPassword }) };
  return Object.fromEntries(Object.entries(wanted).filter(([account, password]) => known[account as keyof KnownPasswords] !== password));
}

interface Workload extends Rollout {
  spec?: { template?: { spec?: { containers?: { name: string; image?: string }[] } } };
}

function workload(context: Context, plan: DatabasePlan): Pick<Facts, 'image' | 'rolledOut'> {
  const type = plan.server.workload === 'Deployment' ? builtin.Deployment : builtin.StatefulSet;
  const live = context.read<Workload>(type).get(plan.names.workload);
  return { image: live?.spec?.template?.spec?.containers?.find(({ name }) => name === 'server')?.image, rolledOut: isRolledOut(live) };
}

function mayHaveBackup(context: Context, plan: DatabasePlan): boolean {
  const { target } = plan.backup;
  return target.s3 !== undefined || context.read(builtin.PersistentVolumeClaim).get(target.volume.claimName) !== undefined;
}

/** The pod that serves. Of several (a Deployment's old and new one) the one that isn't going away, then the newest. */
function serverPod(context: Context, plan: DatabasePlan): PodStory | undefined {
  const mine = podsOf(context, plan, 'server').sort(
    (left, right) =>
      Number(left.metadata.deletionTimestamp !== undefined) - Number(right.metadata.deletionTimestamp !== undefined) ||
      (right.metadata.creationTimestamp ?? '').localeCompare(left.metadata.creationTimestamp ?? ''),
  );
  return mine[0] && podStory(mine[0]);
}

/** Pods of one role, by the labels that the constructs give them. */
export function podsOf(context: Context, plan: DatabasePlan, component: 'server' | 'backup' | 'restore'): Pod[] {
  return context
    .read<Pod>(builtin.Pod)
    .list(plan.server.namespace)
    .filter(({ metadata: { labels = {} } }) => labels['app.kubernetes.io/instance'] === plan.server.name && labels['app.kubernetes.io/component'] === component);
}

function job(context: Context, name: string): JobFact<StoreResult> | undefined {
  const found = context.read<Job>(builtin.Job).get(name);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  // A Job that a former object of the same name has left behind says nothing about this one.
  if (found.metadata.labels?.[ownerLabel] !== context.object.metadata.uid) return undefined;
  return jobFact(found, context.read<Pod>(builtin.Pod).list(found.metadata.namespace), parseResult);
}

/** A Job that is older than the volume has filled another one: its word says nothing about this one. */
function restoreJob(context: Context, { names }: DatabasePlan): JobFact<StoreResult> | undefined {
  const made = context.read(builtin.Job).get(names.restoreJob)?.metadata.creationTimestamp;
  const claimed = context.read(builtin.PersistentVolumeClaim).get(names.dataClaim)?.metadata.creationTimestamp;
  return made === undefined || claimed === undefined || made < claimed ? undefined : job(context, names.restoreJob);
}

/** The newest backup that was stored whole, by whichever Job. */
function lastBackup(context: Context, plan: DatabasePlan): Facts['lastBackup'] {
  const stored = podsOf(context, plan, 'backup')
    .flatMap((pod) => (pod.status?.containerStatuses ?? []).map((container) => parseResult(container.state?.terminated?.message ?? '')))
    .flatMap((result) => (result?.outcome === 'stored' ? [result.backup] : []));
  const newest = stored.sort((left, right) => right.completedAt.localeCompare(left.completedAt))[0];
  return newest && { name: newest.name, at: newest.completedAt, verified: newest.verifiedAt !== undefined };
}

async function ask(context: Context, plan: DatabasePlan, facts: Facts, probe: ServerProbe): Promise<ServerAnswer | undefined> {
  // A server that is closed for its last backup lets no application in.
  if (facts.deleting || facts.pod?.ready !== true || facts.known === undefined) return undefined;
  const question = {
    engine: plan.engine.name,
    podUid: facts.pod.uid,
    target: { namespace: plan.server.namespace, host: serviceHost(plan), port: plan.engine.port, pod: facts.pod.name },
    login: { username: facts.username, password: facts.known.app, database: plan.application.database, ca: facts.authority },
  };
  return probe.ask(context.object.metadata.uid ?? '', question, context.signal);
}

function parsed(json: string | undefined): Record<string, string> | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Record<string, string>);
}
