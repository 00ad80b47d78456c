import { builtin, type KubeObject } from '../kind/resource';
import { ApiError, isNotFound } from '../runtime/api-error';
import { Terminal } from '../runtime/outcome';
import { isImmutable } from '../runtime/refusal';
import { readAccounts, type Secret } from './accounts';
import { accountsSecret, applicationSecret, backupVolume, identitySecrets, isDataClaim, isWorkload, serverChildren, type ServerState } from './children';
import { fitSize, keepSpec, type Claim } from './claim';
import type { Facts, KnownPasswords } from './facts';
import { notRestored } from './kept-data';
import { keepPods } from './kept-pods';
import type { Pass } from './life';
import type { DatabasePlan } from './plan';
import { startParameters, stillRefused } from './refused-parameters';
import { isRolledOut } from './rollout';
import { serverIdentity } from './tls/server-identity';

/**
 * Makes the children be as the plan wants them: passwords first, because pods mount them, then all the rest at once.
 *
 * Guarantees: passwords that a server may already have are never replaced by new ones.
 */
export async function applyServer(pass: Pass, state: Partial<ServerState> & Pick<ServerState, 'running'>): Promise<AppliedServer> {
  const { context, plan, facts } = pass;
  const known = await accounts(pass);
  const identity = serverIdentity(pass);
  const application = applicationSecret(plan, facts.username, facts.shown || known.app, identity.trust);
  const children = serverChildren(plan, {
    origin: facts.data?.origin,
    originAt: facts.data?.originAt,
    restartToken: facts.data?.restartedFor,
    parameters: startParameters(plan, facts),
    refused: stillRefused(plan, facts),
    // Who is let in by a server that the operator can't reach may have written to it all the same.
    holdsData: facts.data?.holdsData === true || facts.pod?.ready === true,
    account: facts.server?.kind === 'answers' ? facts.username : facts.data?.account,
    ...ranVersion(plan, facts),
    ...state,
  });
  const podsOf = state.running ? keptPods(pass, children) : undefined;
  const refused = await Promise.all([
    // Before the StatefulSet, whose controller would else make the claim as its own; and in no set, because a claim is never pruned.
    applyVolumes(pass, children.filter(isClaim), 'label'),
    applyVolumes(pass, backupVolume(plan), 'none'),
  ]);
  const skipped = facts.data?.ours === false ? notRestored(plan, facts.data.origin) : undefined;
  if (skipped !== undefined) context.event('Warning', 'RestoreSkipped', skipped);
  const others = children.filter((child) => !isClaim(child));
  const applied = await context.apply([application, ...identitySecrets(plan, identity), ...others], { set: 'server', replaceable: [builtin.StatefulSet] });
  const workload = applied.find((child) => isWorkload(child, plan));
  return { refused: refused.find((why) => why !== undefined), podsOf, restarting: state.running && !isRolledOut(workload) };
}

/** What is worth telling of children that were applied. */
export interface AppliedServer {
  /** Why a volume that is there can't be changed: no reason to hold back anything else. */
  readonly refused?: Terminal;
  /** A former release, as which the pods are kept. */
  readonly podsOf?: string;
  /** The pod that runs is not the one that is asked for: it is about to be replaced. */
  readonly restarting: boolean;
}

/** A version counts from its first answer: one whose image can't be had leaves no trace, and the way back stays open. */
function ranVersion({ engine, server }: DatabasePlan, { image, rolledOut, server: answer, data }: Facts): Pick<ServerState, 'version' | 'answered'> {
  const isAsked = rolledOut && image === (server.image ?? engine.image(server.version));
  return isAsked && answer?.kind === 'answers' ? { version: server.version, answered: answer.version } : { version: data?.version, answered: data?.answered };
}

/** Pods that are failing or missing have nothing to lose: they may come up by what a new release does otherwise. */
function keptPods({ context, plan, facts }: Pass, children: readonly KubeObject[]): string | undefined {
  const workload = children.find((child) => isWorkload(child, plan));
  const claim = children.find((child) => isDataClaim(child, plan));
  if (workload === undefined || claim === undefined || facts.data?.ours !== true || facts.pod === undefined || facts.pod.failing) return undefined;
  return keepPods(workload, claim, context.read(builtin.PersistentVolumeClaim).get(claim.metadata.name), plan.engine);
}

/** Makes or grows volumes. Where one may not be changed, everything else about it is applied all the same. @returns why it may not */
async function applyVolumes({ context }: Pass, manifests: Claim[], own: 'label' | 'none'): Promise<Terminal | undefined> {
  const claims = context.read<Claim>(builtin.PersistentVolumeClaim);
  const each = (adapt: typeof fitSize) => manifests.filter(isClaim).forEach((claim) => adapt(claim, claims.get(claim.metadata.name)));
  each(fitSize);
  try {
    await context.apply(manifests, { own });
    return undefined;
  } catch (error) {
    const allThere = manifests.filter(isClaim).every(({ metadata }) => claims.get(metadata.name) !== undefined);
    const refused = allThere ? refusedChange(error) : undefined;
    if (refused === undefined) throw error;
    each(keepSpec);
    await context.apply(manifests, { own });
    return refused;
  }
}

const isClaim = (child: KubeObject) => child.kind === 'PersistentVolumeClaim';

const GROW =
  'If the storage driver can expand volumes, set allowVolumeExpansion: true in the storage class and the volume follows; else make a second database of that size with restore.from.database.';

const DIFFERS = 'The volume of an earlier life stays as it was made. Make the database again with the storage class that it has (deletionPolicy Retain keeps the volume), or another one beside it with restore.from.database.';

/** The API server forbids what the storage class or a quota doesn't allow, and calls invalid what no volume can do. */
function refusedChange(error: unknown): Terminal | undefined {
  if (!(error instanceof Error) || !(error.cause instanceof ApiError)) return undefined;
  if (error.cause.status === 403) return new Terminal('VolumeNotGrown', `${error.message}. The server runs on with the volume it has. ${GROW}`, { cause: error });
  if (isImmutable(error.cause)) return new Terminal('VolumeDiffers', `${error.message}. ${DIFFERS}`, { cause: error });
  return error instanceof Terminal && error.cause.status === 422 ? error : undefined;
}

/** The passwords that the server has; for a new database they are made and written down before anything else. */
async function accounts(pass: Pass): Promise<KnownPasswords> {
  const { context, plan, facts, tools } = pass;
  const uid = context.object.metadata.uid ?? '';
  if (facts.known !== undefined) {
    tools.remembered.set(uid, facts.known);
    if (!facts.accountsAreOurs) await context.apply([accountsSecret(plan, facts.known, { retained: facts.retained, staged: facts.wanted, rotation: facts.rotated })]);
    return facts.known;
  }
  const known = tools.remembered.get(uid) ?? (await written(pass)) ?? made(pass);
  await context.apply([accountsSecret(plan, known, { rotation: plan.rotation })]);
  tools.remembered.set(uid, known);
  return known;
}

/** The cache may lag behind a Secret that a former leader has just made: ask the API server itself before making new passwords. */
async function written({ context, plan }: Pass): Promise<KnownPasswords | undefined> {
  const key = { namespace: plan.server.namespace, name: plan.names.accountsSecret };
  const secret = await context.client.get<Secret>(builtin.Secret, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  return readAccounts(secret)?.known;
}

function made({ plan, facts, tools }: Pass): KnownPasswords {
  if (facts.data?.holdsData === true) {
    throw new Terminal(
      'AccountsLost',
      `Secret ${plan.names.accountsSecret} with the passwords of the running server is gone, and new ones would not open it. Bring the Secret back with the keys root-password, operator-password, backup-password and app-password.`,
    );
  }
  return { root: plan.rootPassword ?? tools.newPassword(), operator: tools.newPassword(), backup: tools.newPassword(), app: (plan.application.suppliedSecret && facts.shown) ?? tools.newPassword() };
}
