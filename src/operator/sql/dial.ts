import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client } from '../../runtime/client';
import { SqlError } from './door';

/** A server to be reached, by both of its addresses. */
export interface DialTarget {
  readonly namespace: string;
  /** DNS name of the Service. */
  readonly host: string;
  readonly port: number;
  /** A pod that is ready behind the Service. */
  readonly pod: string;
}

/** Makes a connection to a server. @throws SqlError (`unreachable`) */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;

/** Inside the cluster. A packet that came before the Service's rules is lost, and TCP sends the next one only after seconds: we dial anew before that. */
const SERVICE_TIMEOUT_MS = 800;
/** Over the API server, which may be far away. */
const FORWARD_TIMEOUT_MS = 5_000;

/** Through the Service, as applications do: for an operator that runs in the cluster. */
export const dialService: Dial = (target, signal) =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: target.host, port: target.port, signal });
    const fail = (why: string) => {
      socket.destroy();
      reject(new SqlError('unreachable', `cannot connect to ${target.host}:${target.port}: ${why}`));
    };
    socket.setTimeout(SERVICE_TIMEOUT_MS, () => fail(`no answer in ${SERVICE_TIMEOUT_MS / 1000} s`));
    socket.once('error', (error) => fail(error.message));
    socket.once('connect', () => {
      socket.setTimeout(0);
      resolve(socket);
    });
  });

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
