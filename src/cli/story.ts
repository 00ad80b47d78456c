import type { DatabaseObject } from '../api/database';
import type { DatabaseBackupObject } from '../api/database-backup';
import { builtin, type KubeObject } from '../kind/resource';
import type { Pod } from '../operator/pod-story';
import type { Connection } from './connection';
import { LiveChildren, TELLING_KINDS } from './live-children';

/** An Event, as far as a story needs it. */
export interface KubeEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedCount?: number;
}

/** All that there is to tell about one database. Plain data. */
export interface DatabaseStory {
  readonly database: DatabaseObject;
  readonly children: readonly KubeObject[];
  readonly pods: readonly Pod[];
  /** Newest first. */
  readonly backups: readonly DatabaseBackupObject[];
  /** Newest last. */
  readonly events: readonly KubeEvent[];
}

/** Gathers the story of a database, with reads that need no right to see Secrets. */
export async function gatherStory({ client, backup }: Connection, database: DatabaseObject, signal: AbortSignal): Promise<DatabaseStory> {
  const { name, namespace = 'default' } = database.metadata;
  const [live, backups, events] = await Promise.all([
    LiveChildren.of(client, { namespace, name }, TELLING_KINDS, signal),
    client.list<DatabaseBackupObject>(backup, { namespace, signal }),
    client.list<KubeEvent>(builtin.Event, { namespace, fieldSelector: eventsOf(database), signal }),
  ]);
  return {
    database,
    children: live.all().filter(({ type }) => type !== builtin.Pod).map(({ object }) => object),
    pods: live.of(builtin.Pod),
    backups: backups.items.filter(({ spec }) => spec.database === name).sort((left, right) => bornAt(right).localeCompare(bornAt(left))),
    events: events.items.sort((left, right) => eventTime(left).localeCompare(eventTime(right))),
  };
}

/** Selects the Events about a Database, not those of a namesake of another kind. */
export function eventsOf({ kind, metadata }: KubeObject): string {
  return `regarding.kind=${kind},regarding.name=${metadata.name}`;
}

/** When an Event was last seen. */
export function eventTime(event: KubeEvent): string {
  return event.series?.lastObservedTime ?? event.eventTime ?? event.deprecatedLastTimestamp ?? bornAt(event);
}

function bornAt({ metadata }: KubeObject): string {
  return metadata.creationTimestamp ?? '';
}
