import { Cron } from 'croner';

/** A schedule and what is known of its runs. Times are milliseconds since 1970. */
export interface ScheduleFacts {
  /** Five fields, as a CronJob knows them. */
  readonly cron: string;
  /** @default the zone of the cluster's controller manager, which nobody can ask: it is told by the runs */
  readonly timeZone?: string;
  /** Since when it stands as it does: what was due before that was promised by nobody. */
  readonly since: number;
  /** The due time of the last run that was started. */
  readonly lastScheduled?: number;
}

/** Whether a schedule keeps its word. */
export interface ScheduleVerdict {
  /** The due time that passed without a run. @default none did */
  readonly missed?: number;
  /** When the answer may become another one, though nothing happens. */
  readonly lookAgainAt: number;
}

/** A run may be late by half a period, but not by more than this. A CronJob of ours makes up for a missed one within the same time. */
const LONGEST_GRACE_MS = 3_600_000;
/** Two machines' clocks may differ so much without one of them being wrong. */
const SKEW_MS = 300_000;

/**
 * Judges a schedule: a run is missed when half of the time until the next one has passed (an hour at most) and none was started.
 *
 * Guarantees: a missed run is told before the next one is due, and until a run is started again. A due time that a change of clocks skips is none.
 */
export function judgeSchedule({ cron, timeZone, since, lastScheduled }: ScheduleFacts, now: number): ScheduleVerdict {
  const last = believed(lastScheduled, now);
  // Without a zone the controller manager's own counts: its runs are off our UTC times by always the same.
  const shift = timeZone !== undefined || last === undefined ? 0 : last - (periodAt(cron, 'UTC', last).due ?? last);
  const { before, due, next } = periodAt(cron, timeZone ?? 'UTC', now - shift);
  if (due === undefined || next === undefined) return { lookAgainAt: now + LONGEST_GRACE_MS };
  const late = due + shift + Math.min((next - due) / 2, LONGEST_GRACE_MS);
  const judged = now >= late ? due : before;
  const kept = Math.max(believed(since, now) ?? -Infinity, last ?? -Infinity);
  return { missed: judged !== undefined && kept < judged + shift ? judged + shift : undefined, lookAgainAt: now >= late ? next + shift : late };
}

/** A time that lies in the future was told by a clock that has been corrected since: it says nothing. */
function believed(time: number | undefined, now: number): number | undefined {
  return time === undefined || time > now + SKEW_MS ? undefined : time;
}

/** The due times around a moment: the last two up to it, and the first after it. */
interface Period {
  readonly before?: number;
  readonly due?: number;
  readonly next?: number;
}

/** The period that each schedule was last asked for: a pass every half minute asks for the same one all day. */
const periods = new Map<string, Period>();

function periodAt(cron: string, timeZone: string, time: number): Period {
  const key = `${timeZone} ${cron}`;
  const known = periods.get(key);
  if (known?.due !== undefined && known.next !== undefined && known.due <= time && time < known.next) return known;
  // `5/15` is a range up to the end, as for CronJobs.
  const times = new Cron(cron, { timezone: timeZone, paused: true, mode: '5-part', sloppyRanges: true });
  // Croner moves a time that a change of clocks skips; the CronJob controller leaves it out.
  const isReal = (run: Date): boolean => times.match(run);
  const [due, before] = times.previousRuns(4, new Date(time + 1000)).filter(isReal).map(Number);
  const [next] = times.nextRuns(3, new Date(time)).filter(isReal).map(Number);
  const period = { before, due, next };
  if (periods.size > 1000) periods.clear();
  periods.set(key, period);
  return period;
}
