import { createServer } from 'node:net';

/**
 * Ports below the kernel's range for outgoing connections (32768 and up): a port from that range can be taken by any
 * client between being found free here and being listened on by the server.
 */
const range = { first: 20_000, last: 32_000 };

/** A number of different TCP ports that nobody listens on at this address. */
export async function freePorts(count: number, address = '127.0.0.1'): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = range.first + Math.floor(Math.random() * (range.last - range.first));
    if (!found.has(port) && (await isFree(port, address))) found.add(port);
  }
  return [...found];
}

function isFree(port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
