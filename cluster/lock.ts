import { createHash } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` while nobody else on this machine runs work of the same name, usually a path: two test runs on a new machine must not
 * build the same thing twice, nor start the same cluster twice.
 *
 * The lock is a socket that has a name and no file: the kernel takes it back from a process that dies, and no number of a
 * process, which another one may have by then, has to be believed.
 */
export async function withLock<T>(what: string, work: () => Promise<T>, waiting: (holder: number) => void = () => undefined): Promise<T> {
  const name = `\0dbop-${createHash('sha256').update(what).digest('hex')}`;
  let told = false;
  let lock = await tryTake(name);
  while (lock === undefined) {
    if (!told) {
      const holder = await holderOf(name);
      if (holder !== undefined) waiting(holder);
      told = holder !== undefined;
    }
    await sleep(100);
    lock = await tryTake(name);
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}

/** Whether a process of this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function tryTake(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((asking) => asking.on('error', () => undefined).end(String(process.pid)));
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(name, () => resolve(server.unref()));
  });
}

/** Undefined if the lock was let go of in this moment. */
function holderOf(name: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    connect(name)
      .once('data', (pid) => resolve(Number(pid)))
      .once('error', () => resolve(undefined))
      .once('close', () => resolve(undefined));
  });
}
