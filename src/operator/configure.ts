import { serverMemory } from '../constructs/server-resources';
import type { Account } from './accounts';
import { accountName } from './accounts';
import { accountsSecret, applicationSecret } from './children';
import { rotationAsked } from './decide';
import type { KnownPasswords } from './facts';
import type { Pass } from './life';
import { serviceHost } from './plan';
import { fingerprintOf } from './tls/certificate';
import { serverIdentity } from './tls/server-identity';
import { SqlError, type Login, type SqlSession } from './sql/door';

/** Accounts that the operator can log in as over the network; the superuser is for the inside of the pod. */
const REACHABLE: ReadonlySet<string> = new Set(['operator', 'backup', 'app']);

/**
 * Brings the passwords of a running server to what is wanted, without a restart and without breaking a connection.
 *
 * Guarantees: whatever moment it is killed at, each account has a password that works and stands in a Secret, and the next
 * pass goes on. The order is: the server learns the new one (and keeps the old where it can), a login proves it, the
 * Secret says so, the old one is ended.
 */
export async function changePasswords(pass: Pass): Promise<string[]> {
  // What an earlier rotation has chosen may be in the server already: it must not be forgotten for another choice.
  if (rotationAsked(pass.plan, pass.facts) && Object.keys(pass.facts.wanted).length === 0) return stageRotation(pass);
  const { plan, facts, context } = pass;
  const known = facts.known!;
  const wanted = facts.server?.kind === 'denied' ? { app: known.app, ...facts.wanted } : facts.wanted;
  const changed = Object.keys(wanted) as Account[];
  await asOperator(pass, async (session) => {
    for (const account of changed) await setPassword(pass, session, account, wanted[account]!);
    // Only now: until the server takes it, the password before it is the one that works.
    if (wanted.app !== undefined && plan.application.suppliedSecret === undefined) await context.apply([applicationSecret(plan, facts.username, wanted.app, serverIdentity(pass).trust)]);
    if (changed.length > 0) await writeAccounts(pass, { ...known, ...wanted }, [...new Set([...facts.retained, ...changed])]);
    for (const account of new Set([...facts.retained, ...changed])) await session.discardOldPassword(nameOf(pass, account as Account));
  });
  await writeAccounts(pass, { ...known, ...wanted }, []);
  for (const account of changed) context.audit('password-changed', { database: plan.server.name, account: nameOf(pass, account) });
  return changed.map((account) => nameOf(pass, account));
}

/** What became of changed parameters, by name. */
export interface ChangedParameters {
  readonly set: readonly string[];
  readonly needRestart: readonly string[];
  /** Those of `needRestart` that the engine didn't foresee. */
  readonly unforeseen: readonly string[];
  /** Each with what the server said. */
  readonly refused: Readonly<Record<string, string>>;
}

/** Tells the running server its parameters, one by one: one that it refuses keeps none of the others from it. */
export async function changeParameters(pass: Pass): Promise<ChangedParameters> {
  const { engine, server } = pass.plan;
  const wanted = pass.plan.server.parameters ?? {};
  const confirmed = pass.facts.confirmedParameters ?? {};
  const foreseen = engine.restartParameters({ ...confirmed, ...wanted }, server.version);
  const set: string[] = [];
  const needRestart: string[] = [];
  const unforeseen: string[] = [];
  const refused: Record<string, string> = {};
  await asOperator(pass, async (session) => {
    for (const name of Object.keys({ ...wanted, ...confirmed })) {
      const value = wanted[name] ?? engine.defaultOf(name, { version: server.version, memory: serverMemory(server.resources) });
      if (value !== undefined && String(value) === confirmed[name]) continue;
      if (name in foreseen) {
        needRestart.push(name);
        continue;
      }
      try {
        const how = value === undefined ? await session.resetParameter(name) : await session.setParameter(name, String(value));
        if (how === 'needs-restart') unforeseen.push(name);
        (how === 'applied' ? set : needRestart).push(name);
      } catch (error) {
        if (!(error instanceof SqlError) || error.kind !== 'refused') throw error;
        refused[name] = error.message;
      }
    }
  });
  return { set, needRestart, unforeseen, refused };
}

/**
 * Lets a server that still shows a former certificate read the renewed one. The kubelet brings the file a minute or so after
 * the Secret, so this may take a few tries; the former one is good for another month.
 * @returns whether the server has shown the renewed one
 */
export async function renewCertificate(pass: Pass): Promise<boolean> {
  const shown = pass.facts.server?.kind === 'answers' ? pass.facts.server.certificate : undefined;
  if (shown === undefined || shown === fingerprintOf(serverIdentity(pass).server.certificate)) return true;
  await asOperator(pass, (session) => session.reloadCertificate());
  pass.tools.probe.forget(pass.context.object.metadata.uid ?? '');
  return false;
}

/** Chooses new passwords and writes them down; the passes after this one carry them to the server. */
async function stageRotation(pass: Pass): Promise<string[]> {
  const { context, plan, facts, tools } = pass;
  const staged = {
    operator: tools.newPassword(),
    backup: tools.newPassword(),
    ...(plan.rootPassword === undefined && { root: tools.newPassword() }),
    ...(plan.application.suppliedSecret === undefined && { app: tools.newPassword() }),
  };
  await context.apply([accountsSecret(plan, facts.known!, { retained: facts.retained, staged, rotation: plan.rotation })]);
  return [];
}

/**
 * A password that already opens the door is left alone: to set it twice would push the old one, which the Secret still
 * names, out of the server.
 */
async function setPassword(pass: Pass, session: SqlSession, account: Account, password: string): Promise<void> {
  const login = { username: nameOf(pass, account), password, ca: pass.facts.authority };
  if (REACHABLE.has(account) && (await opens(pass, login))) return;
  await session.setPassword(login.username, password);
  if (REACHABLE.has(account) && !(await opens(pass, login))) throw new Error(`the server took a new password for ${login.username} but does not accept it`);
}

async function writeAccounts(pass: Pass, known: KnownPasswords, retained: readonly string[]): Promise<void> {
  const { context, plan, facts, tools } = pass;
  tools.remembered.set(context.object.metadata.uid ?? '', known);
  await context.apply([accountsSecret(plan, known, { retained, rotation: facts.rotated })]);
}

/** Works in a session as the operator. PostgreSQL keeps one password: if the operator died after changing its own, the staged one is the valid one. */
export async function asOperator<T>(pass: Pass, work: (session: SqlSession) => Promise<T>): Promise<T> {
  const { facts, plan } = pass;
  const login = (password: string): Login => ({ username: plan.engine.accounts.operator, password, ca: facts.authority });
  const staged = facts.wanted.operator;
  const valid = staged !== undefined && !(await opens(pass, login(facts.known!.operator))) ? staged : facts.known!.operator;
  return pass.tools.probe.session({ ...where(pass), login: login(valid) }, pass.context.signal, work);
}

/** Whether a server that applications get no answer from has one for the operator. A server that hangs is not waited for. */
export async function letsOperatorIn(pass: Pass): Promise<boolean> {
  const { context, plan, facts, tools } = pass;
  const login = { username: plan.engine.accounts.operator, password: facts.known!.operator, ca: facts.authority };
  const of = `${context.object.metadata.uid} operator`;
  const answer = await tools.probe.ask(of, { ...where(pass), podUid: facts.pod!.uid, login }, context.signal);
  if (answer.kind === 'answers') tools.probe.forget(of);
  return answer.kind === 'answers';
}

async function opens(pass: Pass, login: Login): Promise<boolean> {
  try {
    return await pass.tools.probe.session({ ...where(pass), login }, pass.context.signal, async () => true);
  } catch (error) {
    if (error instanceof SqlError && error.kind === 'denied') return false;
    throw error;
  }
}

function where({ plan, facts }: Pass) {
  const { namespace } = plan.server;
  // No Service leads applications to a pod that isn't ready; its own name does.
  const podHost = facts.pod!.ready ? undefined : `${facts.pod!.name}.${plan.names.headlessService}.${namespace}.svc`;
  return { engine: plan.engine.name, target: { namespace, host: serviceHost(plan), podHost, port: plan.engine.port, pod: facts.pod!.name } };
}

function nameOf({ plan, facts }: Pass, account: Account): string {
  return accountName(account, plan.engine, facts.username);
}
