import type { Scripts } from './engine';

/**
 * What runs inside a database's image, the same for every engine; what differs is functions that an engine brings:
 *
 * - `server_version`: prints the version of the server program.
 * - `make DIRECTORY`: an empty server there, with all accounts.
 * - `initialize DIRECTORY`: an empty server there, that only knows its superuser, who needs no password from inside.
 * - `begin_server DIRECTORY`: starts it as `$server`, out of everybody else's reach, and turns the clients to it; `end_server_signal` is what ends it well.
 * - `log_in`: turns the clients to the database's server, as the backup account; `ask`: asks the server something.
 * - `dump_everything`: writes the dump, with our first line and, only if all went well, our last one.
 * - `load_artifact`: reads the dump from the FIFO into the server that was begun; `count_rows` then tells what it holds.
 * - `apply_accounts`: gives the accounts of the begun server the passwords of the mounted Secrets.
 * - `become_server OPTION...`: replaces the shell; `$closed` are the options with which it takes no writes and shuts applications out.
 *
 * POSIX sh for dash, busybox ash and bash: no arrays, no `local`, no `pipefail`. Functions say `|| return 1` where
 * `set -e` would seem to do, because a shell forgets `-e` inside anything that is tested. No `$` is followed by a brace
 * and no backquote stands for itself, so that the text reads here as it runs there.
 */
export function podScripts(engine: { readonly functions: string; readonly ready: string; readonly stop: string }): Scripts {
  return {
    'common.sh': common + engine.functions,
    'start.sh': start,
    'ready.sh': engine.ready,
    'stop.sh': engine.stop,
    'backup.sh': backup,
    'restore.sh': restore,
  };
}

const common = String.raw`
set -eu
umask 077
# Plain images keep their servers where no PATH leads.
for place in /usr/local/sbin /usr/sbin /sbin /usr/local/bin /usr/bin /bin /usr/lib/postgresql/*/bin; do
  case ":$PATH:" in *":$place:"*) ;; *) PATH=$PATH:$place ;; esac
done
export LC_ALL=C

data=/data/db
exchange=/dbop/exchange
private=/dbop/private
scratch=/dbop/scratch
config=/dbop/config

say() { printf '%s dbop: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >&2; }

# The name appears when the content is whole: the store polls for names.
put() { cat > "$exchange/.$1" && mv "$exchange/.$1" "$exchange/$1"; }

# fail REASON WORDS...: the store hears why and reports it.
fail() {
  reason=$1; shift
  say "$reason: $*"
  printf '%s\n%s\n' "$reason" "$*" | put engine.failed
  exit 1
}

# Dump programs write by four kilobytes, each of which would wake the store; in large pieces both have half the work.
in_large_pieces() { if command -v stdbuf > /dev/null; then stdbuf -o 256K "$@"; else "$@"; fi; }

# The last words of a program that failed, on one line.
last_words() { tail -c 700 "$1" 2>/dev/null | tr '\n\t' '  '; }

# Small systems have a sync that only knows everything, and tells of no error.
sync_path() { case $(sync --help 2>&1) in *-f* | *-df*) sync -f "$1" ;; *) sync ;; esac; }

# secret FOLDER KEY: prints a mounted password; a newline at its end is the editor's, not the password's.
secret() {
  [ -r "$1/$2" ] || { say "the Secret at $1 has no key '$2'"; return 1; }
  printf '%s' "$(cat "$1/$2")"
}

# An end that nobody announced is announced here, so that the store need not wait for silence.
end_beating() {
  kill "$beats" 2>/dev/null || :
  [ "$1" -eq 0 ] || [ -e "$exchange/engine.failed" ] || printf 'Internal\nthe script of the engine ended with status %s; see its log\n' "$1" | put engine.failed
}

begin_beating() {
  ( beat=0; while :; do beat=$((beat + 1)); echo "$beat" > "$exchange/engine.beat"; sleep 1; done ) &
  beats=$!
  trap 'end_beating $?' EXIT
  trap 'fail Interrupted "the pod was told to stop"' TERM INT
}

heard= silence=0 ticks=0
# One tick of a wait. Ends the script when the store has failed, or has been silent for a minute
# (ten before its first word: its image may still be on its way).
heed() {
  [ ! -e "$exchange/store.failed" ] || { say 'the store gave up; see its log'; exit 1; }
  beat=
  read -r beat 2>/dev/null < "$exchange/store.beat" || :
  if [ "$beat" != "$heard" ]; then heard=$beat silence=0; fi
  if [ "$ticks" -lt 50 ]; then ticks=$((ticks + 1)); sleep 0.1; return; fi
  sleep 0.2
  silence=$((silence + 1))
  if [ -n "$heard" ]; then patience=60; else patience=600; fi
  [ "$silence" -le $((patience * 5)) ] || fail Interrupted "the store has been silent for $patience seconds"
}

# await FILE: until the store has written it.
await() { ticks=0; while [ ! -e "$exchange/$1" ]; do heed; done; }

# attend PID: until this child ends, listening to the store; the exit status is the child's.
attend() { child=$1 ticks=0; while kill -0 "$child" 2>/dev/null; do heed; done; wait "$child"; }

# attended COMMAND...: runs it while listening to the store.
attended() { "$@" & attend $!; }

# Obeys the store's orders one after the other: 'order_NAME' for each; what it leaves in $private/answer is the answer.
serve() {
  begin_beating
  mkfifo "$exchange/dump" "$exchange/artifact"
  touch "$exchange/engine.ready"
  number=1
  while :; do
    await "order-$number"
    read -r order < "$exchange/order-$number"
    say "order $number: $order"
    : > "$private/answer"
    case $order in
      end) exit 0 ;;
      facts | dump | load | count | keep) "order_$order" ;;
      *) fail Internal "unknown order '$order'; the two images of this pod are of different releases" ;;
    esac
    put "answer-$number" < "$private/answer"
    number=$((number + 1))
  done
}

# load DIRECTORY: a new server there, filled with what the store sends.
load() {
  attended initialize "$1" > /tmp/server.log 2>&1 || fail LoadFailed "cannot make a data directory: $(last_words /tmp/server.log)"
  begin_server "$1" > /tmp/server.log 2>&1
  ticks=0 tries=0
  until ask > /dev/null 2> "$private/errors"; do
    kill -0 "$server" 2>/dev/null || fail LoadFailed "the server for loading did not start: $(last_words /tmp/server.log)"
    tries=$((tries + 1))
    [ "$tries" -lt 1300 ] || fail LoadFailed "the server for loading does not answer: $(last_words "$private/errors")"
    heed
  done
  attended load_artifact 2> "$private/errors" || fail LoadFailed "the dump does not load: $(last_words "$private/errors")"
}

end_server() {
  kill -s "$end_server_signal" "$server"
  attend "$server" || fail LoadFailed "the server for loading did not end well: $(last_words /tmp/server.log)"
}

order_count() { attended count_rows 2> "$private/errors" || fail VerificationFailed "cannot count what was loaded: $(last_words "$private/errors")"; }
`;

const start = String.raw`
. /dbop/scripts/common.sh
if [ ! -d "$data" ]; then
  # No dot before the name: InnoDB doesn't look into hidden folders for its files.
  say 'making the data directory'
  make /data/unfinished
  sync_path /data
  mv /data/unfinished "$data"
  sync_path /data
fi
# Pods of a StatefulSet have a number of their own, which replication will stand on; those of a Deployment have none.
number=$(printf '%s' "$POD_NAME" | sed 's/.*-//')
[ "$POD_NAME" = "$WORKLOAD_NAME-$number" ] || number=0
case $number in '' | *[!0-9]*) number=0 ;; esac
if [ "$*" = closed ]; then become_server $closed; else become_server; fi
`;

const backup = String.raw`
. /dbop/scripts/common.sh

dump_to_store() { dump_everything > "$exchange/dump" 2> "$private/errors"; }

order_dump() {
  log_in || fail Internal 'no password for the account dbop_backup is mounted'
  tries=0
  until ask > /dev/null 2> "$private/errors"; do
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || fail ServerUnreachable "$SERVER_HOST:$SERVER_PORT does not let us in: $(last_words "$private/errors")"
    ticks=50; heed
  done
  attended dump_to_store || fail DumpFailed "$(last_words "$private/errors")"
  cat "$private/errors" >&2
}

# The throw-away server has no network and nobody's password.
order_load() { load "$scratch/db"; }

serve
`;

const restore = String.raw`
. /dbop/scripts/common.sh

order_facts() {
  if [ -d "$data" ]; then state=present; else state=absent; fi
  printf 'data=%s\nversion=%s\n' "$state" "$(server_version)" > "$private/answer"
  [ ! -r "$data/dbop-restored.json" ] || printf 'restored=%s\n' "$(cat "$data/dbop-restored.json")" >> "$private/answer"
}

order_load() {
  [ ! -d "$data" ] || fail Internal 'a whole data directory is there; nothing is restored over data'
  load /data/unfinished
}

# The store has sent all of it and the checksum was right: the directory may take its name.
order_keep() {
  attended apply_accounts 2> "$private/errors" || fail LoadFailed "cannot set the passwords of the accounts: $(last_words "$private/errors")"
  end_server
  cp "$exchange/restored.json" /data/unfinished/dbop-restored.json
  sync_path /data
  mv /data/unfinished "$data"
  sync_path /data
}

serve
`;
