import { createColors } from 'picocolors';
import type { DatabaseObject } from '../api/database';
import type { DatabaseBackupObject } from '../api/database-backup';
import { byteText, stageText } from '../operator/byte-text';
import { podStory, type Pod } from '../operator/pod-story';
import { age } from './age';
import { childState } from './child-state';
import type { DatabaseStory, KubeEvent } from './story';
import { eventTime } from './story';
import { aligned, table } from './table';

/** How a text is drawn. */
export interface View {
  readonly color: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Backups and Events beyond these are left to kubectl. */
const SHOWN = 10;

/** Databases as rows, like `kubectl get db`, with what is waited for. */
export function databaseTable(databases: readonly DatabaseObject[], view: View & { readonly withNamespace: boolean }): string {
  const heading = [...(view.withNamespace ? ['NAMESPACE'] : []), 'NAME', 'ENGINE', 'VERSION', 'SIZE', 'PHASE', 'READY', 'LAST BACKUP', 'AGE', 'MESSAGE'];
  return table(heading, databases.map((database) => databaseRow(database, view)), view);
}

function databaseRow({ metadata, spec, status }: DatabaseObject, view: View & { readonly withNamespace: boolean }): string[] {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown';
  return [
    ...(view.withNamespace ? [metadata.namespace ?? ''] : []),
    metadata.name,
    spec.engine,
    status?.version ?? spec.version,
    spec.size,
    phase(status?.phase, view),
    ready,
    age(status?.lastBackup?.at, view.now) || 'none',
    age(metadata.creationTimestamp, view.now),
    firstSentence(status?.message ?? 'not seen by an operator yet'),
  ];
}

/** The story of one database. */
export function storyText(story: DatabaseStory, view: View): string {
  const { bold } = createColors(view.color);
  const { database, children, pods, backups, events } = story;
  const section = (title: string, rows: readonly (readonly string[])[], none: string) => `\n${bold(title)}\n${rows.length === 0 ? `  ${none}\n` : aligned(rows, '  ')}`;
  return [
    `${bold(`${database.metadata.namespace}/${database.metadata.name}`)}\n`,
    aligned(facts(database, view)),
    section('Conditions', (database.status?.conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => [type, status, reason, `for ${age(lastTransitionTime, view.now)}`, message]), 'none yet: does the operator run? (kubectl get pods -n dbop-system)'),
    section('Children', children.map((child) => [`${child.kind} ${child.metadata.name}`, childState(child)]), 'none yet'),
    section('Pods', pods.map((pod) => [pod.metadata.name, pod.spec?.nodeName ?? '', podText(pod)]), 'none'),
    section('Backups', backups.slice(0, SHOWN).map((backup) => backupRow(backup, view)), `none yet; take one with: dbop backup ${database.metadata.name} -n ${database.metadata.namespace}`),
    section('Events', events.slice(-SHOWN).map((event) => eventRow(event, view)), 'none in the last hour'),
  ].join('');
}

/** What a database was filled from where that was no backup. */
const origins: Readonly<Record<string, string>> = { empty: 'nothing: there was no backup', kept: 'nothing: the volume held data already' };

function facts({ metadata, spec, status }: DatabaseObject, view: View): string[][] {
  const { engine, size, deletionPolicy, deletionProtection } = spec;
  const all: [string, string | undefined][] = [
    ['Phase', `${phase(status?.phase, view)}: ${status?.message ?? 'not seen by an operator yet'}`],
    ['Asks for', `${engine} ${spec.version}, ${size}`],
    ['Runs', status?.version && `${engine} ${status.version}`],
    ['Endpoint', status?.endpoint && `${status.endpoint.host}:${status.endpoint.port}`],
    ['Connect by', status?.secretName && `Secret ${status.secretName}, or: dbop connect ${metadata.name} -n ${metadata.namespace}`],
    ['Filled from', status?.restored && `${origins[status.restored.from] ?? `backup ${status.restored.from}`}, ${age(status.restored.at, view.now)} ago`],
    ['Last backup', status?.lastBackup && `${status.lastBackup.name}, ${age(status.lastBackup.at, view.now)} ago, ${status.lastBackup.verified ? 'verified' : 'not verified'}`],
    ['On deletion', `${deletionPolicy}${deletionProtection ? ', protected' : ''}`],
    ['Deleting', metadata.deletionTimestamp && `for ${age(metadata.deletionTimestamp, view.now)}`],
    ['Age', age(metadata.creationTimestamp, view.now)],
  ];
  return all.flatMap(([title, text]) => (text ? [[title, text]] : []));
}

function backupRow({ metadata, status }: DatabaseBackupObject, view: View): string[] {
  const stored = status?.bytes === undefined ? '' : `${byteText(status.bytes)}, ${status.tables ?? 0} tables, ${status.rows ?? 0} rows`;
  const size = status?.progress === undefined ? stored : stageText(status.progress);
  const told = status?.phase === 'Succeeded' ? (status.verified === true ? 'verified' : 'not verified') : (status?.message ?? '');
  return [metadata.name, phase(status?.phase, view), `${age(status?.completedAt ?? metadata.creationTimestamp, view.now)} ago`, size, told];
}

/** A Job's pod has an end of its own. */
function podText(pod: Pod): string {
  if (pod.status?.phase === 'Succeeded') return `pod ${pod.metadata.name} has done its work`;
  return pod.status?.phase === 'Failed' ? `pod ${pod.metadata.name} has failed; see: kubectl logs ${pod.metadata.name} --all-containers` : podStory(pod).message;
}

/** One Event as a row. */
function eventRow(event: KubeEvent, view: View): string[] {
  const count = event.series?.count ?? event.deprecatedCount ?? 1;
  const { yellow } = createColors(view.color);
  const type = event.type ?? '';
  return [age(eventTime(event), view.now), type === 'Warning' ? yellow(type) : type, event.reason ?? '', `${event.note ?? ''}${count > 1 ? ` (${count} times)` : ''}`];
}

/** A phase in the colour of its meaning. */
export function phase(name: string | undefined, view: Pick<View, 'color'>): string {
  const { green, red, yellow } = createColors(view.color);
  if (name === undefined) return 'Unknown';
  return name === 'Running' || name === 'Succeeded' ? green(name) : name === 'Failed' ? red(name) : yellow(name);
}

/** A table has no room for a whole message; the story has. */
function firstSentence(text: string): string {
  const [first = ''] = text.split(/(?<=[.;])\s/);
  return first.length > 80 ? `${first.slice(0, 79)}…` : first;
}
