import { judgeBackups, type BackupEvidence, type BackupHealth } from '../../src/operator/backup-health';

const at = (time: string) => Date.parse(`2026-05-${time}:00Z`);
const nightly = { cron: '30 3 * * *', timeZone: 'Etc/UTC' };
const cronJob = (lastScheduled?: string, more = {}) => ({ suspended: false, since: at('01T12:00'), lastScheduled: lastScheduled === undefined ? undefined : at(lastScheduled), ...more });
const good = { name: 'orders-1', at: '2026-05-09T03:31:00Z' };
const bad = { ...good, failure: 'the volume is full' };

const situations: [string, typeof nightly | { cron: string } | undefined, BackupEvidence, string, BackupHealth['reason']][] = [
  ['no schedule', undefined, {}, '10T12:00', 'NoSchedule'],
  ['no schedule, and the last one on demand failed', undefined, { lastRun: bad }, '10T12:00', 'BackupFailed'],
  ['the CronJob has still to be made', nightly, {}, '10T12:00', 'OnSchedule'],
  ['the last night’s run was begun', nightly, { cronJob: cronJob('10T03:30'), lastRun: good }, '10T12:00', 'OnSchedule'],
  ['the run is due since a minute', nightly, { cronJob: cronJob('09T03:30'), lastRun: good }, '10T03:31', 'OnSchedule'],
  ['the run is due since an hour, and none was begun', nightly, { cronJob: cronJob('09T03:30'), lastRun: good }, '10T04:30', 'BackupOverdue'],
  ['none was begun last night, and the next is just due', nightly, { cronJob: cronJob('08T03:30'), lastRun: good }, '10T03:31', 'BackupOverdue'],
  ['no run was ever begun', nightly, { cronJob: cronJob() }, '10T12:00', 'BackupOverdue'],
  ['made after the last due time', nightly, { cronJob: cronJob(undefined, { since: at('10T04:00') }) }, '10T12:00', 'OnSchedule'],
  ['woken from hibernation this noon', nightly, { cronJob: cronJob('02T03:30', { since: at('10T11:00') }), lastRun: good }, '10T12:00', 'OnSchedule'],
  ['hibernated for a week', nightly, { cronJob: cronJob('02T03:30', { suspended: true }), lastRun: good }, '10T12:00', 'Suspended'],
  ['the run failed, and the next is not due', nightly, { cronJob: cronJob('10T03:30'), lastRun: bad }, '10T12:00', 'BackupFailed'],
  ['one failed, and then one was missed', nightly, { cronJob: cronJob('09T03:30'), lastRun: bad }, '10T12:00', 'BackupOverdue'],
  ['every five minutes, one missed', { ...nightly, cron: '*/5 * * * *' }, { cronJob: cronJob('10T11:55') }, '10T12:03', 'BackupOverdue'],
  ['every five minutes, one a minute late', { ...nightly, cron: '*/5 * * * *' }, { cronJob: cronJob('10T11:55') }, '10T12:01', 'OnSchedule'],
  ['no zone is set, and the cluster’s is two hours off', { cron: '30 3 * * *' }, { cronJob: cronJob('10T01:30') }, '10T12:00', 'OnSchedule'],
  ['no zone is set, the cluster’s is two hours off, and a run was missed', { cron: '30 3 * * *' }, { cronJob: cronJob('09T01:30') }, '10T02:30', 'BackupOverdue'],
  ['the last run is dated tomorrow: a clock was wrong', nightly, { cronJob: cronJob('11T03:30') }, '10T12:00', 'BackupOverdue'],
  ['a range with a step but no end', { ...nightly, cron: '5/15 * * * *' }, { cronJob: cronJob('10T11:50') }, '10T12:00', 'OnSchedule'],
  ['the bucket’s Secret is missing', nightly, { missingSecret: 'Secret bucket does not exist', cronJob: cronJob('10T03:30'), lastRun: good }, '10T12:00', 'SecretMissing'],
];

describe('the health of backups', () => {
  it.each(situations)('%s', (_name, schedule, evidence, now, reason) => {
    expect(judgeBackups(schedule, evidence, at(now)).reason).toBe(reason);
  });

  it('is looked at again just when a run would be late, and then when the next is due', () => {
    const evidence = { cronJob: cronJob('10T03:30') };
    expect(judgeBackups(nightly, evidence, at('11T03:30')).lookAgainAt).toBe(at('11T04:30'));
    expect(judgeBackups(nightly, evidence, at('11T04:30')).lookAgainAt).toBe(at('12T03:30'));
  });

  it('names the Job of an earlier run that holds up the next', () => {
    const { message } = judgeBackups(nightly, { cronJob: cronJob('09T03:30', { active: 'orders-backup-1' }) }, at('10T12:00'));
    expect(message).toContain('due at 2026-05-10T03:30:00.000Z was not begun: Job orders-backup-1 of an earlier run is still at work');
  });

  it('tells a missed run and a failed one apart for those who count', () => {
    expect(judgeBackups(nightly, { cronJob: cronJob('09T03:30'), lastRun: bad }, at('10T12:00'))).toMatchObject({ overdue: true, failed: true });
    expect(judgeBackups(undefined, {}, at('10T12:00'))).toMatchObject({ overdue: undefined, failed: false });
  });
});
