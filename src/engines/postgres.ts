import { type Engine, type Parameters, paths, type ServerSettings } from './engine';
import { parameterProblems, sortedParameters } from './parameters';
import { postgresScripts } from './postgres-scripts';
import { compareVersions, versionChange, versionParts } from './version';

const MIB = 1024 * 1024;
const socketDirectory = '/run/postgresql';

/** The first version in which setting parameters can be granted to an account that is no superuser. */
const GRANTABLE_SINCE = 15;

const owned = new Map(
  Object.entries({
    'data_directory config_file hba_file ident_file external_pid_file include include_dir include_if_exists': 'the directories of the pod are fixed',
    'listen_addresses port unix_socket_directories': 'probes, Services and backups look for the server there',
    'wal_level max_wal_senders wal_log_hints': 'replicas will stand on it',
    'password_encryption': 'accounts are made with it',
    'ssl ssl_ca_file ssl_cert_file ssl_key_file': 'certificates are mounted and renewed by it',
    'logging_collector log_destination log_directory': "a pod's log is what it prints",
    'archive_mode archive_command archive_library restore_command primary_conninfo recovery_target': 'nothing takes up an archive yet, and a full one stops the server',
  }).flatMap(([names, why]) => names.split(' ').map((name) => [name, why] as const)),
);

/** What a dump may need to load. */
const layout = new Set(['shared_preload_libraries', 'max_locks_per_transaction']);

/** Settings that only a start of the server takes. Checked against a real server in the tests. */
const postmaster = new Set(
  (
    'allow_alter_system autovacuum_freeze_max_age autovacuum_max_workers autovacuum_multixact_freeze_max_age autovacuum_worker_slots bonjour bonjour_name cluster_name ' +
    'commit_timestamp_buffers debug_io_direct dynamic_shared_memory_type event_source file_copy_method hot_standby huge_page_size huge_pages ignore_invalid_pages ' +
    'io_max_combine_limit io_max_concurrency io_method jit_provider max_active_replication_origins max_connections max_files_per_process max_locks_per_transaction ' +
    'max_logical_replication_workers max_notify_queue_pages max_pred_locks_per_transaction max_prepared_transactions max_replication_slots max_worker_processes ' +
    'min_dynamic_shared_memory multixact_member_buffers multixact_offset_buffers notify_buffers old_snapshot_threshold recovery_target_action recovery_target_inclusive ' +
    'recovery_target_lsn recovery_target_name recovery_target_time recovery_target_timeline recovery_target_xid reserved_connections serializable_buffers ' +
    'shared_buffers shared_memory_type shared_preload_libraries subtransaction_buffers summarize_wal superuser_reserved_connections synchronized_standby_slots ' +
    'track_activity_query_size track_commit_timestamp transaction_buffers unix_socket_group unix_socket_permissions wal_buffers wal_decode_buffer_size'
  ).split(' '),
);

/** Settings of the server's own core that a running server takes; one that is in neither list belongs to an extension or is new. */
const knownDynamic =
  /^(autovacuum|backend_flush|bgwriter|bytea|check_function|checkpoint|client|commit|constraint|cpu|createrole|cursor|date|deadlock|debug|default|effective|enable|escape|event_triggers|exit|extra_float|from_collapse|fsync|full_page|geqo|gin|hash_mem|hot_standby_|icu|idle|interval|intervalstyle|jit|join|krb|lc|lo_compat|local|lock|log|logical|maintenance|max|min|parallel|plan|plpgsql|post_auth|pre_auth|quote|random|recovery|remove|restart|row|scram|search|seq|session|standard|statement|synchronize|synchronous|tcp|temp|timezone|track|transaction|transform|update|vacuum|wal|work|xmlbinary|xmloption|zero)/;

/** By these the server runs programs or loads code; the operator's account may not set them, so they wait for a start. */
const powerful = /_(command|libraries|library|file)$/;

/** PostgreSQL 14 and later. */
export const postgres: Engine = {
  name: 'postgres',
  title: 'PostgreSQL',
  port: 5432,
  accounts: { superuser: 'postgres', operator: 'dbop_operator', backup: 'dbop_backup' },
  emptyDirectories: [{ path: socketDirectory }, { path: '/dev/shm', inMemory: true }],
  // initdb wants a name for its user, and plain images have none for ours.
  files: { '/etc/passwd': 'passwd' },
  scripts: postgresScripts,

  image: (version) => `postgres:${version}`,
  compareVersions,
  versionChange: (from, to) => versionChange(from, to, seriesOf),
  parameterProblems: (parameters) => parameterProblems(parameters, normalised, owned),

  restartParameters(parameters, version): Parameters {
    const grantable = (versionParts(version)[0] ?? 0) >= GRANTABLE_SINCE;
    const dynamic = (name: string) => grantable && knownDynamic.test(name) && !postmaster.has(name) && !powerful.test(name);
    return Object.fromEntries(Object.entries(parameters).filter(([name]) => !dynamic(normalised(name))));
  },

  defaultOf: (parameter, settings) => defaults(settings)[normalised(parameter)],

  configFiles(settings) {
    return {
      'postgresql.conf': configFile(serverOptions(settings)),
      'layout.conf': configFile(layoutOptions(settings.parameters ?? {})),
      'pg_hba.conf': hostRules,
      [closedHostRulesFile]: closedHostRules,
      passwd: 'root:x:0:0:root:/root:/sbin/nologin\npostgres:x:999:999:PostgreSQL:/tmp:/bin/sh\n',
    };
  },

  connectionStrings({ host, port, username, password, database }) {
    const user = encodeURIComponent(username);
    const secret = encodeURIComponent(password);
    const name = encodeURIComponent(database);
    return {
      uri: `postgresql://${user}:${secret}@${host}:${port}/${name}`,
      jdbcUrl: `jdbc:postgresql://${host}:${port}/${name}?user=${user}&password=${secret}`,
    };
  },
};

/** The probe comes by the socket, the superuser only from inside the pod, everybody else from where the NetworkPolicy lets them. */
const hostRules = `local postgres dbop_probe trust
local all dbop_probe reject
host all dbop_probe all reject
local all all scram-sha-256
host all postgres 127.0.0.1/32 scram-sha-256
host all postgres ::1/128 scram-sha-256
host all postgres all reject
host all all all scram-sha-256
`;

/** The rules of a server that is about to be deleted; see `start.sh closed`. */
export const closedHostRulesFile = 'pg_hba-closed.conf';

/** The operator and the last backup are let in, the superuser from inside the pod for who has to mend something. */
const closedHostRules = `local postgres dbop_probe trust
host all dbop_backup,dbop_operator all scram-sha-256
local all postgres scram-sha-256
host all postgres 127.0.0.1/32 scram-sha-256
host all postgres ::1/128 scram-sha-256
local all all reject
host all all all reject
`;

function seriesOf(version: string): string {
  return String(versionParts(version)[0] ?? '');
}

function normalised(name: string): string {
  return name.toLowerCase();
}

function defaults({ memory }: Pick<ServerSettings, 'memory'>): Record<string, string> {
  return { shared_buffers: sharedBuffers(memory), max_connections: '100', max_wal_size: '512MB' };
}

function serverOptions(settings: ServerSettings): Map<string, string> {
  const options = new Map(Object.entries(defaults(settings)));
  for (const [name, value] of sortedParameters(settings.parameters ?? {})) options.set(normalised(name), value);
  const fixed: Record<string, string> = {
    listen_addresses: '*',
    port: '5432',
    unix_socket_directories: socketDirectory,
    hba_file: `${paths.config}/pg_hba.conf`,
    wal_level: 'replica',
    max_wal_senders: '10',
    wal_log_hints: 'on',
    password_encryption: 'scram-sha-256',
    ...(settings.tls === true && { ssl: 'on', ssl_ca_file: `${paths.tls}/ca.crt`, ssl_cert_file: `${paths.tls}/tls.crt`, ssl_key_file: `${paths.tls}/tls.key` }),
  };
  for (const [name, value] of Object.entries(fixed)) options.set(name, value);
  return options;
}

/** For a server that is thrown away unless it ends well; it must never print a statement, for those set passwords. */
function layoutOptions(parameters: Parameters): Map<string, string> {
  const options = new Map(
    Object.entries({
      listen_addresses: '',
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      autovacuum: 'off',
      shared_buffers: '64MB',
      maintenance_work_mem: '64MB',
      max_wal_size: '512MB',
      max_connections: '10',
      log_min_error_statement: 'panic',
      password_encryption: 'scram-sha-256',
    }),
  );
  for (const [name, value] of sortedParameters(parameters)) if (layout.has(normalised(name))) options.set(normalised(name), value);
  return options;
}

function sharedBuffers(memory: number | undefined): string {
  return memory === undefined ? '128MB' : `${Math.max(16, Math.floor(memory / 4 / MIB))}MB`;
}

function configFile(options: ReadonlyMap<string, string>): string {
  return [...options].map(([name, value]) => `${name} = '${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'\n`).join('');
}
