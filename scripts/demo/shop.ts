import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { Database, type DatabaseObject } from '../../src/api/database';
import { follow, followed, type Followed } from '../../src/cli/follow';
import { newsTeller } from '../../src/cli/timeline';
import { builtin, type KubeObject } from '../../src/kind/resource';
import type { Secret } from '../../src/operator/accounts';
import { podStory, type Pod } from '../../src/operator/pod-story';
import type { Place } from './place';
import type { Stage } from './stage';

/** The namespace of the demo. */
export const NAMESPACE = 'shop';

/** Long enough for a slow machine; the demo should say that it is stuck rather than hang. */
const PATIENCE_MS = 180_000;

/** The database of the story, seen through the API server and through SQL. */
export class Shop {
  constructor(
    private readonly place: Place,
    private readonly stage: Stage,
  ) {}

  /** Runs kubectl in the namespace, and shows the line and what came of it. */
  async show(line: string): Promise<void> {
    this.stage.command(`kubectl ${line} -n ${NAMESPACE}`, await this.place.kubectl(`${line} -n ${NAMESPACE}`));
  }

  /** Tells what the status says until it is as wanted. */
  async until(isSo: (database: DatabaseObject) => boolean): Promise<void> {
    await this.follow((database, gone) => !gone && isSo(database));
  }

  /** Tells what the status says until another pod than this one serves. */
  async untilReplaced(uid: string): Promise<void> {
    let replaced = false;
    let ready = false;
    const pod = followed<Pod>({
      type: builtin.Pod,
      selection: { namespaces: [NAMESPACE], fieldSelector: 'metadata.name=orders-0' },
      tell: ({ type, object }) => {
        replaced = type !== 'deleted' && object.metadata.uid !== uid && podStory(object).ready;
        return replaced && ready;
      },
    });
    await this.follow((database, gone) => {
      ready = !gone && isReady(database);
      return ready && replaced;
    }, [pod]);
  }

  /** Tells what the status says until the object is gone. */
  async untilGone(): Promise<void> {
    await this.follow((_, gone) => gone);
  }

  /** A connection as an application has it: by the Secret, encrypted, the server's certificate checked. */
  async connect(password?: string): Promise<Connection> {
    const { client } = this.place;
    const secret = await client.get<Secret>(builtin.Secret, { namespace: NAMESPACE, name: 'orders-app' });
    const value = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
    const stream = await client.portForward(NAMESPACE, 'orders-0', Number(value('port')));
    return createConnection({
      stream: () => stream,
      host: value('host'),
      user: value('username'),
      password: password ?? value('password'),
      database: value('database'),
      ssl: { ca: value('ca.crt'), verifyIdentity: true },
    });
  }

  /** The password that applications are given now. */
  async password(): Promise<string> {
    const secret = await this.place.client.get<Secret>(builtin.Secret, { namespace: NAMESPACE, name: 'orders-app' });
    return Buffer.from(secret.data?.['password'] ?? '', 'base64').toString('utf8');
  }

  /** Runs a statement on a connection, and shows it with its rows. */
  async sql(connection: Connection, statement: string): Promise<RowDataPacket[]> {
    const [answer] = await connection.query(statement);
    const rows = Array.isArray(answer) ? (answer as RowDataPacket[]) : [];
    this.stage.command(`${statement};`, rows.map((row) => Object.values(row).join('\t')).join('\n'), 'mysql>');
    return rows;
  }

  private async follow(isEnd: (database: DatabaseObject, gone: boolean) => boolean, beside: readonly Followed<KubeObject>[] = []): Promise<void> {
    const news = newsTeller([]);
    const late = AbortSignal.timeout(PATIENCE_MS);
    const what = followed<DatabaseObject>({
      type: Database,
      selection: { namespaces: [NAMESPACE], fieldSelector: 'metadata.name=orders' },
      tell: ({ type, object }) => {
        const gone = type === 'deleted';
        if (gone) this.stage.happened('Database orders is gone');
        else if (news(object, object.status) && object.status?.phase !== undefined) this.stage.happened(`${object.status.phase}: ${object.status.message ?? ''}`);
        return isEnd(object, gone);
      },
    });
    await follow(this.place.client, [what, ...beside], late).catch((error: unknown) => {
      throw late.aborted ? new Error(`the database did not come so far in ${PATIENCE_MS / 1000} s; look at: kubectl describe db orders -n ${NAMESPACE}, with KUBECONFIG=${this.place.kubeconfig}`) : error;
    });
  }
}

/** Whether a database is as its spec asks, and its spec the newest one. */
export function isReady({ metadata, status }: DatabaseObject): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}
