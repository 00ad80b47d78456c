import { failureOf, jobFact, podOfJob, type JobFact } from '../../src/operator/job-fact';
import type { Pod } from '../../src/operator/pod-story';
import { parseResult, type StoreResult } from '../../src/store/result';

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

describe('a pod of a former Job of the same name', () => {
  const pod = (uid: string, status: Pod['status']): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `b1-${uid}`, labels: { 'batch.kubernetes.io/job-name': 'b1', 'batch.kubernetes.io/controller-uid': uid } }, status });
  const ended = (uid: string, message: string) => pod(uid, { phase: 'Failed', containerStatuses: [{ name: 'store', state: { terminated: { exitCode: 1, message: JSON.stringify(told('DumpFailed', message)) } } }] });
  const present = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'b1', uid: 'new' }, status: { conditions: [{ type: 'Failed', status: 'True', message: 'Job has reached its backoff limit' }] } };

  it('does not speak for this one', () => {
    expect(failureOf(jobFact(present, [ended('old', 'of old')], parseResult))).toBe('Job has reached its backoff limit');
    expect(failureOf(jobFact(present, [ended('old', 'of old'), ended('new', 'of now')], parseResult))).toBe('of now');
  });

  it('is not at work for this one', () => {
    expect(podOfJob({ uid: 'new' }, [pod('old', { phase: 'Running' })])).toBeUndefined();
  });
});
