# shellcheck shell=bash
# The processes of the local target, by name. Each is a child of the drill and is ended by its own id.

# spawn NAME PLACE COMMAND...: starts it in a place; its output is kept under its name.
spawn() {
    local name=$1 place=$2 log=$DRILL_DIR/logs/$1.log
    shift 2
    mkdir -p "$DRILL_DIR/logs" "$DRILL_DIR/pids"
    place_prefix "$place"
    # A session of its own, so that Ctrl-C at the drill does not reach it before the drill decides.
    setsid "${PLACE_PREFIX[@]}" "$@" >>"$log" 2>&1 </dev/null &
    echo $! >"$DRILL_DIR/pids/$name"
    disown
}

pid_of() { cat "$DRILL_DIR/pids/$1"; }
is_running() { [[ -r $DRILL_DIR/pids/$1 ]] && kill -0 "$(pid_of "$1")" 2>/dev/null; }
has_ended() { ! is_running "$1"; }

# family PID: the process and all below it.
family() {
    local child
    echo "$1"
    for child in $(pgrep -P "$1" || true); do family "$child"; done
}

# kill_hard NAME: ends it and its children at once, as a loss of power would.
kill_hard() {
    is_running "$1" || return 0
    # shellcheck disable=SC2046
    kill -KILL $(family "$(pid_of "$1")") 2>/dev/null || true
    await 10 "$1 has ended" has_ended "$1"
}

# kill_soft NAME [SIGNAL]: asks it to end, and waits.
kill_soft() {
    is_running "$1" || return 0
    kill "-${2:-TERM}" "$(pid_of "$1")"
    await 60 "$1 has ended" has_ended "$1"
}

# freeze NAME, thaw NAME: the process stops where it is, with its connections open, and goes on.
# shellcheck disable=SC2046
freeze() { kill -STOP $(family "$(pid_of "$1")"); }
# shellcheck disable=SC2046
thaw() { kill -CONT $(family "$(pid_of "$1")"); }

# processes_stop: ends all that is left.
processes_stop() {
    local file
    for file in "$DRILL_DIR"/pids/*; do
        [[ -e $file ]] || continue
        thaw "$(basename "$file")" 2>/dev/null || true
        kill_hard "$(basename "$file")"
        rm -f "$file"
    done
}
