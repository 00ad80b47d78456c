/** How to reach an API server and prove who we are. */
export interface ClusterAccess {
  /** For people: which kubeconfig and context, or that we are in a cluster. */
  readonly source: string;
  /** Base URL, such as `https://10.0.0.1:6443`; with a path where several API servers stand behind one address. */
  readonly server: string;
  /** Namespace to use where none is named. */
  readonly namespace: string;
  /** Certificates (PEM) of the authorities that we trust; the system's own if absent. Read anew for every connection. */
  ca?(): Promise<string | Buffer>;
  /** Take any certificate. Never the default. */
  readonly insecureSkipTlsVerify?: boolean;
  /** Name that the server's certificate must carry, where it differs from the host in the URL. */
  readonly tlsServerName?: string;
  readonly credentials: Credentials;
}

/** Where proof of identity comes from; may change while we run. */
export interface Credentials {
  /** What to show now. Called for every request and connection, so it must be cheap when nothing changed. */
  current(): Promise<Credential>;
  /** The API server answered 401: forget what is remembered, so that `current()` fetches anew. */
  refused(): void;
}

/** Proof of identity: a token, a certificate with its key, both, or neither. */
export interface Credential {
  readonly token?: string;
  /** PEM. */
  readonly certificate?: string | Buffer;
  /** PEM. */
  readonly key?: string | Buffer;
}
