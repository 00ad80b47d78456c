import type { DatabaseObject } from '../api/database';
import type { DatabaseBackupObject } from '../api/database-backup';
import { databaseControllers } from '../constructs/database-controllers';
import { apiVersionOf, builtin, type KubeObject } from '../kind/resource';
import { targetOf } from '../operator/backup-record';
import { restoreJob } from '../operator/children';
import type { Outside } from '../operator/database-api';
import { refusal, rotationAsked } from '../operator/decide';
import { isNotFound } from '../runtime/api-error';
import { ownerLabel, setLabel } from '../runtime/manifest';
import { Terminal } from '../runtime/outcome';
import { changeOf, type Change } from './change';
import { ChildPlanner } from './child-planner';
import type { Connection } from './connection';
import { LiveChildren } from './live-children';
import type { Operator } from './operator-of';
import { propose } from './proposal';
import { Rehearsal, type Applied } from './rehearsal';

/** What would happen if a Database were applied. */
export interface PlanReport {
  /** `namespace/name`. */
  readonly database: string;
  /** The Database itself first, then its children. */
  readonly changes: readonly Change[];
  /** What happens beside or before that, in sentences. */
  readonly notes: readonly string[];
  /** Why the operator would do nothing of the kind. */
  readonly refused?: string;
}

/** What a plan stands on. */
export interface PlanningOptions {
  readonly operator: Operator;
  readonly signal: AbortSignal;
}

/**
 * What the operator would do if this object were applied: from the same observation, the same refusals, the same rendering and
 * the same comparison as the operator's own, and from dry runs of what it would send. Writes nothing.
 * @param written the spec as the file has it, without defaults
 */
export async function planDatabase(connection: Connection, database: DatabaseObject, written: object, { operator, signal }: PlanningOptions): Promise<PlanReport> {
  const { client, database: kind } = connection;
  const { proposed, live } = await propose(client, kind, database, written, signal);
  const { name, namespace = 'default' } = proposed.metadata;
  const { owns = [], ownership = 'reference' } = databaseControllers(kind.group).database;
  const types = [...owns, builtin.Pod];
  const children = await LiveChildren.of(client, { namespace, name }, types, signal);
  const rehearsal = await Rehearsal.of(proposed, { client, children, operator, backupOf: await backupSource(connection, proposed, signal), signal });
  const report = { database: `${namespace}/${name}`, changes: [changeOf(live, proposed)], notes: notesOf(rehearsal) };
  if (rehearsal.step === 'Refused') return { ...report, refused: refusal(rehearsal.plan, rehearsal.facts) };
  if (rehearsal.step === 'Paused' || rehearsal.step === 'MissingSecret') return report;

  const wanted = await wantedOf(rehearsal, operator);
  if (wanted instanceof Terminal) return { ...report, refused: wanted.message };
  const uids = new Set((await client.list(kind, { namespace, signal })).items.map(({ metadata }) => metadata.uid));
  const planner = new ChildPlanner(client, { owner: proposed, ownerType: kind, isNew: live === undefined, types, ownership, children, signal, alive: (uid) => uids.has(uid) });
  const changes = await Promise.all(wanted.map((applied) => planner.plan(applied)));
  return {
    ...report,
    changes: [...report.changes, ...changes, ...leftovers(children, proposed, wanted)],
    notes: [...report.notes, ...changes.flatMap(consequences)],
  };
}

async function wantedOf(rehearsal: Rehearsal, { storeImage }: Operator): Promise<readonly Applied[] | Terminal> {
  try {
    const jobs = rehearsal.step === 'Restoring' && rehearsal.facts.restoreJob === undefined ? restoreJob(rehearsal.plan, storeImage) : [];
    return [...(await rehearsal.children()), ...jobs.map((child): Applied => ({ child, options: { own: 'label' } }))];
  } catch (error) {
    if (error instanceof Terminal) return error;
    throw error;
  }
}

/** What an earlier state of the object had and this one has no longer. */
function leftovers(children: LiveChildren, owner: DatabaseObject, wanted: readonly Applied[]): Change[] {
  const address = (apiVersion: string, kind: string, name: string) => `${apiVersion} ${kind} ${name}`;
  const stay = new Set(wanted.map(({ child }) => address(child.apiVersion, child.kind, child.metadata.name)));
  const sets = new Set(wanted.map(({ options }) => options.set));
  return children
    .all()
    .filter(({ object: { metadata } }) => metadata.labels?.[ownerLabel] === owner.metadata.uid && metadata.labels?.[setLabel] !== undefined && sets.has(metadata.labels[setLabel]))
    .filter(({ type, object }) => object.metadata.deletionTimestamp === undefined && !stay.has(address(apiVersionOf(type), type.kind, object.metadata.name)))
    .map(({ object }) => changeOf(object, undefined));
}

function notesOf({ plan, facts, step }: Rehearsal): string[] {
  if (step === 'Paused') return ['paused is set: the operator changes nothing until it is false again'];
  if (step === 'MissingSecret') return [`the operator waits: ${facts.missingSecret}`];
  const given = Object.keys(facts.wanted);
  return [
    ...(step === 'Restoring' ? [`before the first start, Job ${plan.names.restoreJob} looks for a backup and restores it (policy ${plan.restore.policy})`] : []),
    ...(facts.known !== undefined && rotationAsked(plan, facts) ? ['all passwords are changed in the running server; open connections go on'] : []),
    ...(given.length > 0 ? [`the running server gets another password for ${given.join(', ')}`] : []),
  ];
}

interface Workload extends KubeObject {
  spec?: { replicas?: number; template?: unknown };
}

/** What a change of the workload does to its pod. */
function consequences({ kind, name, before, after }: Change): string[] {
  if (kind !== 'StatefulSet' || before === undefined || after === undefined) return [];
  const [was, becomes] = [(before as Workload).spec, (after as Workload).spec];
  if (was?.replicas !== becomes?.replicas) return [becomes?.replicas === 0 ? `pod ${name}-0 is shut down` : `pod ${name}-0 is started`];
  return JSON.stringify(was?.template) === JSON.stringify(becomes?.template) ? [] : [`pod ${name}-0 is restarted`];
}

/** The database that the backup to restore from is of. */
async function backupSource({ client, backup }: Connection, { metadata: { namespace }, spec }: DatabaseObject, signal: AbortSignal): Promise<Outside['backupOf']> {
  const name = spec.restore.from?.backup;
  if (name === undefined) return undefined;
  const found = await client.get<DatabaseBackupObject>(backup, { namespace, name }, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  return found && { database: found.spec.database, target: targetOf(found) };
}
