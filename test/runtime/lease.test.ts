import { ApiError } from '../../src/runtime/api-error';
import { LeaderLease, type LeaseOptions } from '../../src/runtime/lease';
import { ManualClock } from '../../src/runtime/manual-clock';

type LeaseClient = ConstructorParameters<typeof LeaderLease>[0];
type Stored = { metadata: { resourceVersion: string; uid: string; name: string }; spec: Record<string, unknown> };

/** One Lease, as the API server keeps it: writes hold only for the version they name. */
class LeaseStore {
  lease: Stored | undefined;
  private version = 0;

  /** A client of one process, which a partition may cut off; `late` lets a write be done though its answer never comes. */
  client(link: { cut: boolean; late?: boolean }): LeaseClient {
    const answer = async <T>(act: () => T): Promise<T> => {
      if (link.cut && link.late !== true) throw new Error('connection refused');
      const result = act();
      if (link.cut) throw new Error('the answer was lost');
      return result;
    };
    const client = {
      get: () => answer(() => this.lease ?? refuse(404, 'NotFound')),
      create: (_type: unknown, object: Stored) => answer(() => (this.lease === undefined ? this.store(object.spec) : refuse(409, 'AlreadyExists'))),
      patch: (_type: unknown, _key: unknown, patch: Stored) =>
        answer(() => (patch.metadata.resourceVersion === this.lease?.metadata.resourceVersion ? this.store({ ...this.lease.spec, ...patch.spec }) : refuse(409, 'Conflict'))),
    };
    return client as unknown as LeaseClient;
  }

  private store(spec: Record<string, unknown>): Stored {
    this.version += 1;
    this.lease = { metadata: { name: 'lease', uid: 'uid', resourceVersion: String(this.version) }, spec };
    return this.lease;
  }
}

function refuse(status: number, reason: string): never {
  throw new ApiError({ method: 'PATCH', path: '/lease' }, status, { reason, message: reason });
}

class Process {
  readonly link: { cut: boolean; late?: boolean } = { cut: false };
  readonly lease: LeaderLease;
  readonly stop = new AbortController();
  readonly terms: { from: number; to?: number; why?: unknown }[] = [];
  private readonly running: Promise<void>;

  constructor(store: LeaseStore, identity: string, private readonly clock: ManualClock, more: Partial<LeaseOptions> = {}) {
    this.lease = new LeaderLease(store.client(this.link), { key: { namespace: 'ns', name: 'lease' }, identity, clock, random: () => 0, ...more });
    this.running = this.lease.lead((lost) => this.work(lost), this.stop.signal);
  }

  get leads(): boolean {
    return this.terms.at(-1) !== undefined && this.terms.at(-1)?.to === undefined;
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private async work(lost: AbortSignal): Promise<void> {
    const term: Process['terms'][number] = { from: this.clock.monotonic() };
    this.terms.push(term);
    await new Promise<void>((resolve) => {
      lost.addEventListener('abort', () => resolve());
      this.stop.signal.addEventListener('abort', () => resolve());
    });
    term.to = this.clock.monotonic();
    term.why = lost.aborted ? (lost.reason as Error).message : 'stopped';
  }
}

test('the first who comes leads, and renews for as long as it works', async () => {
  const clock = new ManualClock();
  const store = new LeaseStore();
  const a = new Process(store, 'a', clock);
  await clock.advance(60_000);
  expect(a.leads).toBe(true);
  expect(a.lease.leads).toBe(true);
  expect(store.lease?.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
  await a.end();
});

test('others stand by and know who leads', async () => {
  const clock = new ManualClock();
  const store = new LeaseStore();
  const a = new Process(store, 'a', clock);
  await clock.advance(100);
  const b = new Process(store, 'b', clock);
  await clock.advance(60_000);
  expect(b.terms).toEqual([]);
  expect(b.lease.holder).toBe('a');
  await Promise.all([a.end(), b.end()]);
});

test('a leader that stops hands over at once', async () => {
  const clock = new ManualClock();
  const store = new LeaseStore();
  const a = new Process(store, 'a', clock);
  await clock.advance(100);
  const b = new Process(store, 'b', clock);
  await clock.advance(5_000);
  await a.end();
  expect(store.lease?.spec.holderIdentity).toBe('');
  await clock.advance(2_000);
  expect(b.leads).toBe(true);
  expect(store.lease?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  await b.end();
});

test.each([
  ['refused', false],
  ['done though their answers are lost', true],
])('a leader whose renewals are %s steps down well before another may begin', async (_what, late) => {
  const clock = new ManualClock();
  const store = new LeaseStore();
  const a = new Process(store, 'a', clock);
  await clock.advance(100);
  const b = new Process(store, 'b', clock);
  await clock.advance(20_000);
  a.link.cut = true;
  a.link.late = late;
  await clock.advance(60_000);
  expect(a.leads).toBe(false);
  expect(a.terms[0]?.why).toMatch(/no renewal for 10000 ms/);
  if (!late) {
    expect(b.leads).toBe(true);
    expect((b.terms[0]?.from ?? 0) - (a.terms[0]?.to ?? 0)).toBeGreaterThanOrEqual(5_000);
  }
  a.link.cut = false;
  await clock.advance(60_000);
  expect([a, b].filter(({ leads }) => leads)).toHaveLength(1);
  await Promise.all([a.end(), b.end()]);
});

test('a process that stood still does not believe that it still leads, even before its timers notice', async () => {
  const clock = new ManualClock();
  let asleep = 0;
  const late = Object.assign(Object.create(clock) as ManualClock, { monotonic: () => clock.monotonic() + asleep });
  const a = new Process(new LeaseStore(), 'a', late);
  await clock.advance(3_000);
  expect(a.lease.leads).toBe(true);
  asleep = 10_000;
  expect(a.leads).toBe(true);
  expect(a.lease.leads).toBe(false);
  await a.end();
});

test('when somebody else was written into the lease, the leader gives way', async () => {
  const clock = new ManualClock();
  const store = new LeaseStore();
  const a = new Process(store, 'a', clock);
  await clock.advance(3_000);
  await store.client({ cut: false }).patch({} as never, {} as never, { metadata: { resourceVersion: store.lease?.metadata.resourceVersion }, spec: { holderIdentity: 'b' } });
  await clock.advance(5_000);
  expect(a.terms[0]?.why).toBe("the lead is lost: 'b' leads now");
  await a.end();
  expect(store.lease?.spec.holderIdentity).toBe('b');
});

test('a Lease that somebody deleted lets nobody else lead while its holder may be at work', async () => {
  const clock = new ManualClock();
  const store = new LeaseStore();
  const a = new Process(store, 'a', clock);
  await clock.advance(100);
  const b = new Process(store, 'b', clock);
  await clock.advance(20_000);
  a.link.cut = true;
  await clock.advance(500);
  store.lease = undefined;
  await clock.advance(60_000);
  expect(b.leads).toBe(true);
  expect(b.terms[0]?.from).toBeGreaterThan(a.terms[0]?.to as number);
  await Promise.all([a.end(), b.end()]);
});

test('a Lease that somebody deleted is made anew by its holder, who leads on', async () => {
  const clock = new ManualClock();
  const store = new LeaseStore();
  const a = new Process(store, 'a', clock);
  await clock.advance(100);
  const b = new Process(store, 'b', clock);
  await clock.advance(20_000);
  store.lease = undefined;
  await clock.advance(60_000);
  expect(a.terms).toHaveLength(1);
  expect(a.leads).toBe(true);
  expect(b.terms).toEqual([]);
  expect(store.lease).toMatchObject({ spec: { holderIdentity: 'a' } });
  await Promise.all([a.end(), b.end()]);
});

test('timings that could let two lead are refused', () => {
  const lease = (timing: Partial<LeaseOptions>): LeaderLease => new LeaderLease(new LeaseStore().client({ cut: false }), { key: { name: 'lease' }, identity: 'a', clock: new ManualClock(), ...timing });
  expect(() => lease({ durationMs: 10_000 })).toThrow('lease: retry (2000 ms) must be shorter than the renew deadline (10000 ms), and that shorter than the duration (10000 ms)');
});
