import { isKeptInstead, KEPT, notRestored } from '../../src/operator/kept-data';
import type { RestorePlan } from '../../src/operator/plan';
import { mysqlPlan } from './plans';

const asking = (restore: RestorePlan) => ({ ...mysqlPlan(), restore });
const friday: RestorePlan = { policy: 'IfAvailable', from: { backup: 'friday' } };
const found = { origin: 'empty', holdsData: true, ours: false, madeAt: '2026-02-01T00:00:00Z' };

describe('data that is there where a backup is asked for', () => {
  it.each<[string, RestorePlan, Partial<Parameters<typeof isKeptInstead>[1]>, boolean]>([
    ['is kept instead of a backup by name', friday, {}, true],
    ['is kept instead of any backup, where one is required', { policy: 'Required' }, {}, true],
    ['is kept also where an earlier life had restored it', friday, { origin: 'thursday', originAt: '2026-01-01T00:00:00Z' }, true],
    ['is what was asked for, if it came from that backup', friday, { origin: 'friday', originAt: '2026-01-01T00:00:00Z' }, false],
    ['disappoints nobody who would have started empty', { policy: 'IfAvailable' }, {}, false],
    ['is this life’s own on a claim that was taken up', friday, { ours: true }, false],
    ['is this life’s own if it was settled in it, though the claim has lost its label', friday, { origin: 'other', originAt: '2026-02-01T00:01:00Z' }, false],
    ['is for a Job to look at, if nobody has settled what it is', friday, { origin: undefined }, false],
    ['is none, if no server was ever ready on it', friday, { holdsData: false }, false],
  ])('%s', (_claim, restore, more, kept) => {
    expect(isKeptInstead(asking(restore), { ...found, ...more })).toBe(kept);
  });

  it('is told of as long as the spec asks for the backup, with what to do', () => {
    expect(notRestored(asking(friday), KEPT)).toContain('volume data-orders-0 held data already, so nothing was restored');
    expect(notRestored(asking({ policy: 'IfAvailable' }), KEPT)).toBeUndefined();
    expect(notRestored(asking(friday), 'friday')).toBeUndefined();
  });
});
