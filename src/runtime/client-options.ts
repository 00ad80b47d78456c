import type { Readable } from 'node:stream';
import type { KubeObject } from '../kind/resource';
import type { Random } from './backoff';
import type { Clock } from './clock';
import type { RequestRecord } from './transport';

/** How a client behaves; all of it optional. */
export interface ClientOptions {
  /** Put in front of our own user agent, such as `shop-operator/1.2.0`. */
  readonly userAgent?: string;
  /** How long the API server may stay silent before a request counts as failed, in milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  /** Connections kept open for requests; watches and streams have their own. @default 32 */
  readonly connections?: number;
  /** Told of every request that was answered or failed: for metrics and for counting in tests. Must not throw. */
  readonly onRequest?: (request: RequestRecord) => void;
  readonly clock?: Clock;
  readonly random?: Random;
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

export interface ExecOptions extends CallOptions {
  /** @default the pod's only or first container */
  readonly container?: string;
  /** Fed to the command, then closed: the place for a secret, which must never be an argument. */
  readonly stdin?: string | Readable;
}

/** How a command in a container ended. */
export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PodLogOptions extends CallOptions {
  readonly container?: string;
  /** Go on as more is written. */
  readonly follow?: boolean;
  readonly tailLines?: number;
  /** The log of the container's previous run. */
  readonly previous?: boolean;
}
