import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client } from '../../runtime/client';
import { SqlError } from './door';

/** A server to be reached, by each of its addresses. */
export interface DialTarget {
  readonly namespace: string;
  /** DNS name of the Service: the one that the server's certificate is for, a given one too. */
  readonly host: string;
  /** DNS name of the pod, where no Service leads to it. @default host */
  readonly podHost?: string;
  readonly port: number;
  /** The pod behind it. */
  readonly pod: string;
}

/** Makes a connection to a server. @throws SqlError (`unreachable`) */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;

/** Inside the cluster. */
const SERVICE_TIMEOUT_MS = 2_000;
/** A packet that came before the Service's rules is lost, and TCP sends it again only after a second: another connection is tried beside it. */
const ANEW_MS = 200;
/** Over the API server, which may be far away. */
const FORWARD_TIMEOUT_MS = 5_000;

/** Through the Service, as applications do: for an operator that runs in the cluster. */
export const dialService: Dial = async (target, signal) => {
  signal.throwIfAborted();
  const host = target.podHost ?? target.host;
  const waiting = new Set<Socket>();
  let giveUp = (): void => undefined;
  try {
    const connected = await new Promise<Socket>((resolve, reject) => {
      const fail = (why: string) => reject(new SqlError('unreachable', `cannot connect to ${host}:${target.port}: ${why}`));
      const dial = () => {
        if (waiting.size * ANEW_MS >= SERVICE_TIMEOUT_MS) return fail(`no answer in ${SERVICE_TIMEOUT_MS / 1000} s`);
        const socket = connect({ host, port: target.port });
        waiting.add(socket.setTimeout(ANEW_MS, dial));
        socket.on('error', (error) => fail(error.message)).once('connect', () => resolve(socket));
      };
      giveUp = () => fail('the pass has ended');
      signal.addEventListener('abort', giveUp, { once: true });
      dial();
    });
    waiting.delete(connected.setTimeout(0));
    return connected;
  } finally {
    signal.removeEventListener('abort', giveUp);
    for (const socket of waiting) socket.destroy();
  }
};

/** Through the API server: for an operator on a laptop, which sees no Service. */
export function dialByPortForward(client: Client): Dial {
  return async (target, signal) => {
    try {
      return await client.portForward(target.namespace, target.pod, target.port, { signal, timeoutMs: FORWARD_TIMEOUT_MS });
    } catch (error) {
      throw new SqlError('unreachable', `cannot forward a port to pod ${target.namespace}/${target.pod}: ${(error as Error).message}`, error);
    }
  };
}
