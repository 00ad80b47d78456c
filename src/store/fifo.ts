import { constants, open as openCallback } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { Time } from './time';

/** A bare descriptor, because the socket closes it: a handle would close it once more when it is collected. */
const open = promisify(openCallback);

/** A pipe holds 64 KiB: whoever writes to it would stand still whenever the reader is busy with what came before. */
const AHEAD = 4 * 1024 * 1024;

/**
 * Opens a FIFO for reading, without waiting for a writer.
 * A file stream would block a thread of the pool until somebody writes, and with it the end of the process; a socket is polled.
 */
export async function readFifo(path: string): Promise<Readable> {
  const fd = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false, readableHighWaterMark: AHEAD } as SocketConstructorOpts);
}

/** Opens a FIFO for writing as soon as somebody reads it. */
export async function writeFifo(path: string, time: Time, signal: AbortSignal): Promise<Writable> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const fd = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await time.sleep(50, signal);
    }
  }
}
