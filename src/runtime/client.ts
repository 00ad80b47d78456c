import type { Duplex, Readable } from 'node:stream';
import type { KubeObject, ObjectKey, ResourceType } from '../kind/resource';
import type { Random } from './backoff';
import type { Clock } from './clock';
import type { ClusterAccess } from './cluster-access';

/** How a client behaves; all of it optional. */
export interface ClientOptions {
  /** Put in front of our own user agent, such as `shop-operator/1.2.0`. */
  readonly userAgent?: string;
  /** How long one request may take, in milliseconds, from sending to the last byte of the answer. @default 30000 */
  readonly timeoutMs?: number;
  /** Connections kept open for requests; watches and streams have their own. @default 32 */
  readonly connections?: number;
  /** Told of every request that was answered or failed: for metrics and for counting in tests. Must not throw. */
  readonly onRequest?: (request: RequestRecord) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** One request, after the fact. */
export interface RequestRecord {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** HTTP status; undefined if no answer came. */
  readonly status?: number;
  readonly durationMs: number;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call at once; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** @default the client's own */
  readonly timeoutMs?: number;
}

/** What every write takes. */
export interface WriteOptions extends CallOptions {
  /** Let the API server check and default, but keep nothing. */
  readonly dryRun?: boolean;
  /** Who owns the fields that are written. */
  readonly fieldManager?: string;
}

export interface PatchOptions extends WriteOptions {
  /** Such as `status` or `scale`. */
  readonly subresource?: string;
}

export interface ApplyOptions extends PatchOptions {
  readonly fieldManager: string;
  /** Take over fields that others own instead of failing with a conflict. @default false */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only the object with this UID, not a later one of the same name. */
  readonly uid?: string;
  /** Delete only if nobody changed the object since. */
  readonly resourceVersion?: string;
  /** What becomes of its dependents. @default 'Background' */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** Which objects: of one namespace or of all, and narrowed by selectors. */
export interface Selection {
  /** @default all namespaces */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends Selection, CallOptions {
  /** Objects per page. @default 500 */
  readonly pageSize?: number;
}

/** A list, or one page of it. */
export interface ObjectList<T extends KubeObject> {
  readonly items: T[];
  /** The moment at which the list is true; a watch from here misses nothing. */
  readonly resourceVersion: string;
}

export interface WatchOptions extends Selection {
  /** Tell what happened after this moment. */
  readonly resourceVersion: string;
  /** The API server ends the watch after so many seconds. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
}

/** What a watch tells. A bookmark only says how far the watch has come: its object has nothing but a resourceVersion. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: { readonly metadata: { readonly resourceVersion: string } } };

/** A patch: a JSON merge patch as an object, or a JSON patch as a list of operations. */
export type Patch = Readonly<Record<string, unknown>> | readonly JsonPatchOperation[];

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Speaks to one API server: the only place of the package that does.
 *
 * Guarantees
 * - A refusal is an `ApiError` with the API server's own words; silence is a `TransportError`.
 * - 429 and 503 with Retry-After are waited out and sent again, within the call's timeout; a 401 is tried once more with
 *   fresh credentials; a read whose connection broke is tried once more. Nothing else is ever sent twice.
 * - Every call ends as soon as its signal is aborted.
 */
export class Client {
  constructor(
    readonly access: ClusterAccess,
    readonly options: ClientOptions = {},
  ) {}

  /** Reads one object. @throws ApiError (isNotFound) */
  get<T extends KubeObject>(_type: ResourceType, _key: ObjectKey, _options?: CallOptions & { subresource?: string }): Promise<T> {
    throw new Error('unfinished');
  }

  /** Reads all objects of a selection, page by page, at one moment. */
  list<T extends KubeObject>(_type: ResourceType, _options?: ListOptions): Promise<ObjectList<T>> {
    throw new Error('unfinished');
  }

  /** As `list`, but hands out each page as it comes, so that not all of them are held at once. */
  pages<T extends KubeObject>(_type: ResourceType, _options?: ListOptions): AsyncGenerator<ObjectList<T>, void, undefined> {
    throw new Error('unfinished');
  }

  /** Creates an object. @throws ApiError (isAlreadyExists) */
  create<T extends KubeObject>(_type: ResourceType, _object: T, _options?: WriteOptions): Promise<T> {
    throw new Error('unfinished');
  }

  /** Server-side apply: creates the object or makes it have what `object` says, owning exactly those fields. */
  apply<T extends KubeObject>(_type: ResourceType, _object: KubeObject, _options: ApplyOptions): Promise<T> {
    throw new Error('unfinished');
  }

  /** Changes part of an object: by merge patch if an object is given, by JSON patch if a list is. */
  patch<T extends KubeObject>(_type: ResourceType, _key: ObjectKey, _patch: Patch, _options?: PatchOptions): Promise<T> {
    throw new Error('unfinished');
  }

  /**
   * Deletes an object.
   * @returns the object, if finalizers or a grace period keep it for now; undefined if it is gone
   */
  delete<T extends KubeObject>(_type: ResourceType, _key: ObjectKey, _options?: DeleteOptions): Promise<T | undefined> {
    throw new Error('unfinished');
  }

  /**
   * What happens to a selection, from a moment on. Ends when the API server ends it.
   * @throws ApiError (isGone) if that moment is too long ago
   */
  watch<T extends KubeObject>(_type: ResourceType, _options: WatchOptions): AsyncGenerator<WatchEvent<T>, void, undefined> {
    throw new Error('unfinished');
  }

  /** Runs a command in a container; rejects if it can't be started, resolves with its exit code and what it printed. */
  exec(_namespace: string, _pod: string, _command: readonly string[], _options?: ExecOptions): Promise<ExecResult> {
    throw new Error('unfinished');
  }

  /** A container's log. */
  logs(_namespace: string, _pod: string, _options?: LogOptions): Promise<Readable> {
    throw new Error('unfinished');
  }

  /** A connection to a port of a pod. */
  portForward(_namespace: string, _pod: string, _port: number, _options?: CallOptions): Promise<Duplex> {
    throw new Error('unfinished');
  }

  /** Ends all connections; calls under way fail. */
  close(): Promise<void> {
    throw new Error('unfinished');
  }
}

export interface ExecOptions extends CallOptions {
  /** @default the pod's only or first container */
  readonly container?: string;
  /** Fed to the command, then closed: the place for a secret, which must never be an argument. */
  readonly stdin?: string | Readable;
}

export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LogOptions extends CallOptions {
  readonly container?: string;
  /** Go on as more is written. */
  readonly follow?: boolean;
  readonly tailLines?: number;
  /** The log of the container's previous run. */
  readonly previous?: boolean;
}
