import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RequestOptions, request as httpsRequest } from 'node:https';
import type { ProxiedRequest, WatchEvent, WatchFault } from './fault';
import { lines } from './lines';

interface Passage {
  readonly options: RequestOptions;
  readonly request: ProxiedRequest;
  readonly response: ServerResponse;
  readonly watchFault: WatchFault | undefined;
  /** The API server carries the request out, and the client never learns of it. */
  readonly isLost: boolean;
}

/** Sends a request to the API server and its answer to the client. Never rejects: a broken side breaks the other. */
export function passOn(passage: Passage): Promise<void> {
  const { options, request, response, isLost } = passage;
  return new Promise((resolve) => {
    const outgoing = httpsRequest(options, (reply) => {
      request.upstreamStatus = reply.statusCode;
      const delivered = isLost ? lose(reply, response) : deliver(passage, reply);
      delivered.catch(() => response.destroy()).finally(resolve);
    });
    outgoing.on('error', () => {
      response.destroy();
      resolve();
    });
    response.on('close', () => outgoing.destroy());
    outgoing.end(request.body || undefined);
  });
}

/** The Status object that an API server sends with an error. */
export function statusBody(code: number, reason: string | undefined, message = 'injected by the test'): object {
  const reasons: Record<number, string> = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 409: 'Conflict', 410: 'Expired', 429: 'TooManyRequests', 500: 'InternalError', 503: 'ServiceUnavailable' };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: reason ?? reasons[code], code };
}

async function lose(reply: IncomingMessage, response: ServerResponse): Promise<void> {
  for await (const chunk of reply) void chunk;
  response.destroy();
}

async function deliver({ request, response, watchFault }: Passage, reply: IncomingMessage): Promise<void> {
  request.status = reply.statusCode;
  response.writeHead(reply.statusCode ?? 502, reply.headers);
  response.flushHeaders();
  if (watchFault && reply.statusCode === 200) return deliverEvents(watchFault, reply, response);
  for await (const chunk of reply) if (!response.write(chunk)) await drained(response);
  response.end();
}

async function deliverEvents(fault: WatchFault, reply: IncomingMessage, response: ServerResponse): Promise<void> {
  const end = endingOf(fault, response);
  let passed = 0;
  if (end && passed >= end.afterEvents) return end.now();
  for await (const line of lines(reply)) {
    for (let copy = 0; copy < copiesOf(fault, JSON.parse(line) as WatchEvent); copy += 1) await written(response, `${line}\n`);
    passed += 1;
    if (end && passed >= end.afterEvents) return end.now();
  }
  response.end();
}

function copiesOf(fault: WatchFault, event: WatchEvent): number {
  if (fault.kind === 'dropEvents') return fault.which(event) ? 0 : 1;
  return fault.kind === 'repeatEvents' ? fault.times : 1;
}

/** How and when the fault ends the watch; undefined for those that don't. */
function endingOf(fault: WatchFault, response: ServerResponse): { afterEvents: number; now: () => void } | undefined {
  switch (fault.kind) {
    case 'cutWatch':
      return { afterEvents: fault.afterEvents, now: () => (fault.how === 'end' ? response.end() : response.destroy()) };
    case 'staleWatch':
      return { afterEvents: fault.afterEvents, now: () => undefined };
    case 'expireWatch':
      return { afterEvents: fault.afterEvents, now: () => response.end(`${JSON.stringify({ type: 'ERROR', object: statusBody(410, 'Expired', 'too old resource version') })}\n`) };
    case 'dropEvents':
    case 'repeatEvents':
      return undefined;
  }
}

/** Returns when the text has left this process: what a cut follows must have reached the client. */
function written(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => response.write(text, () => resolve()));
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
