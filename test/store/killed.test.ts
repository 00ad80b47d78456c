import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isArtifact, type Manifest } from '../../src/store/manifest';
import type { Stage } from '../../src/store/progress';
import { Conversation, dumpText } from './conversation';

const folder = 'backups/shop/b1';

/** Runs a claim with a Job of its own: several are at work at once. */
async function withJob(claim: (job: Conversation) => Promise<void>): Promise<void> {
  const job = new Conversation();
  try {
    await claim(job);
  } finally {
    job.end();
  }
}

const filesOf = (job: Conversation): string[] => (existsSync(job.path(folder)) ? readdirSync(job.path(folder)).sort() : []);

/** What a reader would take for a backup is whole. */
function expectNoFalseClaim(job: Conversation): void {
  if (!filesOf(job).includes('manifest.json')) return;
  const { artifact, sha256 } = JSON.parse(job.read(`${folder}/manifest.json`)) as Manifest;
  expect(createHash('sha256').update(readFileSync(job.path(`${folder}/${artifact}`))).digest('hex')).toBe(sha256);
}

describe('a backup whose pod is killed', () => {
  const stages: Stage[] = ['connect', 'dump', 'marked', 'stored', 'recorded', 'load', 'count', 'verified'];
  test.concurrent.each(stages)('when it reaches %s claims nothing that is not whole, and is good and without litter after the next try', (stage) =>
    withJob(async (job) => {
      await job.killedAt(stage, 'put', { verify: true });
      expectNoFalseClaim(job);
      expect((await job.job('put', { verify: true })).result).toMatchObject({ outcome: 'stored', backup: { rows: 3, verifiedAt: expect.any(String) as string } });
      expectNoFalseClaim(job);
      expect(filesOf(job).map((file) => (isArtifact(file) ? 'artifact' : file))).toEqual(['artifact', 'manifest.json']);
    }), 60_000);
});

describe('a restore whose pod is killed', () => {
  const stages: Stage[] = ['connect', 'chosen', 'load', 'keep', 'kept'];
  test.concurrent.each(stages)('when it reaches %s leaves no half data directory under its name, and is whole after the next try', (stage) =>
    withJob(async (job) => {
      await job.job('put');
      await job.killedAt(stage, 'get');
      expect(existsSync(job.path('data/db'))).toBe(stage === 'kept');
      const { result } = await job.job('get');
      expect(result).toMatchObject({ outcome: stage === 'kept' ? 'present' : 'restored', backup: { name: 'b1', rows: 3 } });
      expect(job.read('data/db/loaded')).toBe(dumpText);
      expect(readdirSync(job.path('data'))).toEqual(['db']);
    }), 60_000);
});
