import { Readable } from 'node:stream';
import type { Context } from '../../src/runtime/context';
import { ManualClock } from '../../src/runtime/manual-clock';
import { stageText } from '../../src/operator/byte-text';
import { podOfJob } from '../../src/operator/job-fact';
import { JobProgress } from '../../src/operator/job-progress';
import type { Pod } from '../../src/operator/pod-story';

const job = { uid: 'j1' };
const pod = (name: string, phase: string, creationTimestamp: string): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', creationTimestamp, labels: { 'batch.kubernetes.io/controller-uid': 'j1' } }, status: { phase, containerStatuses: phase === 'Running' ? [{ name: 'store', state: { running: {} } }] : [] } });
const pods = [pod('b1-old', 'Failed', '2026-01-01T00:00:00Z'), pod('b1-new', 'Running', '2026-01-01T00:01:00Z')];

let clock: ManualClock;
let progress: JobProgress;
let log: string | Error;
let asked: string[];
beforeEach(() => {
  [clock, log, asked] = [new ManualClock(), '', []];
  progress = new JobProgress(clock);
});

const context = (): Pick<Context, 'client' | 'signal'> => ({
  signal: new AbortController().signal,
  client: {
    logs: async (_namespace: string, name: string) => {
      asked.push(name);
      if (log instanceof Error) throw log;
      return Readable.from([log]);
    },
  } as unknown as Context['client'],
});
const look = () => progress.of(context(), job, podOfJob(job, pods));

describe('the progress of a Job', () => {
  test('is asked of the pod at work, once in ten seconds and not before the Job is so old', async () => {
    log = '{"stage":"dump","bytes":10}\n';
    expect(await look()).toBeUndefined();
    await clock.advance(9_999);
    expect(await look()).toBeUndefined();
    expect(asked).toEqual([]);
    await clock.advance(1);
    expect(await look()).toMatchObject({ stage: 'dump', bytes: 10 });
    await clock.advance(5_000);
    await look();
    expect(asked).toEqual(['b1-new']);
  });

  test('is not asked for while no pod is at work, and then at once', async () => {
    await progress.of(context(), job, podOfJob(job, []));
    await clock.advance(60_000);
    expect(await progress.of(context(), job, podOfJob(job, [pods[0]!]))).toBeUndefined();
    expect(asked).toEqual([]);
    log = '{"stage":"connect"}\n';
    expect(await look()).toMatchObject({ stage: 'connect' });
  });

  test('is the last stage that was told, whatever else stands around it', async () => {
    await look();
    log = '{"stage":"dump","bytes":10}\n{"stage":"load","of":30,"bytes":20}\n{"message":"removed litter"}\n{"stage":"cou';
    await clock.advance(10_000);
    expect(await look()).toMatchObject({ stage: 'load', bytes: 20, of: 30 });
  });

  test('stays what it was when the log can not be read', async () => {
    await look();
    log = '{"stage":"dump","bytes":10}\n';
    await clock.advance(10_000);
    await look();
    log = new Error('container is waiting to start');
    await clock.advance(10_000);
    expect(await look()).toMatchObject({ stage: 'dump', bytes: 10 });
  });

  test('tells for how long nothing has moved', async () => {
    await look();
    log = '{"stage":"load","bytes":10}\n';
    await clock.advance(10_000);
    expect(await look()).toMatchObject({ quietMs: 0 });
    await clock.advance(60_000);
    expect(await look()).toMatchObject({ quietMs: 60_000 });
    log = '{"stage":"load","bytes":11}\n';
    await clock.advance(10_000);
    expect(await look()).toMatchObject({ quietMs: 0, bytes: 11 });
  });

  test.each([
    [{ stage: 'connect' }, 'connect'],
    [{ stage: 'dump', bytes: 1_258_291 }, 'dump, 1.2 MiB so far'],
    [{ stage: 'load', bytes: 1_258_291, of: 5_368_709_120 }, 'load, 1.2 MiB of 5.0 GiB'],
  ])('%j is read by people as %s', (line, text) => {
    expect(stageText(line)).toBe(text);
  });
});
