import { type Engine, type Parameters, paths, type ServerSettings } from './engine';
import { mysqlScripts } from './mysql-scripts';
import { parameterProblems, parameterText, sortedParameters } from './parameters';
import { compareVersions, versionChange, versionParts } from './version';

const MIB = 1024 * 1024;
const socketDirectory = '/run/mysqld';

const owned = new Map(
  Object.entries({
    'datadir tmpdir innodb_data_home_dir innodb_log_group_home_dir innodb_undo_directory log_bin_basename relay_log': 'the directories of the pod are fixed',
    'socket port bind_address skip_networking pid_file mysqlx': 'probes, Services and backups look for the server there',
    'server_id log_bin skip_log_bin disable_log_bin gtid_mode enforce_gtid_consistency': 'backups record a position, and replicas will stand on it',
    'secure_file_priv': 'SQL must not read or write the files of the pod',
    'user chroot daemonize basedir defaults_file defaults_extra_file init_file skip_grant_tables initialize initialize_insecure upgrade log_error': 'the start of the server is its own work',
    'ssl_ca ssl_cert ssl_key auto_generate_certs': 'certificates are mounted and renewed by it',
    'skip_name_resolve': 'accounts are bound to it',
  }).flatMap(([names, why]) => names.split(' ').map((name) => [name, why] as const)),
);

/** What decides how a data directory is made or whether accounts load; also a throw-away server must have it. */
const layout = new Set('lower_case_table_names innodb_page_size innodb_data_file_path mysql_native_password plugin_load plugin_load_add early_plugin_load authentication_policy character_set_server collation_server'.split(' '));

/** Common settings that a running server takes by SET GLOBAL; each is tried on a real server in the tests. */
const dynamic = new Set(
  (
    'autocommit automatic_sp_privileges big_tables binlog_cache_size binlog_expire_logs_seconds binlog_row_image binlog_row_metadata binlog_rows_query_log_events ' +
    'concurrent_insert connect_timeout cte_max_recursion_depth default_storage_engine default_week_format div_precision_increment end_markers_in_json ' +
    'eq_range_index_dive_limit event_scheduler flush_time ft_boolean_syntax general_log generated_random_password_length group_concat_max_len ' +
    'host_cache_size information_schema_stats_expiry init_connect innodb_adaptive_flushing innodb_adaptive_hash_index innodb_autoextend_increment ' +
    'innodb_buffer_pool_size innodb_change_buffering innodb_cmp_per_index_enabled innodb_deadlock_detect innodb_fast_shutdown innodb_file_per_table ' +
    'innodb_flush_log_at_timeout innodb_flush_log_at_trx_commit innodb_flush_neighbors innodb_flushing_avg_loops innodb_io_capacity innodb_io_capacity_max ' +
    'innodb_lock_wait_timeout innodb_log_buffer_size innodb_lru_scan_depth innodb_max_dirty_pages_pct innodb_max_purge_lag innodb_old_blocks_time ' +
    'innodb_online_alter_log_max_size innodb_print_all_deadlocks innodb_purge_batch_size innodb_random_read_ahead innodb_redo_log_capacity innodb_rollback_segments ' +
    'innodb_spin_wait_delay innodb_stats_auto_recalc innodb_stats_persistent innodb_strict_mode innodb_thread_concurrency interactive_timeout join_buffer_size ' +
    'key_buffer_size lc_time_names local_infile lock_wait_timeout log_bin_trust_function_creators log_error_verbosity log_output log_queries_not_using_indexes ' +
    'log_slow_admin_statements log_throttle_queries_not_using_indexes long_query_time low_priority_updates max_allowed_packet max_binlog_cache_size max_binlog_size ' +
    'max_connect_errors max_connections max_execution_time max_heap_table_size max_join_size max_length_for_sort_data max_prepared_stmt_count max_seeks_for_key ' +
    'max_sort_length max_user_connections min_examined_row_limit net_buffer_length net_read_timeout net_retry_count net_write_timeout offline_mode ' +
    'optimizer_search_depth optimizer_switch password_history password_reuse_interval preload_buffer_size range_alloc_block_size range_optimizer_max_mem_size ' +
    'read_buffer_size read_only read_rnd_buffer_size require_secure_transport schema_definition_cache slow_launch_time slow_query_log sort_buffer_size ' +
    'sql_mode sql_require_primary_key stored_program_cache super_read_only sync_binlog table_definition_cache table_open_cache thread_cache_size time_zone ' +
    'tmp_table_size transaction_isolation transaction_alloc_block_size updatable_views_with_limit wait_timeout'
  ).split(' '),
);

/** MySQL 5.7 and later. */
export const mysql: Engine = {
  name: 'mysql',
  title: 'MySQL',
  port: 3306,
  accounts: { superuser: 'root', operator: 'dbop_operator', backup: 'dbop_backup' },
  emptyDirectories: [{ path: socketDirectory }],
  files: {},
  scripts: mysqlScripts,

  image: (version) => `mysql:${version}`,
  compareVersions,
  versionChange: (from, to) => versionChange(from, to, seriesOf),
  parameterProblems: (parameters) => parameterProblems(parameters, normalised, owned),

  restartParameters(parameters): Parameters {
    return Object.fromEntries(Object.entries(parameters).filter(([name]) => !dynamic.has(normalised(name))));
  },

  defaultOf: (parameter, settings) => defaults(settings)[normalised(parameter)],

  configFiles(settings) {
    return { 'my.cnf': optionFile(serverOptions(settings)), 'layout.cnf': optionFile(layoutOptions(settings.parameters ?? {})) };
  },

  connectionStrings({ host, port, username, password, database }) {
    const user = encodeURIComponent(username);
    const secret = encodeURIComponent(password);
    const schema = encodeURIComponent(database);
    return {
      uri: `mysql://${user}:${secret}@${host}:${port}/${schema}`,
      jdbcUrl: `jdbc:mysql://${host}:${port}/${schema}?user=${user}&password=${secret}`,
    };
  },
};

/** Up to 8, the second number is a series of its own (5.7, 8.0, 8.4); from 9 on, the first alone. */
function seriesOf(version: string): string {
  const [major = 0, minor = 0] = versionParts(version);
  return major < 9 ? `${major}.${minor}` : String(major);
}

/** The option file knows `max-connections` and `max_connections`, and `loose_` before either. */
function normalised(name: string): string {
  return name.toLowerCase().replaceAll('-', '_').replace(/^(loose|skip|enable|disable)_(?!log_bin|networking|grant_tables|name_resolve)/, '');
}

/** SQL takes a name in any case, the option file in one: what a running server has taken must not keep it from starting. */
function asRead(name: string): string {
  return name.toLowerCase();
}

function defaults({ memory }: Pick<ServerSettings, 'memory'>): Record<string, string> {
  return {
    // Half of a small pod goes to what MySQL needs besides its cache.
    innodb_buffer_pool_size: bufferPool(memory),
    // Its tables take more memory than everything else in a pod of this size.
    performance_schema: 'OFF',
    table_definition_cache: '400',
    table_open_cache: '400',
    max_connections: '100',
    // Small files and a short life: on a small volume the log must not crowd out the data.
    binlog_expire_logs_seconds: String(24 * 3600),
    max_binlog_size: '64M',
  };
}

function serverOptions(settings: ServerSettings): Map<string, string> {
  // A server before 8.0 doesn't know some of these, and would not start without the prefix.
  const since8 = (name: string): string => ((versionParts(settings.version)[0] ?? 0) < 8 ? `loose_${name}` : name);
  const options = new Map(Object.entries(defaults(settings)).map(([name, value]) => [name === 'binlog_expire_logs_seconds' ? since8(name) : name, value]));
  for (const [name, value] of sortedParameters(settings.parameters ?? {})) {
    options.delete(normalised(name));
    options.set(asRead(name), value);
  }
  const fixed: Record<string, string> = {
    port: '3306',
    bind_address: '*',
    socket: `${socketDirectory}/mysqld.sock`,
    pid_file: `${socketDirectory}/mysqld.pid`,
    tmpdir: '/tmp',
    [since8('mysqlx')]: 'OFF',
    skip_name_resolve: 'ON',
    secure_file_priv: 'NULL',
    log_bin: 'binlog',
    gtid_mode: 'ON',
    enforce_gtid_consistency: 'ON',
    ...(settings.tls === true && { ssl_ca: `${paths.tls}/ca.crt`, ssl_cert: `${paths.tls}/tls.crt`, ssl_key: `${paths.tls}/tls.key` }),
  };
  for (const [name, value] of Object.entries(fixed)) options.set(name, value);
  return options;
}

function layoutOptions(parameters: Parameters): Map<string, string> {
  return new Map(sortedParameters(parameters).filter(([name]) => layout.has(normalised(name))).map(([name, value]) => [asRead(name), value]));
}

function bufferPool(memory: number | undefined): string {
  if (memory === undefined) return '128M';
  const share = memory >= 1024 * MIB ? memory / 2 : memory / 4;
  return `${Math.max(32, Math.floor(share / MIB))}M`;
}

function optionFile(options: ReadonlyMap<string, string>): string {
  const lines = [...options].map(([name, value]) => (value === '' ? `${name}=` : `${name}=${optionValue(value)}`));
  return ['[mysqld]', ...lines, ''].join('\n');
}

/** Quoted where a bare value would be read otherwise: `#` begins a comment, a backslash an escape. */
function optionValue(value: string): string {
  const text = parameterText(value);
  return /^[\w.,:/@+*%-]*$/.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
