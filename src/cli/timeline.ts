import type { DatabaseObject } from '../api/database';
import type { DatabaseBackupObject } from '../api/database-backup';
import { builtin, keyOf, keyText, type KubeObject } from '../kind/resource';
import type { InformerEvent } from '../runtime/informer';
import type { Connection } from './connection';
import { follow, followed } from './follow';
import type { Io } from './io';
import type { DatabaseStory, KubeEvent } from './story';
import { eventsOf } from './story';
import { phase } from './story-view';

/** Follows a database, its backups and its Events, one line for each thing that happens, until the database is gone. */
export async function followStory({ client, database, backup }: Connection, story: DatabaseStory, io: Io): Promise<void> {
  const { metadata } = story.database;
  const namespaces = [metadata.namespace ?? 'default'];
  const say = (text: string) => io.out(`${new Date(io.clock.now()).toISOString().slice(11, 19)}  ${text}\n`);
  const paint = (name: string | undefined) => phase(name, io);
  const news = newsTeller([story.database, ...story.backups, ...story.events]);
  await follow(
    client,
    [
      followed<DatabaseObject>({
        type: database,
        selection: { namespaces, fieldSelector: `metadata.name=${metadata.name}` },
        tell: (event) => {
          if (event.type === 'deleted') say(`Database ${metadata.name} is gone`);
          else if (news(event.object, event.object.status)) say(`${paint(event.object.status?.phase)}  ${event.object.status?.message ?? ''}`);
          return event.type === 'deleted';
        },
      }),
      followed<DatabaseBackupObject>({
        type: backup,
        selection: { namespaces },
        tell: ({ type, object }) => {
          if (type === 'deleted' || object.spec.database !== metadata.name) return;
          if (news(object, object.status)) say(`Backup ${object.metadata.name}  ${paint(object.status?.phase)}  ${object.status?.message ?? ''}`);
        },
      }),
      followed<KubeEvent>({
        type: builtin.Event,
        selection: { namespaces, fieldSelector: eventsOf(story.database) },
        tell: ({ type, object }) => {
          if (type !== 'deleted' && news(object, {})) say(`Event ${object.type ?? ''}  ${object.reason ?? ''}  ${object.note ?? ''}`);
        },
      }),
    ],
    io.signal,
  );
}

/** What of a status people see. */
interface Seen {
  readonly phase?: string;
  readonly message?: string;
}

/** Tells whether an object has something new to say: a status is written for other reasons too. */
export function newsTeller(known: readonly (KubeObject & { readonly status?: Seen })[]): (object: KubeObject, status: Seen | undefined) => boolean {
  const key = (object: KubeObject) => `${object.kind} ${keyText(keyOf(object))}`;
  const text = (status: Seen | undefined) => `${status?.phase ?? ''}\n${status?.message ?? ''}`;
  const last = new Map(known.map((object) => [key(object), text(object.status)]));
  return (object, status) => {
    if (last.get(key(object)) === text(status)) return false;
    last.set(key(object), text(status));
    return true;
  };
}

/** Tells each Database whose status has something new to say; a deleted one is told as such. */
export function rowTeller(known: readonly DatabaseObject[], tell: (changed: DatabaseObject) => void): (event: InformerEvent<DatabaseObject>) => void {
  const news = newsTeller(known);
  return ({ type, object }) => {
    if (type === 'deleted') tell({ ...object, status: { ...object.status, phase: 'Deleting', message: 'gone' } });
    else if (news(object, object.status)) tell(object);
  };
}
