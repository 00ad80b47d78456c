import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Client } from '../runtime/client';

/** A port of this machine that leads to a port of a pod. */
export interface Tunnel {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Opens a port on the loopback device; every connection to it becomes one to the pod, through the API server.
 * @param complain told when a connection could not be passed on, or broke
 */
export async function openTunnel(client: Client, pod: { readonly namespace: string; readonly name: string; readonly port: number }, complain: (why: string) => void): Promise<Tunnel> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    client.portForward(pod.namespace, pod.name, pod.port).then(
      (remote) => {
        remote.on('error', (error) => {
          complain(error.message);
          socket.destroy();
        });
        socket.once('close', () => remote.destroy());
        remote.pipe(socket).pipe(remote);
      },
      (error: Error) => {
        complain(error.message);
        socket.destroy();
      },
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
