import type { Duplex, Readable } from 'node:stream';
import { apiVersionOf, builtin, keyOf, type KubeObject, type ObjectKey, type ResourceType } from '../kind/resource';
import { ApiError, TransportError, type ApiStatus } from './api-error';
import type * as calls from './client-options';
import { systemClock } from './clock';
import type { ClusterAccess } from './cluster-access';
import { jsonLines } from './json-lines';
import { collectionPath, objectPath, query, requireNamespace } from './resource-path';
import { Transport } from './transport';
import { packageVersion } from '../kind/package-version';
import { PodStreams } from './websocket';

export type * from './client-options';
export type { RequestRecord } from './transport';

/**
 * Speaks to one API server: the only place of the package that does.
 *
 * Guarantees
 * - A refusal is an `ApiError` with the API server's own words; silence is a `TransportError`.
 * - 429, and 503 with Retry-After, are waited out and sent again, ten times at most; a 401 is tried once more with fresh
 *   credentials; a read whose connection broke is tried once more. Nothing else is ever sent twice.
 * - Every call ends as soon as its signal is aborted, and then rejects with the signal's reason.
 */
export class Client {
  private readonly transport: Transport;
  private readonly streams: PodStreams;

  constructor(
    readonly access: ClusterAccess,
    readonly options: calls.ClientOptions = {},
  ) {
    const { timeoutMs = 30_000, connections = 32, clock = systemClock, random = Math.random, onRequest } = options;
    const own = `cdk8s-database-operator/${packageVersion}`;
    const userAgent = options.userAgent === undefined ? own : `${options.userAgent} ${own}`;
    this.transport = new Transport(access, { userAgent, timeoutMs, connections, onRequest, clock, random });
    this.streams = new PodStreams(access, { userAgent, timeoutMs });
  }

  /** Reads one object. @throws ApiError (isNotFound) */
  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey, { subresource, ...call }: calls.CallOptions & { subresource?: string } = {}): Promise<T> {
    return await this.transport.send<T>({ method: 'GET', path: objectPath(type, key, subresource), ...call });
  }

  /** Reads all objects of a selection, page by page, as they were at one moment. */
  async list<T extends KubeObject>(type: ResourceType, listOptions: calls.ListOptions = {}): Promise<calls.ObjectList<T>> {
    const items: T[] = [];
    let resourceVersion = '';
    for await (const page of this.pages<T>(type, listOptions)) {
      for (const item of page.items) items.push(item);
      resourceVersion = page.resourceVersion;
    }
    return { items, resourceVersion };
  }

  /**
   * As `list`, but hands out each page as it comes, so that not all of them are held at once.
   * @throws ApiError (isGone) if reading took so long that the API server has forgotten the moment of the first page
   */
  async *pages<T extends KubeObject>(type: ResourceType, listOptions: calls.ListOptions = {}): AsyncGenerator<calls.ObjectList<T>, void, undefined> {
    const { namespace, labelSelector, fieldSelector, pageSize = 500, ...call } = listOptions;
    let position: string | undefined;
    do {
      const path = collectionPath(type, namespace) + query({ labelSelector, fieldSelector, limit: pageSize, continue: position });
      const page = await this.transport.send<Page<T>>({ method: 'GET', path, ...call });
      position = page.metadata.continue === '' ? undefined : page.metadata.continue;
      yield { items: withType(type, page.items ?? []), resourceVersion: page.metadata.resourceVersion };
    } while (position !== undefined);
  }

  /** Creates an object. @throws ApiError (isAlreadyExists) */
  async create<T extends KubeObject>(type: ResourceType, object: T, { dryRun, fieldManager, ...call }: calls.WriteOptions = {}): Promise<T> {
    requireNamespace(type, keyOf(object));
    const path = collectionPath(type, object.metadata.namespace) + query({ fieldManager, ...dry(dryRun) });
    return await this.transport.send<T>({ method: 'POST', path, body: JSON.stringify(object), ...call });
  }

  /** Server-side apply: creates the object or makes it have what `object` says, owning exactly those fields. */
  async apply<T extends KubeObject>(type: ResourceType, object: KubeObject, applyOptions: calls.ApplyOptions): Promise<T> {
    const { fieldManager, force = false, dryRun, subresource, ...call } = applyOptions;
    const path = objectPath(type, keyOf(object), subresource) + query({ fieldManager, force, ...dry(dryRun) });
    // JSON is YAML: the API server takes it under the name that all its versions know.
    return await this.transport.send<T>({ method: 'PATCH', path, body: JSON.stringify(object), contentType: 'application/apply-patch+yaml', ...call });
  }

  /** Changes part of an object: by merge patch if an object is given, by JSON patch if a list is. */
  async patch<T extends KubeObject>(type: ResourceType, key: ObjectKey, patch: calls.Patch, patchOptions: calls.PatchOptions = {}): Promise<T> {
    const { dryRun, fieldManager, subresource, ...call } = patchOptions;
    const path = objectPath(type, key, subresource) + query({ fieldManager, ...dry(dryRun) });
    const contentType = Array.isArray(patch) ? 'application/json-patch+json' : 'application/merge-patch+json';
    return await this.transport.send<T>({ method: 'PATCH', path, body: JSON.stringify(patch), contentType, ...call });
  }

  /**
   * Deletes an object.
   * @returns the object, if finalizers or a grace period keep it for now; undefined if it is gone
   */
  async delete<T extends KubeObject>(type: ResourceType, key: ObjectKey, deleteOptions: calls.DeleteOptions = {}): Promise<T | undefined> {
    const { uid, resourceVersion, propagation = 'Background', gracePeriodSeconds, dryRun, ...call } = deleteOptions;
    const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: propagation, gracePeriodSeconds, ...(dryRun === true ? { dryRun: ['All'] } : {}) });
    const answer = await this.transport.send<T>({ method: 'DELETE', path: objectPath(type, key), body, ...call });
    return answer.kind === 'Status' || answer.metadata.deletionTimestamp === undefined ? undefined : answer;
  }

  /**
   * What happens to a selection, from a moment on. Ends when the API server ends it.
   * @throws ApiError (isGone) if that moment is too long ago
   */
  async *watch<T extends KubeObject>(type: ResourceType, watchOptions: calls.WatchOptions): AsyncGenerator<calls.WatchEvent<T>, void, undefined> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal } = watchOptions;
    const path = collectionPath(type, namespace) + query({ watch: true, allowWatchBookmarks: true, labelSelector, fieldSelector, resourceVersion, timeoutSeconds });
    const request = { method: 'GET', path, signal } as const;
    const body = await this.transport.open(request);
    try {
      for await (const events of jsonLines(body)) {
        for (const event of events as (calls.WatchEvent<T> | WatchError)[]) {
          if (event.type === 'ERROR') throw new ApiError(request, event.object.code ?? 500, event.object);
          yield event;
        }
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw signal?.aborted === true ? signal.reason : new TransportError(request, 'the watch broke', error);
    } finally {
      body.on('error', ignore).destroy();
    }
  }

  /**
   * Runs a command in a container and waits for its end.
   * @throws if it can't be started; a command that fails is no error, but an exit code
   */
  async exec(namespace: string, pod: string, command: readonly string[], execOptions: calls.ExecOptions = {}): Promise<calls.ExecResult> {
    const { container, stdin, ...call } = execOptions;
    const parameters = query({ container, stdin: stdin !== undefined, stdout: true, stderr: true });
    const path = objectPath(builtin.Pod, { namespace, name: pod }, 'exec') + parameters + command.map((word) => `&command=${encodeURIComponent(word)}`).join('');
    return await this.streams.exec(path, stdin, call);
  }

  /** A container's log, as bytes. Destroy the stream to end it early. */
  async logs(namespace: string, pod: string, logOptions: calls.PodLogOptions = {}): Promise<Readable> {
    const { container, follow, tailLines, previous, ...call } = logOptions;
    const path = objectPath(builtin.Pod, { namespace, name: pod }, 'log') + query({ container, follow, tailLines, previous });
    return await this.transport.open({ method: 'GET', path, ...call });
  }

  /** A connection to a port of a pod; a port on which nobody listens makes the stream fail, not this call. */
  async portForward(namespace: string, pod: string, port: number, call: calls.CallOptions = {}): Promise<Duplex> {
    return await this.streams.portForward(objectPath(builtin.Pod, { namespace, name: pod }, 'portforward') + query({ ports: port }), call);
  }

  /** Ends all connections; calls under way fail. */
  async close(): Promise<void> {
    await this.transport.close();
  }
}

interface Page<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: T[] | null;
}

interface WatchError {
  readonly type: 'ERROR';
  readonly object: ApiStatus;
}

const dry = (dryRun: boolean | undefined): { dryRun?: string } => (dryRun === true ? { dryRun: 'All' } : {});

/** In a list of a built-in kind the items leave out what they are. */
function withType<T extends KubeObject>(type: ResourceType, items: T[]): T[] {
  const apiVersion = apiVersionOf(type);
  for (const item of items) {
    item.apiVersion = apiVersion;
    item.kind = type.kind;
  }
  return items;
}

/** A stream that we end ourselves reports just that. */
const ignore = (): void => {};
