import type { Duplex } from 'node:stream';
import type { EngineName } from '../../engines/engine';
import type { Clock } from '../../runtime/clock';
import type { ServerAnswer } from '../facts';
import type { Dial, DialTarget } from './dial';
import { SqlError, type Login, type SqlDoor, type SqlSession } from './door';
import { mysqlDoor } from './mysql-door';
import { postgresDoor } from './postgres-door';

const doors: Record<EngineName, SqlDoor> = { mysql: mysqlDoor, postgres: postgresDoor };

/** How long a good answer is believed before the server is asked again. */
export const FRESH_MS = 30_000;

/** Who is asked, and as whom. */
export interface Question {
  readonly engine: EngineName;
  readonly target: DialTarget;
  /** A new pod is a new server: what the last one answered says nothing of it. */
  readonly podUid: string;
  readonly login: Login;
}

/** How long a pass waits for an answer: a server that hangs must not hold a worker that other databases need. */
const PATIENCE_MS = 1_000;

/** How long a session may last: what it does takes milliseconds, on a slow server seconds. */
const SESSION_MS = 30_000;

/**
 * Asks servers whether they answer, and remembers a good answer for a while: a pass costs no connection.
 *
 * Guarantees: a question that takes long goes on without its pass, and its answer is there for the next one.
 */
export class ServerProbe {
  private readonly remembered = new Map<string, { answer: ServerAnswer; at: number; about: string }>();
  private readonly underWay = new Map<string, { answer: Promise<ServerAnswer>; about: string }>();

  constructor(
    private readonly dial: Dial,
    private readonly clock: Clock,
  ) {}

  /**
   * Logs in and asks for the version.
   * @param of the database's UID
   */
  async ask(of: string, question: Question, signal: AbortSignal): Promise<ServerAnswer> {
    const about = `${question.podUid} ${question.login.username} ${question.login.password}`;
    const before = this.remembered.get(of);
    if (before !== undefined && before.about === about && this.clock.now() - before.at < FRESH_MS) return before.answer;
    const earlier = this.underWay.get(of);
    const asked = earlier?.about === about ? earlier : { about, answer: this.answer(question, signal) };
    this.underWay.set(of, asked);
    const answer = await this.within(PATIENCE_MS, asked.answer).catch((error: unknown) => {
      this.underWay.delete(of);
      throw error;
    });
    if (answer === undefined) return { kind: 'silent', why: 'it has been asked and has not answered yet' };
    this.underWay.delete(of);
    if (answer.kind === 'answers') this.remembered.set(of, { answer, at: this.clock.now(), about });
    else this.remembered.delete(of);
    return answer;
  }

  /** The next question is asked for real. */
  forget(of: string): void {
    this.underWay.delete(of);
    this.remembered.delete(of);
  }

  /**
   * Runs some work in a session of its own.
   *
   * Guarantees: it ends. A connection to a pod that has died may stay open for ever without a word.
   * @throws SqlError (`unreachable`) when it takes too long
   */
  async session<T>(question: Omit<Question, 'podUid'>, signal: AbortSignal, work: (session: SqlSession) => Promise<T>): Promise<T> {
    const stream = await this.dial(question.target, signal);
    const worked = await this.within(SESSION_MS, worksOn(stream, question, work));
    if (worked !== undefined) return worked.result;
    stream.destroy();
    throw new SqlError('unreachable', `${question.target.host} has fallen silent: no answer in ${SESSION_MS / 1000} s`);
  }

  /** What comes of it in time, or nothing. */
  private async within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
    let cancel = (): void => undefined;
    const late = new Promise<undefined>((resolve) => (cancel = this.clock.setTimer(ms, () => resolve(undefined))));
    return Promise.race([work, late]).finally(cancel);
  }

  private async answer(question: Question, signal: AbortSignal): Promise<ServerAnswer> {
    try {
      return await this.session(question, signal, async (session) => ({ kind: 'answers', version: await session.version(), certificate: session.certificate }) as const);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SqlError)) throw error;
      return error.kind === 'denied' ? { kind: 'denied' } : { kind: 'silent', why: error.message };
    }
  }
}

async function worksOn<T>(stream: Duplex, { engine, target, login }: Omit<Question, 'podUid'>, work: (session: SqlSession) => Promise<T>): Promise<{ readonly result: T }> {
  const session = await doors[engine].open(stream, target.host, login);
  try {
    return { result: await work(session) };
  } finally {
    await session.close();
  }
}
