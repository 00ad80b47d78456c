import type { Scripts } from './engine';
import { podScripts } from './pod-scripts';

const functions = String.raw`
export PGHOST= PGPORT=5432 PGUSER=postgres PGDATABASE=postgres PGCONNECT_TIMEOUT=10 PGCLIENTENCODING=UTF8 PGPASSFILE=$private/pgpass
tab=$(printf '\t')

# quoted TEXT: as an SQL string; a backslash is nothing special in one.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/''/g")"; }

client() { psql --no-psqlrc --quiet --no-password --set=ON_ERROR_STOP=1 --tuples-only --no-align "$@"; }

server_version() { postgres --version | sed 's/^[^0-9]*\([0-9.]*\).*/\1/'; }

# Accounts that are there already get the passwords of the mounted Secrets, so that a restored server opens to its new keys.
accounts_sql() {
  root=$(secret /dbop/accounts root-password) || return 1
  operator=$(secret /dbop/accounts operator-password) || return 1
  backup=$(secret /dbop/accounts backup-password) || return 1
  user=$(secret /dbop/application username) || return 1
  password=$(secret /dbop/application password) || return 1
  database=$(secret /dbop/application database) || return 1
  case $user in
    postgres | dbop_* | pg_*) say "the application's username '$user' is the name of another account; choose another one"; return 1 ;;
  esac
  cat <<SQL
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['dbop_probe', 'dbop_operator', 'dbop_backup', $(quoted "$user")]) AS name
WHERE name NOT IN (SELECT rolname FROM pg_roles) \gexec
ALTER ROLE postgres PASSWORD $(quoted "$root");
ALTER ROLE dbop_probe LOGIN CONNECTION LIMIT 4;
ALTER ROLE dbop_operator LOGIN CREATEROLE PASSWORD $(quoted "$operator");
ALTER ROLE dbop_backup LOGIN BYPASSRLS PASSWORD $(quoted "$backup");
SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', $(quoted "$user"), $(quoted "$password")) \gexec
GRANT pg_monitor, pg_signal_backend TO dbop_operator;
-- To alter an account takes this since version 16; before that, CREATEROLE is enough. Neither reads its data.
SELECT format('GRANT %I, dbop_backup TO dbop_operator WITH ADMIN TRUE, INHERIT FALSE, SET FALSE', $(quoted "$user"))
WHERE current_setting('server_version_num')::int >= 160000 \gexec
GRANT EXECUTE ON FUNCTION pg_reload_conf() TO dbop_operator;
-- Not those by which the server runs programs or loads code: they would make the account a superuser.
SELECT format('GRANT ALTER SYSTEM ON PARAMETER %I TO dbop_operator', name) FROM pg_settings
WHERE current_setting('server_version_num')::int >= 150000 AND context NOT IN ('internal', 'postmaster')
AND name NOT LIKE '%\_command' AND name NOT LIKE '%\_libraries' AND name NOT LIKE '%\_file' AND name NOT IN ('dynamic_library_path', 'extension_control_path', 'log_directory') \gexec
GRANT pg_read_all_data TO dbop_backup;
-- Hashes of passwords belong to a dump of everything; large objects have no right of their own that could be given.
GRANT SELECT ON pg_catalog.pg_authid TO dbop_backup;
ALTER ROLE dbop_backup SET lo_compat_privileges = on;
ALTER ROLE dbop_backup SET default_transaction_read_only = on;
CREATE SCHEMA IF NOT EXISTS dbop;
GRANT USAGE ON SCHEMA dbop TO dbop_operator;
-- The superuser's password can't be set by another account otherwise.
CREATE OR REPLACE FUNCTION dbop.set_password(account name, verifier text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS
'BEGIN IF verifier NOT LIKE ''SCRAM-SHA-256_%'' THEN RAISE ''not a SCRAM-SHA-256 verifier''; END IF; EXECUTE format(''ALTER ROLE %I PASSWORD %L'', account, verifier); END';
REVOKE EXECUTE ON FUNCTION dbop.set_password(name, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dbop.set_password(name, text) TO dbop_operator;
SELECT format('CREATE DATABASE %I', $(quoted "$database")) WHERE $(quoted "$database") NOT IN (SELECT datname FROM pg_database) \gexec
SELECT format('ALTER DATABASE %I OWNER TO %I', $(quoted "$database"), $(quoted "$user")) \gexec
-- Of its own, so that an owner who shuts the public out doesn't shut the backups out.
SELECT format('GRANT CONNECT ON DATABASE %I TO dbop_backup', $(quoted "$database")) \gexec
SQL
}

# Collation by code point, built in where the server can: it never changes with the C library under an index.
initialize() {
  rm -rf "$1" || return 1
  provider=--locale=C.UTF-8
  case $(server_version) in 9.* | 1[0-6]*) ;; *) provider='--locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C.UTF-8' ;; esac
  initdb --pgdata="$1" --username=postgres --encoding=UTF8 $provider --data-checksums --auth=reject --no-sync --no-instructions
}

# Durable only once the server has stopped and the files are synced, which is when the directory gets its name.
begin_server() {
  echo 'local all all trust' > "$private/hba.conf"
  PGHOST=$private PGPORT=5432 PGUSER=postgres
  postgres -D "$1" -c config_file="$config/layout.conf" -c hba_file="$private/hba.conf" -c unix_socket_directories="$private" &
  server=$!
}

end_server_signal=INT

ask() { client -c 'SELECT 1'; }

apply_accounts() { accounts_sql > "$private/accounts.sql" && client -o /dev/null -f "$private/accounts.sql" && rm "$private/accounts.sql"; }

make() {
  initialize "$1"
  begin_server "$1"
  until ask > /dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || { say 'the new server did not start'; exit 1; }
    sleep 0.1
  done
  apply_accounts
  kill -s "$end_server_signal" "$server"
  wait "$server"
}

# pg_hba and pgpass escape with a backslash what would end a field.
log_in() {
  password=$(secret /dbop/accounts backup-password) || return 1
  printf '*:*:*:dbop_backup:%s\n' "$(printf '%s' "$password" | sed 's/[\\:]/\\&/g')" > "$private/pgpass"
  PGHOST=$SERVER_HOST PGPORT=$SERVER_PORT PGUSER=dbop_backup
}

# Nobody can connect to what an interrupted DROP DATABASE has left, whose limit is -2.
databases() { client -c "SELECT datname FROM pg_database WHERE datallowconn AND datconnlimit <> -2 AND datname NOT IN ('template0', 'template1') ORDER BY datname <> 'postgres', datname" > "$private/databases"; }

# name_of DATABASE: as a connection string, since a bare name with '=' in it would be taken for one.
name_of() { printf "dbname='%s'" "$(printf '%s' "$1" | sed "s/[\\\\']/\\\\&/g")"; }

dump_everything() {
  version=$(client -c 'SHOW server_version') || return 1
  position=$(client -c 'SELECT pg_current_wal_lsn()') || return 1
  printf -- '-- dbop dump 1 postgres %s\n-- dbop position %s\n' "$(printf '%s' "$version" | sed 's/[^0-9.].*//')" "$position"
  pg_dumpall --no-password --database=postgres --globals-only > "$private/globals.sql" || return 1
  # The superuser is there in every new server. The operator's account is given its rights anew, on the parameters that the new server has.
  sed '/^CREATE ROLE postgres;$/d; /^GRANT ALTER SYSTEM ON PARAMETER .* TO dbop_operator;$/d' "$private/globals.sql"
  databases || return 1
  while IFS= read -r name; do
    if [ "$name" = postgres ]; then
      echo '\connect postgres'
      in_large_pieces pg_dump --no-password --exclude-schema=dbop --dbname=postgres < /dev/null || return 1
    else
      in_large_pieces pg_dump --no-password --create --dbname="$(name_of "$name")" < /dev/null || return 1
    fi
  done < "$private/databases"
  printf -- '\n-- dbop dump completed\n'
}

load_artifact() { client -o /dev/null -f "$exchange/artifact"; }

# Not compared: tables of extensions, which bring their own rows; and partitions by the hash of an enum, among which every server spreads the rows anew.
count_rows() {
  databases || return 1
  while IFS= read -r name; do
    client --field-separator="$tab" --dbname="$(name_of "$name")" >> "$private/answer" <<'SQL' || return 1
SELECT CASE WHEN incomparable THEN format('SELECT %L, ''-''', title) ELSE format('SELECT %L, count(*) FROM ONLY %I.%I', title, nspname, relname) END
FROM (SELECT current_database() || '.' || nspname || '.' || relname AS title, nspname, relname,
  EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
  OR EXISTS (SELECT FROM pg_partition_ancestors(pg_class.oid) AS ancestor JOIN pg_partitioned_table ON partrelid = ancestor JOIN pg_opclass ON pg_opclass.oid = ANY (partclass)
    WHERE partstrat = 'h' AND opcname = 'enum_ops') AS incomparable
  FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
  WHERE relkind = 'r' AND relpersistence <> 't' AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')) AS tables \gexec
SQL
  done < "$private/databases"
}

# Nobody but us gets in; read-only by default too, for whatever runs inside the server by itself.
closed="-c hba_file=$config/pg_hba-closed.conf -c default_transaction_read_only=on"

# What was set in the running server is in the mounted file too, as soon as the kubelet has brought that; from then on only the file counts.
become_server() {
  [ "$config/postgresql.conf" -nt "$data/postgresql.auto.conf" ] && : > "$data/postgresql.auto.conf"
  exec postgres -D "$data" -c config_file="$config/postgresql.conf" "$@"
}
`;

/**
 * A role without rights answers the probe, so that a password change never makes a pod unready. The server's own psql comes first:
 * the one of Debian's images is a Perl program that only looks for it.
 */
const ready = String.raw`
for place in /usr/lib/postgresql/*/bin; do PATH=$place:$PATH; done
PGCONNECT_TIMEOUT=3 exec psql --no-psqlrc --no-password --host=/run/postgresql --port=5432 --username=dbop_probe --dbname=postgres --tuples-only -c 'SELECT 1' > /dev/null
`;

/** The TERM that the kubelet sends would wait for every client to leave; INT ends their sessions and shuts down cleanly. */
const stop = 'kill -s INT 1\n';

/** What runs inside a PostgreSQL image. */
export const postgresScripts: Scripts = podScripts({ functions, ready, stop });
