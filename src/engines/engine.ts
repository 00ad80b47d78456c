/** The engines that this package runs. */
export type EngineName = 'mysql' | 'postgres';

/** Server settings as a user writes them: name → value, in the words of the engine's own manual. */
export type Parameters = Readonly<Record<string, string | number | boolean>>;

/**
 * What a change of version means.
 * - `same`: nothing to do.
 * - `minor`: the new server takes the old data directory as it is; restart the pods one by one.
 * - `major`: the data directory has another format; a new image alone would destroy or refuse it.
 * - `downgrade`: no server promises to read what a newer one wrote.
 */
export type VersionChange = 'same' | 'minor' | 'major' | 'downgrade';

/** What the configuration of a server depends on. */
export interface ServerSettings {
  readonly version: string;
  /** The user's settings; they win over our defaults, never over what the operator owns. */
  readonly parameters?: Parameters;
  /** Memory limit of the server's container in bytes; caches are sized by it. */
  readonly memory?: number;
  /** True when a certificate is mounted at `paths.tls`. */
  readonly tls?: boolean;
}

/** Where an application connects. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** Connection strings in the two forms that applications know. */
export interface ConnectionStrings {
  readonly uri: string;
  readonly jdbcUrl: string;
}

/** The accounts that the operator keeps; the application's own account is named by its Secret. */
export interface AccountNames {
  /** May do everything; from inside the pod. */
  readonly superuser: string;
  /** Changes passwords, sets parameters, asks how the server is. */
  readonly operator: string;
  /** Reads everything that a dump holds, and writes nothing. */
  readonly backup: string;
}

/**
 * What differs between database engines. Everything else in the package treats them alike.
 *
 * Guarantees: pure; the same input gives the same text, byte for byte, so that a configuration is only
 * ever changed by a changed input.
 */
export interface Engine {
  readonly name: EngineName;
  /** As people write it: "MySQL", "PostgreSQL". */
  readonly title: string;
  readonly port: number;
  readonly accounts: AccountNames;
  /** Folders that the server writes to, beside its data and /tmp; clients of its images look for its socket there. */
  readonly emptyDirectories: readonly { readonly path: string; readonly inMemory?: boolean }[];
  /** Single files of the image that one of `configFiles` stands in for: path → name. */
  readonly files: Readonly<Record<string, string>>;

  /** The official image of a version. */
  image(version: string): string;
  /** Below zero when `a` is older than `b`; a part that one of them leaves open counts as equal. */
  compareVersions(a: string, b: string): number;
  /** What it means to go from one version to another. */
  versionChange(from: string, to: string): VersionChange;
  /** Why these parameters can't be taken, one sentence each; empty when they can. */
  parameterProblems(parameters: Parameters): string[];
  /**
   * Those of the parameters that a running server can't take: changing one restarts the pods. The rest can be set over SQL.
   * A parameter that we don't know is taken for one that needs a restart: that is slower, never wrong.
   */
  restartParameters(parameters: Parameters, version: string): Parameters;
  /** What a parameter is where the user says nothing, if that isn't the server's own default. */
  defaultOf(parameter: string, settings: Omit<ServerSettings, 'parameters'>): string | undefined;
  /** Configuration files by name, for the folder `paths.config`. */
  configFiles(settings: ServerSettings): Readonly<Record<string, string>>;
  /** How applications write down where to connect. */
  connectionStrings(endpoint: Endpoint): ConnectionStrings;
  /** POSIX shell, by file name; see `docs/backup-format.md` for what they say to the store. */
  readonly scripts: Scripts;
}

/** The scripts that run inside the database's image. */
export interface Scripts {
  /** Functions that the others share. */
  readonly 'common.sh': string;
  /** Makes the data directory if there is none, then becomes the server; with the argument `closed`, one that takes no writes. */
  readonly 'start.sh': string;
  /** Readiness: the server answers a query. */
  readonly 'ready.sh': string;
  /** Before the kubelet's TERM: asks for a prompt and clean shutdown. */
  readonly 'stop.sh': string;
  /** The engine's side of a backup: dump, then (if asked) the throw-away server of the verification. */
  readonly 'backup.sh': string;
  /** The engine's side of a restore. */
  readonly 'restore.sh': string;
}

/** Where things are in the pods; scripts and constructs agree on these. */
export const paths = {
  /** Mount point of the data claim; the data directory is `paths.dataDirectory` in it. */
  data: '/data',
  /** Exists only when whole: made under another name and renamed. */
  dataDirectory: '/data/db',
  scripts: '/dbop/scripts',
  config: '/dbop/config',
  /** Secret with root-password, operator-password, backup-password. */
  accounts: '/dbop/accounts',
  /** Secret with username, password, database. */
  application: '/dbop/application',
  /** Secret with tls.crt, tls.key and ca.crt. */
  tls: '/dbop/tls',
  /** emptyDir in memory for option files that hold passwords. */
  private: '/dbop/private',
  /** emptyDir where the two containers of a Job meet. */
  exchange: '/dbop/exchange',
  /** emptyDir for the throw-away server of a verification. */
  scratch: '/dbop/scratch',
  /** Mount point of the backup volume. */
  backups: '/dbop/backups',
  /** Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. */
  s3Credentials: '/dbop/s3-credentials',
  /** Secret with ca.crt of the S3 endpoint. */
  s3Ca: '/dbop/s3-ca',
} as const;

/** Keys of the accounts Secret. */
export const accountKeys = { superuser: 'root-password', operator: 'operator-password', backup: 'backup-password' } as const;

/** Keys of the application Secret that the server reads; others are for the application. */
export const applicationKeys = { username: 'username', password: 'password', database: 'database' } as const;
