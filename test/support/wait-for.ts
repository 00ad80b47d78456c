import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnerReference } from '../../src/kind/resource';
import { dumpNamespace } from './dump';
import { lines } from './lines';
import type { TestCluster } from './test-cluster';

/** Where an object is: `{ apiVersion: 'v1', resource: 'pods', namespace: 'shop', name: 'orders-0' }`. */
export interface Target {
  readonly apiVersion: string;
  /** The plural, as in the API's paths. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

/** A part of an answer whose shape the test knows, and nobody else: typed as `JSON.parse` types it. */
type Parsed = ReturnType<typeof JSON.parse>;

/** As much of an object's shape as tests may rely on without saying more. */
export interface AnyObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string; readonly resourceVersion: string; readonly generation?: number; readonly deletionTimestamp?: string; readonly labels?: Record<string, string>; readonly annotations?: Record<string, string>; readonly finalizers?: string[]; readonly ownerReferences?: OwnerReference[] };
  readonly spec?: Parsed;
  readonly status?: Parsed;
  readonly data?: Record<string, string>;
}

export interface WaitOptions {
  /** What is waited for, in the words of the failure: "Ready". */
  readonly what: string;
  /** @default 30000 */
  readonly withinMs?: number;
}

/**
 * Waits, by watch and never by polling, until the object is as wanted, and returns it.
 * `isSo` sees undefined while there is no such object, so that an end can be waited for too (`(o) => o === undefined`).
 *
 * @throws Error at the deadline, with the object's last state and the namespace's Events, pods and logs.
 */
export async function waitFor<T extends AnyObject | undefined = AnyObject>(cluster: TestCluster, target: Target, isSo: (object: AnyObject | undefined) => boolean, options: WaitOptions): Promise<T> {
  const withinMs = options.withinMs ?? 30_000;
  const deadline = AbortSignal.timeout(withinMs);
  let last: AnyObject | undefined;
  try {
    while (!deadline.aborted) {
      for await (const object of states(cluster, target, deadline)) {
        last = object;
        if (isSo(object)) return object as T;
      }
    }
  } catch (error) {
    if (!deadline.aborted) throw error;
  }
  const where = `${target.resource}/${target.name}${target.namespace ? ` in ${target.namespace}` : ''}`;
  throw new Error(`${where}: ${options.what} was not reached within ${withinMs / 1000} s.\n${describe(last)}\n${await dumpNamespace(cluster, target.namespace)}`);
}

/** The object as it is, then at each change. Ends with the watch, also when that breaks because the API server went away. */
async function* states(cluster: TestCluster, target: Target, signal: AbortSignal): AsyncGenerator<AnyObject | undefined> {
  const path = collectionPath(target);
  const selector = `fieldSelector=${encodeURIComponent(`metadata.name=${target.name}`)}`;
  try {
    const list = await cluster.api.demand<{ metadata: { resourceVersion: string }; items: AnyObject[] }>('GET', `${path}?${selector}`);
    yield list.items[0];
    const response = await cluster.api.open('GET', `${path}?${selector}&watch=true&resourceVersion=${list.metadata.resourceVersion}`, undefined, undefined, signal);
    try {
      for await (const line of lines(response)) {
        const event = JSON.parse(line) as { type: string; object: AnyObject };
        if (event.type === 'ERROR') return;
        yield event.type === 'DELETED' ? undefined : event.object;
      }
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (!isBrokenConnection(error)) throw error;
    await sleep(200);
  }
}

function isBrokenConnection(error: unknown): boolean {
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function collectionPath({ apiVersion, resource, namespace }: Target): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespace ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`;
}

function describe(object: AnyObject | undefined): string {
  if (!object) return 'It was not there.';
  const { status, metadata } = object;
  return `Its last state: ${JSON.stringify({ generation: metadata.generation, deletionTimestamp: metadata.deletionTimestamp, finalizers: metadata.finalizers, status }, undefined, 2)}`;
}
