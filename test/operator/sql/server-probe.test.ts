import { Duplex } from 'node:stream';
import { SqlError } from '../../../src/operator/sql/door';
import { ServerProbe, type Question } from '../../../src/operator/sql/server-probe';
import { ManualClock } from '../../../src/runtime/manual-clock';

const question: Question = { engine: 'mysql', podUid: 'p1', target: { namespace: 'shop', host: 'orders.shop.svc', port: 3306, pod: 'orders-0' }, login: { username: 'app', password: 'secret' } };
const { signal } = new AbortController();

/** A server that takes its time: it answers when the test says so. */
class SlowServer {
  asked = 0;
  refuse: (error: Error) => void = () => undefined;
  readonly dial = (): Promise<Duplex> => {
    this.asked += 1;
    return new Promise((_resolve, reject) => (this.refuse = reject));
  };
}

describe('a question to a server', () => {
  it('holds nobody up for long: one that does not answer is silent for now, and is not asked twice at once', async () => {
    const [server, clock] = [new SlowServer(), new ManualClock()];
    const probe = new ServerProbe(server.dial, clock);
    for (let pass = 0; pass < 3; pass += 1) {
      const answer = probe.ask('u1', question, signal);
      await clock.advance(1_000);
      expect(await answer).toEqual({ kind: 'silent', why: expect.stringContaining('has not answered yet') as string });
    }
    expect(server.asked).toBe(1);
  });

  it('that was answered late is answered in the next pass, once', async () => {
    const [server, clock] = [new SlowServer(), new ManualClock()];
    const probe = new ServerProbe(server.dial, clock);
    const first = probe.ask('u1', question, signal);
    await clock.advance(1_000);
    await first;
    server.refuse(new SqlError('denied', 'wrong password'));
    expect(await probe.ask('u1', question, signal)).toEqual({ kind: 'denied' });
    expect(server.asked).toBe(1);
    const second = probe.ask('u1', question, signal);
    server.refuse(new SqlError('unreachable', 'nobody there'));
    expect(await second).toEqual({ kind: 'silent', why: 'nobody there' });
    expect(server.asked).toBe(2);
  });

  it('about another pod or with another password is another question', async () => {
    const [server, clock] = [new SlowServer(), new ManualClock()];
    const probe = new ServerProbe(server.dial, clock);
    for (const asked of [question, { ...question, podUid: 'p2' }, { ...question, login: { username: 'app', password: 'new' } }]) {
      const answer = probe.ask('u1', asked, signal);
      await clock.advance(1_000);
      await answer;
    }
    expect(server.asked).toBe(3);
  });

  it('that is broken off by the end of the pass ends the pass, too', async () => {
    const ending = new AbortController();
    const probe = new ServerProbe((_target, until) => new Promise((_resolve, reject) => until.addEventListener('abort', () => reject(until.reason as Error))), new ManualClock());
    const answer = probe.ask('u1', question, ending.signal);
    ending.abort(new Error('the lead is lost'));
    await expect(answer).rejects.toThrow('the lead is lost');
  });
});

describe.each(['mysql', 'postgres'] as const)('a session with a server that falls silent (%s)', (engine) => {
  it('ends, and so does its connection', async () => {
    const clock = new ManualClock();
    const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    const session = new ServerProbe(async () => stream, clock).session({ ...question, engine }, signal, async (open) => open.isClosed());
    const ended = expect(session).rejects.toMatchObject({ kind: 'unreachable', message: 'orders.shop.svc has fallen silent: no answer in 30 s' });
    await clock.advance(30_000);
    await ended;
    expect(stream.destroyed).toBe(true);
  });
});
