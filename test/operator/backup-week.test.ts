import { judgeBackups } from '../../src/operator/backup-health';
import { expired, FORMAT, newestGood, type Manifest } from '../../src/store/manifest';

const STEP = 600_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * A world of one schedule, ten minutes at a time, in which only the clock on the wall is injected: a CronJob controller that reads it as
 * Kubernetes' own does (a due time is one whose wall clock matches; a missed one is made up for within the hour), the runs
 * that it starts, and retention after each. Whoever looks on is our judgement.
 */
class World {
  lastScheduled?: number;
  backups: Manifest[] = [];
  /** Whether the control plane, and the operator, are there at a moment. */
  controllerAway: (now: number) => boolean = () => false;
  operatorAway: (now: number) => boolean = () => false;
  runFails: (now: number) => boolean = () => false;
  /** What the operator's status says, at each change. */
  readonly told: string[] = [];
  /** Names of all backups that ever were, good or not, in their order. */
  readonly runs: string[] = [];
  private failure?: string;
  private readonly wall: Intl.DateTimeFormat;

  constructor(
    private readonly schedule: { minute: number; hour: number; timeZone: string },
    public now: number,
    private readonly retention = { count: 3, days: 2 },
  ) {
    this.since = now;
    this.wall = new Intl.DateTimeFormat('en-GB', { timeZone: schedule.timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  }

  private readonly since: number;

  pass(days: number): this {
    for (let step = 0; step < (days * DAY) / STEP; step += 1) {
      this.now += STEP;
      if (!this.controllerAway(this.now)) this.startIfDue();
      if (!this.operatorAway(this.now)) this.look();
    }
    return this;
  }

  private startIfDue(): void {
    const from = Math.max(this.lastScheduled ?? this.since, this.now - HOUR);
    let due = this.now;
    while (due > from && !this.isDue(due)) due -= STEP;
    if (due <= from) return;
    this.lastScheduled = due;
    const name = `b${this.runs.length + 1}`;
    this.runs.push(name);
    this.failure = this.runFails(this.now) ? name : undefined;
    if (this.failure !== undefined) return;
    const time = new Date(this.now).toISOString();
    this.backups.push({ format: FORMAT, artifact: 'dump-00000000.sql.gz', compression: 'gzip', database: 'orders', name, engine: 'mysql', serverVersion: '9.7.4', bytes: 1, storedBytes: 1, sha256: 'x', tables: 0, rows: 0, startedAt: time, completedAt: time, verifiedAt: time });
    const last = newestGood(this.backups)?.name;
    const gone = expired(this.backups, this.retention, new Date(this.now));
    expect(gone).not.toContain(last);
    this.backups = this.backups.filter((backup) => !gone.includes(backup.name));
  }

  private isDue(time: number): boolean {
    return this.wall.format(time) === `${String(this.schedule.hour).padStart(2, '0')}:${String(this.schedule.minute).padStart(2, '0')}`;
  }

  private look(): void {
    const { minute, hour, timeZone } = this.schedule;
    const lastRun = this.runs.length === 0 ? undefined : { name: this.runs.at(-1)!, at: '', failure: this.failure && 'broken' };
    const { reason } = judgeBackups({ cron: `${minute} ${hour} * * *`, timeZone }, { cronJob: { suspended: false, since: this.since, lastScheduled: this.lastScheduled }, lastRun }, this.now);
    if (this.told.at(-1)?.split(' ')[1] !== reason) this.told.push(`${new Date(this.now).toISOString().slice(5, 16)} ${reason}`);
  }
}

const berlin = (hour: number, minute: number) => ({ hour, minute, timeZone: 'Europe/Berlin' });

describe('a week of a schedule', () => {
  it('is calm when every night has its run, and keeps what retention says', () => {
    const world = new World(berlin(3, 30), Date.parse('2026-05-04T10:00:00Z')).pass(7);
    expect(world.told).toEqual(['05-04T10:10 OnSchedule']);
    expect(world.runs).toHaveLength(7);
    expect(world.backups.map(({ name }) => name)).toEqual(['b5', 'b6', 'b7']);
  });

  it('misses nothing in the night that has no half past two', () => {
    const world = new World(berlin(2, 30), Date.parse('2026-03-26T10:00:00Z')).pass(7);
    expect(world.runs).toHaveLength(6);
    expect(world.told).toEqual(['03-26T10:10 OnSchedule']);
  });

  it('misses nothing in the night that has half past two twice', () => {
    const world = new World(berlin(2, 30), Date.parse('2026-10-22T10:00:00Z')).pass(7);
    expect(world.runs).toHaveLength(8);
    expect(world.told).toEqual(['10-22T10:10 OnSchedule']);
  });

  it.each([
    ['spring', '2026-03-26T10:00:00Z', '03-29T02:30'],
    ['autumn', '2026-10-22T10:00:00Z', '10-25T03:30'],
  ])('tells of a run that is missed in the very night of the change in %s, an hour after it was due', (_season, start, told) => {
    const world = new World(berlin(3, 30), Date.parse(start));
    const night = Date.parse(start) + 2.5 * DAY;
    world.controllerAway = (now) => now > night && now < night + 0.75 * DAY;
    expect(world.pass(7).told.slice(1)[0]).toBe(`${told} BackupOverdue`);
    expect(world.told.at(-1)).toMatch(/OnSchedule$/);
  });

  it('goes on while the operator is away for two days, which then finds all well', () => {
    const world = new World(berlin(3, 30), Date.parse('2026-05-04T10:00:00Z'));
    world.operatorAway = (now) => now > Date.parse('2026-05-06T00:00:00Z') && now < Date.parse('2026-05-08T00:00:00Z');
    world.pass(7);
    expect(world.runs).toHaveLength(7);
    expect(world.told).toEqual(['05-04T10:10 OnSchedule']);
  });

  it('shows a control plane that is away for two days, from the first missed run to the first made one', () => {
    const world = new World(berlin(3, 30), Date.parse('2026-05-04T10:00:00Z'));
    world.controllerAway = (now) => now > Date.parse('2026-05-06T00:00:00Z') && now < Date.parse('2026-05-08T00:00:00Z');
    expect(world.pass(7).told).toEqual(['05-04T10:10 OnSchedule', '05-06T02:30 BackupOverdue', '05-08T01:30 OnSchedule']);
  });

  it('never loses its last good backup while runs fail for longer than anything is kept, and no failure stops the next run', () => {
    const world = new World(berlin(3, 30), Date.parse('2026-05-04T10:00:00Z'), { count: 1, days: 1 });
    world.runFails = (now) => now > Date.parse('2026-05-06T00:00:00Z') && now < Date.parse('2026-05-11T00:00:00Z');
    world.pass(6);
    expect(world.backups.map(({ name }) => name)).toEqual(['b1']);
    expect(world.runs).toHaveLength(6);
    world.pass(2);
    expect(world.told).toEqual(['05-04T10:10 OnSchedule', '05-06T01:30 BackupFailed', '05-11T01:30 OnSchedule']);
    expect(world.backups.map(({ name }) => name)).toEqual(['b7', 'b8']);
  });

  it('tells of the runs that a clock set two days ahead has skipped, until the next one', () => {
    const world = new World(berlin(3, 30), Date.parse('2026-05-04T10:00:00Z')).pass(2);
    world.now += 2 * DAY;
    world.pass(2);
    expect(world.told).toEqual(['05-04T10:10 OnSchedule', '05-08T10:10 BackupOverdue', '05-09T01:30 OnSchedule']);
    expect(world.backups).not.toEqual([]);
  });

  it('tells that nothing runs after a clock was set two days back, until it has caught up; and retention removes nothing for that', () => {
    const world = new World(berlin(3, 30), Date.parse('2026-05-01T10:00:00Z')).pass(6);
    const before = world.backups.map(({ name }) => name);
    world.now -= 2 * DAY;
    world.pass(1.5);
    expect(world.told.at(-1)).toBe('05-05T10:10 BackupOverdue');
    expect(world.backups.map(({ name }) => name)).toEqual(before);
    world.pass(2);
    expect(world.told.at(-1)).toMatch(/^05-0[78]T.* OnSchedule$/);
  });
});
