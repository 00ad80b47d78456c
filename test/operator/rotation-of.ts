import { mysqlDoor } from '../../src/operator/sql/mysql-door';
import { SqlError, type SqlDoor, type SqlSession } from '../../src/operator/sql/door';
import { postgresDoor } from '../../src/operator/sql/postgres-door';
import { FaultProxy } from '../support/fault-proxy';
import { waitFor } from '../support/wait-for';
import type { EngineStory } from './life-of';
import type { Living } from './living';
import { startOperator } from './running-operator';

/** Counts what an operator does to passwords, and lets it die once it has done so much. */
class Death {
  private acts = 0;

  constructor(
    private readonly after: number,
    private readonly come: () => void,
  ) {}

  get isHere(): boolean {
    return this.acts >= this.after;
  }

  /** One act was carried out. @returns whether it was the last */
  act(): boolean {
    this.acts += 1;
    if (this.isHere) this.come();
    return this.isHere;
  }

  /** A door whose statements count; once death is here, nobody hears of them. */
  over(door: SqlDoor): SqlDoor['open'] {
    const open = door.open.bind(door);
    const gone = () => new SqlError('unreachable', 'the operator is dead');
    return async (...where) => {
      if (this.isHere) throw gone();
      const session = await open(...where);
      const counted = async (statement: Promise<void>) => {
        await statement;
        if (this.act()) throw gone();
      };
      return Object.assign(Object.create(session) as SqlSession, {
        setPassword: (account: string, password: string) => counted(session.setPassword(account, password)),
        discardOldPassword: (account: string) => counted(session.discardOldPassword(account)),
      });
    };
  }
}

/** A change of passwords that is cut short, after each of the operator's acts in turn. */
export function rotationOf(living: Living, story: EngineStory): void {
  const door = { mysql: mysqlDoor, postgres: postgresDoor }[story.engine];
  const secret = async (name: string) => JSON.parse(await living.cluster.kubectl(`get secret ${name} -n ${living.namespace} -o jsonpath={.data}`)) as Record<string, string>;

  /** @returns whether the operator died before the passwords were changed */
  async function diesAfter(acts: number): Promise<boolean> {
    const { cluster, namespace, name } = living;
    const before = (await secret(`${name}-app`))['password'];
    const proxy = await FaultProxy.start(cluster.api.access);
    let come = () => {};
    const dead = new Promise<true>((resolve) => (come = () => resolve(true)));
    const death = new Death(acts, come);
    proxy.inject({ when: () => death.isHere, fault: { kind: 'reset', when: 'before' } });
    proxy.inject({ isWrite: true, path: /\/secrets\//, when: () => death.act(), fault: { kind: 'reset', when: 'after' } });
    const mortal = death.over(door);
    const opened = jest.spyOn(door, 'open').mockImplementation(mortal);
    const operator = await startOperator(cluster, namespace, { kubeconfig: proxy.kubeconfig });
    await living.change({ rotatePasswords: `cut-${acts}` });
    const rotated = (...to: string[]) => living.becomes('the rotation', (object) => living.isReady(object) && to.includes(object.status.rotatedPasswords));
    const done = rotated(`cut-${acts}`, `again-${acts}`);
    const died = await Promise.race([dead, done.then(() => false)]);
    await operator.stop();
    opened.mockRestore();
    await proxy.close();
    // PostgreSQL keeps one password for each account: between server and Secret only the next operator can mediate.
    if (story.engine === 'mysql') expect(await living.sql('SELECT count(*) FROM notes')).toBe('2');
    // Another one is asked for before the first is through.
    await living.change({ rotatePasswords: `again-${acts}` });
    await living.restartOperator();
    await done;
    await rotated(`again-${acts}`);
    await waitFor(cluster, living.at('secrets', `${name}-accounts`), (seen) => seen !== undefined && Object.keys(seen.data ?? {}).every((key) => key.endsWith('password') && !key.startsWith('next-')), { what: 'the end of the old passwords' });
    expect(await living.sql('SELECT count(*) FROM notes')).toBe('2');
    expect((await secret(`${name}-app`))['password']).not.toBe(before);
    return died;
  }

  it('has passwords that work, and are those in its Secrets, after whichever act the operator dies that changes them', async () => {
    await living.stopOperator();
    let acts = 0;
    while (await diesAfter(acts + 1)) {
      acts += 1;
      await living.stopOperator();
    }
    // The rotation is written down, four accounts learn their passwords, two Secrets tell; MySQL ends four old ones, and a Secret tells that too.
    expect(acts).toBeGreaterThanOrEqual(7);
  }, 600_000);
}
