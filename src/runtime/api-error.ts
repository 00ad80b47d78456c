/** One field that the API server objected to. */
export interface ApiErrorCause {
  /** Machine-readable, such as `FieldValueInvalid` or `FieldManagerConflict`. */
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field, such as `spec.size` or `.spec.replicas`. */
  readonly field?: string;
}

/** The `Status` object with which Kubernetes says no. */
export interface ApiStatus {
  readonly kind?: string;
  readonly status?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly ApiErrorCause[];
    readonly retryAfterSeconds?: number;
  };
}

/** The API server answered, and the answer was no. What it said is kept word for word. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status, such as 409. */
  readonly status: number;
  /** The API server's own word for it, such as `AlreadyExists`; the bare HTTP status text if it gave none. */
  readonly reason: string;
  /** The API server's own sentence, without our account of the request in front of it. */
  readonly serverMessage: string;
  /** The fields it objected to, if it named any. */
  readonly causes: readonly ApiErrorCause[];
  /** Name, group, kind and UID of the object that it speaks of, as far as it said. */
  readonly details: NonNullable<ApiStatus['details']>;
  /** How long the API server wants to be left alone, in seconds. */
  readonly retryAfterSeconds?: number;

  constructor(request: { method: string; path: string }, httpStatus: number, body: ApiStatus, retryAfterSeconds?: number) {
    const reason = body.reason !== undefined && body.reason !== '' ? body.reason : (HTTP_REASONS[httpStatus] ?? 'Unknown');
    const serverMessage = body.message ?? `the API server gave no message`;
    super(`${request.method} ${request.path}: ${httpStatus} ${reason}: ${serverMessage}`);
    this.status = httpStatus;
    this.reason = reason;
    this.serverMessage = serverMessage;
    this.details = body.details ?? {};
    this.causes = this.details.causes ?? [];
    this.retryAfterSeconds = retryAfterSeconds ?? this.details.retryAfterSeconds;
  }
}

/**
 * The API server gave no answer: no connection, a cut one, or none in time. Of a write nobody knows whether it was done,
 * so only what may be done twice (a server-side apply, a delete with preconditions) may simply be sent again.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';

  constructor(request: { method: string; path: string }, what: string, cause: unknown) {
    super(`${request.method} ${request.path}: ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** There is no such object (or no such kind). */
export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);
/** An object of that name is there already. */
export const isAlreadyExists = (error: unknown): error is ApiError => hasStatus(error, 409) && error.reason === 'AlreadyExists';
/** Somebody else was faster: the version or UID that we expected is not the current one, or another manager owns a field. */
export const isConflict = (error: unknown): error is ApiError => hasStatus(error, 409) && error.reason !== 'AlreadyExists';
/** The resourceVersion or page that we asked for is too old. */
export const isGone = (error: unknown): error is ApiError => hasStatus(error, 410);
/** The object was refused for its content; sending it again can't help. */
export const isInvalid = (error: unknown): error is ApiError => hasStatus(error, 422) || hasStatus(error, 400);
/** We are known, but may not do this. */
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);
/** We are not known: the token or certificate was refused. */
export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);
/** The kind's definition is being deleted: its objects can be changed and deleted, but no new one is taken. */
export const isKindTerminating = (error: unknown): error is ApiError => hasStatus(error, 405);
/** The namespace is being deleted: nothing new is taken in it. Also where that is the cause of another error. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (hasStatus(error, 403) && error.causes.some(({ reason }) => reason === 'NamespaceTerminating')) return true;
  return error instanceof Error && error.cause !== undefined && isNamespaceTerminating(error.cause);
}
/** The API server is too busy for us. */
export const isTooManyRequests = (error: unknown): error is ApiError => hasStatus(error, 429);

function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

/** For answers without a `Status` body, such as those of a proxy in between. */
const HTTP_REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
