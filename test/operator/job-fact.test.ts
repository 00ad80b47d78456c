import { failureOf, type JobFact } from '../../src/operator/job-fact';
import type { StoreResult } from '../../src/store/result';

const job = (more: Partial<JobFact<StoreResult>>): JobFact<StoreResult> => ({ name: 'b1', uid: '1', state: 'failed', ...more });
const told = (reason: 'DumpFailed' | 'Interrupted', message: string): StoreResult => ({ outcome: 'failed', reason, message });

describe('why a Job failed', () => {
  it.each<[string, Partial<JobFact<StoreResult>>, string]>([
    ['is what its store said', { result: told('DumpFailed', 'the server went away'), failure: 'Job has reached its backoff limit' }, 'the server went away'],
    ['is what the Job controller said, where the pod was only told to stop', { result: told('Interrupted', 'the pod was told to stop'), failure: 'Job was active longer than specified deadline' }, 'Job was active longer than specified deadline'],
    ['is the stop, where nobody says more', { result: told('Interrupted', 'the pod was told to stop') }, 'the pod was told to stop'],
    ['is what the Job controller said, where the store had no time to speak', { failure: 'Job was active longer than specified deadline' }, 'Job was active longer than specified deadline'],
    ['may be unknown', {}, 'it told no reason'],
  ])('%s', (_what, facts, words) => {
    expect(failureOf(job(facts))).toBe(words);
  });
});
