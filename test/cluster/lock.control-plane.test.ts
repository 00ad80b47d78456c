import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { withLock } from '../../cluster/lock';

const name = `lock of test ${process.pid}`;

/** Another process, which takes the lock, says so, and does nothing more. */
async function otherHolder(): Promise<ReturnType<typeof spawn>> {
  const source = `require(${JSON.stringify(join(__dirname, '..', '..', 'cluster', 'lock.ts'))}).withLock(${JSON.stringify(name)}, async () => { console.log('held'); await new Promise((done) => setTimeout(done, 600_000)); });`;
  const holder = spawn(process.execPath, ['--require', 'tsx/cjs', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return holder;
}

test('work under one lock is done one after the other', async () => {
  const steps: string[] = [];
  const work = (who: string) => withLock(name, async () => {
    steps.push(`${who} begins`);
    await new Promise(setImmediate);
    steps.push(`${who} ends`);
  });
  await Promise.all([work('first'), work('second')]);
  expect(steps).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
});

test('work that fails lets go of its lock', async () => {
  await expect(withLock(name, () => Promise.reject(new Error('no room')))).rejects.toThrow('no room');
  expect(await withLock(name, async () => 'done')).toBe('done');
});

test('who waits is told for whom, and goes on when that process is killed', async () => {
  const holder = await otherHolder();
  const told: number[] = [];
  const waited = withLock(name, async () => 'done', (pid) => {
    told.push(pid);
    holder.kill('SIGKILL');
  });
  expect(await waited).toBe('done');
  expect(told).toEqual([holder.pid]);
});
