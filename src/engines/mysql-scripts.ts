import type { Scripts } from './engine';
import { podScripts } from './pod-scripts';

const functions = String.raw`
tick=$(printf '\140')

# quoted TEXT: as an SQL string.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed 's/\\/\\\\/g' | sed "s/'/''/g")"; }

# identifier TEXT: as an SQL identifier.
identifier() { printf '%s%s%s' "$tick" "$(printf '%s' "$1" | sed "s/$tick/$tick$tick/g")" "$tick"; }

# The accounts that the operator keeps, and the application's own; one statement a line, as --init-file wants it.
# An account that is there already gets the password of the mounted Secret, so that a restored server opens to its new keys.
accounts_sql() {
  root=$(secret /dbop/accounts root-password) || return 1
  operator=$(secret /dbop/accounts operator-password) || return 1
  backup=$(secret /dbop/accounts backup-password) || return 1
  user=$(secret /dbop/application username) || return 1
  password=$(secret /dbop/application password) || return 1
  database=$(secret /dbop/application database) || return 1
  case $user in
    root | dbop_* | mysql.*) say "the application's username '$user' is the name of another account; choose another one"; return 1 ;;
  esac
  # In a grant, _ and % of a database's name would be wildcards.
  pattern=$(printf '%s' "$database" | sed 's/[_%]/\\&/g')
  cat <<SQL
ALTER USER 'root'@'localhost' IDENTIFIED BY $(quoted "$root");
CREATE USER IF NOT EXISTS 'dbop_probe'@'localhost' IDENTIFIED BY '' WITH MAX_USER_CONNECTIONS 4;
CREATE USER IF NOT EXISTS 'dbop_operator'@'%' IDENTIFIED BY $(quoted "$operator");
ALTER USER 'dbop_operator'@'%' IDENTIFIED BY $(quoted "$operator");
GRANT CREATE USER, PROCESS, RELOAD, REPLICATION CLIENT ON *.* TO 'dbop_operator'@'%';
GRANT SELECT ON mysql.user TO 'dbop_operator'@'%';
GRANT SELECT ON performance_schema.* TO 'dbop_operator'@'%';
/*!80000 GRANT SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN ON *.* TO 'dbop_operator'@'%' */;
/*!80016 GRANT SYSTEM_USER ON *.* TO 'dbop_operator'@'%' */;
CREATE USER IF NOT EXISTS 'dbop_backup'@'%' IDENTIFIED BY $(quoted "$backup");
ALTER USER 'dbop_backup'@'%' IDENTIFIED BY $(quoted "$backup");
GRANT SELECT, SHOW VIEW, TRIGGER, EVENT, PROCESS, RELOAD, REPLICATION CLIENT ON *.* TO 'dbop_backup'@'%';
/*!80020 GRANT SHOW_ROUTINE ON *.* TO 'dbop_backup'@'%' */;
CREATE DATABASE IF NOT EXISTS $(identifier "$database");
CREATE USER IF NOT EXISTS $(quoted "$user")@'%' IDENTIFIED BY $(quoted "$password");
ALTER USER $(quoted "$user")@'%' IDENTIFIED BY $(quoted "$password");
GRANT ALL PRIVILEGES ON $(identifier "$pattern").* TO $(quoted "$user")@'%';
SQL
}

# For making directories: durable only once the server has stopped, which is when they get their name.
hasty='--skip-log-bin --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=OFF --skip-networking --mysqlx=OFF --performance-schema=OFF'

# initialize DIRECTORY [OPTION...]: an empty server that knows only root, without a password.
initialize() {
  directory=$1; shift
  rm -rf "$directory" && mkdir "$directory" || return 1
  mysqld --defaults-file="$config/layout.cnf" --initialize-insecure --datadir="$directory" $hasty --innodb-buffer-pool-size=32M "$@"
}

make() {
  accounts_sql > "$private/accounts.sql"
  initialize "$1" --init-file="$private/accounts.sql"
  rm "$private/accounts.sql"
}

client() { mysql --defaults-file="$private/client.cnf" --batch --skip-column-names --raw "$@"; }

server_version() { mysqld --no-defaults --version | sed -n 's/.* Ver \([0-9][0-9.]*\).*/\1/p'; }

# options FORMAT ARGUMENT...: where the clients find the server, as printf has it. Names are of any language, whatever our locale is; and the
# server's sql_mode would change how it quotes what we ask for, and how it reads what we load.
options() {
  { printf '[client]\ndefault-character-set=utf8mb4\n'; printf "$@"; printf '[mysql]\nconnect-timeout=10\ninit-command="SET sql_mode = %s"\n' "''"; } > "$private/client.cnf"
}

begin_server() {
  options 'user=root\nsocket=%s\n' "$private/load.sock"
  mysqld --defaults-file="$config/layout.cnf" --datadir="$1" $hasty --gtid-mode=ON --enforce-gtid-consistency=ON \
    --socket="$private/load.sock" --pid-file="$private/load.pid" --event-scheduler=OFF --secure-file-priv=NULL \
    --innodb-buffer-pool-size=64M --table-open-cache=64 --max-connections=5 --max-allowed-packet=1G &
  server=$!
}

end_server_signal=TERM

ask() { client -e 'SELECT 1'; }

load_artifact() { mysql --defaults-file="$private/client.cnf" --max-allowed-packet=1G --binary-mode < "$exchange/artifact"; }

apply_accounts() { accounts_sql > "$private/accounts.sql" && client < "$private/accounts.sql"; }

count_rows() {
  client > "$private/counts.sql" <<SQL || return 1
SELECT CONCAT('SELECT ', QUOTE(CONCAT(table_schema, '.', table_name)), ', COUNT(*) FROM $tick', REPLACE(table_schema, '$tick', '$tick$tick'), '$tick.$tick', REPLACE(table_name, '$tick', '$tick$tick'), '$tick;')
FROM information_schema.tables WHERE table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') AND table_type = 'BASE TABLE';
SQL
  client < "$private/counts.sql" > "$private/answer"
}

# Passwords reach the clients by a file in memory, never by an argument.
log_in() {
  password=$(secret /dbop/accounts backup-password) || return 1
  options 'user=dbop_backup\npassword="%s"\nhost=%s\nport=%s\nprotocol=tcp\n' "$(printf '%s' "$password" | sed "s/[\\\\\"']/\\\\&/g")" "$SERVER_HOST" "$SERVER_PORT"
}

others="user NOT IN ('mysql.sys', 'mysql.session', 'mysql.infoschema', 'dbop_operator', 'dbop_backup', 'dbop_probe') AND NOT (user = 'root' AND host = 'localhost')"

# users STATEMENT: what the server answers to it for each account that isn't ours.
users() {
  client > "$private/ask.sql" <<SQL || return 1
SELECT CONCAT('$1 ', QUOTE(user), '@', QUOTE(host), ';') FROM mysql.user WHERE $others ORDER BY user, host;
SQL
  # Hashes hold any byte, so they travel as hex.
  { echo '/*!80017 SET print_identified_with_as_hex = ON */;'; cat "$private/ask.sql"; } > "$private/asked.sql"
  client < "$private/asked.sql"
}

# identifier_of COLUMN: SQL for what it holds as an SQL identifier.
identifier_of() { printf "CONCAT('%s', REPLACE(%s, '%s', '%s'), '%s')" "$tick" "$1" "$tick" "$tick$tick" "$tick"; }

# grant_of RIGHTS KIND NAME: SQL for the statement that gives a set of rights on an object.
grant_of() {
  printf "CONCAT('GRANT ', COALESCE(NULLIF(TRIM(BOTH ',' FROM REPLACE(CONCAT(',', %s, ','), ',Grant,', ',')), ''), 'USAGE'), ' ON ', %s, ' ', %s, '.', %s, ' TO ', QUOTE(user), '@', QUOTE(host), IF(FIND_IN_SET('Grant', %s), ' WITH GRANT OPTION', ''), ';')" \
    "$1" "$2" "$(identifier_of db)" "$(identifier_of "$3")" "$1"
}

# Grants on tables, columns and routines outlive what they speak of, and nobody can give them anew; only that of CREATE needs no table.
object_grants() {
  client <<SQL
SELECT $(grant_of table_priv "'TABLE'" table_name) FROM mysql.tables_priv AS given WHERE $others AND table_priv <> ''
AND (FIND_IN_SET('Create', table_priv) OR EXISTS (SELECT 1 FROM information_schema.tables AS found WHERE found.table_schema = given.db AND found.table_name = given.table_name));
SELECT CONCAT('GRANT ', REPLACE(column_priv, ',', CONCAT(' (', $(identifier_of column_name), '), ')), ' (', $(identifier_of column_name), ') ON TABLE ', $(identifier_of db), '.', $(identifier_of table_name), ' TO ', QUOTE(user), '@', QUOTE(host), ';')
FROM mysql.columns_priv AS given WHERE $others AND EXISTS (SELECT 1 FROM information_schema.columns AS found
WHERE found.table_schema = given.db AND found.table_name = given.table_name AND LOWER(found.column_name) = LOWER(given.column_name));
SELECT $(grant_of proc_priv routine_type routine_name) FROM mysql.procs_priv AS given WHERE $others
AND EXISTS (SELECT 1 FROM information_schema.routines AS found WHERE found.routine_schema = given.db AND found.routine_name = given.routine_name AND found.routine_type = given.routine_type);
SQL
}

default_roles() {
  client <<SQL
SET SESSION group_concat_max_len = 1000000;
SELECT CONCAT('SET DEFAULT ROLE ', GROUP_CONCAT(QUOTE(default_role_user), '@', QUOTE(default_role_host)), ' TO ', QUOTE(user), '@', QUOTE(host), ';') FROM mysql.default_roles GROUP BY user, host;
SQL
}

dump_everything() {
  version=$(client -e 'SELECT VERSION()') || return 1
  printf -- '-- dbop dump 1 mysql %s\n' "$(printf '%s' "$version" | sed 's/-.*//')"
  users 'SHOW CREATE USER' > "$private/users.sql" || return 1
  # Default roles come last, when the roles are there.
  backquoted="$tick\([^$tick]\|$tick$tick\)*$tick"
  sed "s/ DEFAULT ROLE \($backquoted@$backquoted,\{0,1\}\)*//; s/^CREATE USER /CREATE USER IF NOT EXISTS /; s/\$/;/" "$private/users.sql"
  users 'SHOW GRANTS FOR' > "$private/grants.sql" || return 1
  # Grants on whole databases precede the data: a view on a view needs those of its definer.
  sed -n "s/ ON \(\*\|$tick[^$tick]*$tick\)\.\* .*/&;/p" "$private/grants.sql"
  client > "$private/databases" <<SQL || return 1
SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema');
SQL
  set --
  while IFS= read -r name; do set -- "$@" "$name"; done < "$private/databases"
  if [ $# -gt 0 ]; then
    mysqldump --help > "$private/help" 2>&1 || :
    if grep -q -e '--source-data' "$private/help"; then position=--source-data=2; else position=--master-data=2; fi
    in_large_pieces mysqldump --defaults-file="$private/client.cnf" --single-transaction --quick --routines --triggers --events --hex-blob --no-tablespaces \
      --set-gtid-purged=ON "$position" --max-allowed-packet=1G --default-character-set=utf8mb4 --databases "$@" || return 1
  fi
  sed "/ ON \(PROCEDURE \|FUNCTION \)\{0,1\}$backquoted\.$backquoted TO /d; s/\$/;/" "$private/grants.sql"
  object_grants || return 1
  case $version in 5.*) ;; *) default_roles || return 1 ;; esac
  printf -- '-- dbop dump completed\n'
}

# Also root's writes and those of events are refused; who reads may go on.
closed='--super-read-only=ON --event-scheduler=OFF'

become_server() { exec mysqld --defaults-file="$config/my.cnf" --datadir="$data" --server-id=$((number + 1)) "$@"; }
`;

/** An account without rights answers the probe, so that a password change never makes a pod unready. */
const ready = String.raw`
exec mysql --no-defaults --user=dbop_probe --socket=/run/mysqld/mysqld.sock --connect-timeout=3 --batch -e 'SELECT 1' > /dev/null
`;

/** The server ends cleanly on the TERM that the kubelet sends next. */
const stop = 'exit 0\n';

/** What runs inside a MySQL image. */
export const mysqlScripts: Scripts = podScripts({ functions, ready, stop });
