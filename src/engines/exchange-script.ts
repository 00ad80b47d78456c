/**
 * The engine's half of the conversation with the store, shared by all engines; `docs/backup-format.md` is its contract.
 *
 * POSIX sh for dash, busybox ash and bash: no arrays, no `local`, no `pipefail`. Functions say `|| return 1` where
 * `set -e` would seem to do, because a shell forgets `-e` inside anything that is tested. No `$` is followed by a brace
 * and no backquote stands for itself, so that the text reads here as it runs there.
 */
export const exchangeScript = String.raw`
set -eu
umask 077
# Plain images keep their servers where no PATH leads.
for place in /usr/local/sbin /usr/sbin /sbin /usr/local/bin /usr/bin /bin; do
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

# The last words of a program that failed, on one line.
last_words() { tail -c 700 "$1" 2>/dev/null | tr '\n\t' '  '; }

sync_path() { sync -f "$1" 2>/dev/null || sync; }

# secret FOLDER KEY: prints a mounted password; a newline at its end is the editor's, not the password's.
secret() {
  [ -r "$1/$2" ] || { say "the Secret at $1 has no key '$2'"; return 1; }
  printf '%s' "$(cat "$1/$2")"
}

begin_beating() {
  ( beat=0; while :; do beat=$((beat + 1)); echo "$beat" > "$exchange/engine.beat"; sleep 1; done ) &
  beats=$!
  trap 'kill "$beats" 2>/dev/null || :' EXIT
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
  sleep 1
  silence=$((silence + 1))
  if [ -n "$heard" ]; then patience=60; else patience=600; fi
  [ "$silence" -le "$patience" ] || fail Interrupted "the store has been silent for $patience seconds"
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
`;
