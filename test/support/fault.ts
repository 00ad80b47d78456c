/** What the proxy does to a request instead of, or besides, passing it on. */
export type Fault =
  /** Waits before passing it on. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Answers by itself with a Kubernetes Status: 409 Conflict, 410 Expired, 429 with Retry-After, 500 … */
  | { readonly kind: 'status'; readonly status: number; readonly reason?: string; readonly message?: string; readonly retryAfterSeconds?: number }
  /** Closes the connection, before the API server has seen the request, or after it has carried it out. */
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** Never answers. */
  | { readonly kind: 'hang' }
  | WatchFault;

/** What the proxy does to the events of a watch. `afterEvents` counts those that still pass; 0 is at once. */
export type WatchFault =
  /** Ends the stream cleanly (`end`) or by closing the connection in mid-air (`reset`). */
  | { readonly kind: 'cutWatch'; readonly afterEvents: number; readonly how: 'end' | 'reset' }
  /** Lets the connection stand and sends nothing more: the stale watch. */
  | { readonly kind: 'staleWatch'; readonly afterEvents: number }
  /** Sends an ERROR event with 410 Expired, as an API server does that has compacted its history. */
  | { readonly kind: 'expireWatch'; readonly afterEvents: number }
  | { readonly kind: 'dropEvents'; readonly which: (event: WatchEvent) => boolean }
  | { readonly kind: 'repeatEvents'; readonly times: number };

export interface WatchEvent {
  readonly type: string;
  readonly object: { readonly kind: string; readonly metadata: { readonly name?: string; readonly namespace?: string; readonly resourceVersion?: string } };
}

/** A request as the proxy saw it. */
export interface ProxiedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
  /** Everything that may change the cluster. */
  readonly isWrite: boolean;
  readonly userAgent: string | undefined;
  /** JSON or text of the request's body. */
  readonly body: string;
  /** Milliseconds since the proxy started. */
  readonly atMs: number;
  /** Of the answer that the client got; undefined while there is none. */
  status: number | undefined;
  /** Of the answer that the API server gave, also when the client never saw it. */
  upstreamStatus: number | undefined;
  fault: Fault['kind'] | undefined;
}

/** Which requests meet a fault. All conditions must hold. */
export interface FaultRule {
  readonly method?: string;
  readonly path?: RegExp;
  readonly isWatch?: boolean;
  readonly isWrite?: boolean;
  readonly when?: (request: ProxiedRequest) => boolean;
  /** How many requests meet it. @default all */
  readonly times?: number;
  /** How many matching requests pass before the first meets it. @default 0 */
  readonly after?: number;
  readonly fault: Fault;
}

export function isWatchFault(fault: Fault): fault is WatchFault {
  return ['cutWatch', 'staleWatch', 'expireWatch', 'dropEvents', 'repeatEvents'].includes(fault.kind);
}

/** Whether the rule speaks of this request, its counters aside. */
export function matches(rule: FaultRule, request: ProxiedRequest): boolean {
  return (
    (rule.method === undefined || rule.method === request.method) &&
    (rule.path === undefined || rule.path.test(request.path)) &&
    (rule.isWatch === undefined || rule.isWatch === request.isWatch) &&
    (rule.isWrite === undefined || rule.isWrite === request.isWrite) &&
    // A fault of watches can only meet a watch.
    (!isWatchFault(rule.fault) || request.isWatch) &&
    (rule.when?.(request) ?? true)
  );
}
