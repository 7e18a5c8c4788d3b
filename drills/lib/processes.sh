# shellcheck shell=bash
# The processes of the local target, by name. Each is a child of the drill and is ended by its own id, as long as that
# is still its own: the system gives the ids of ended processes to others.

# spawn NAME PLACE COMMAND...: starts it in a place; its output is kept under its name.
spawn() {
    local name=$1 place=$2 log=$DRILL_DIR/logs/$1.log
    shift 2
    mkdir -p "$DRILL_DIR/logs" "$DRILL_DIR/pids"
    place_prefix "$place"
    # A session of its own, so that Ctrl-C at the drill does not reach it before the drill decides.
    setsid "${PLACE_PREFIX[@]}" "$@" >>"$log" 2>&1 </dev/null &
    printf '%s\n' "$!" "$(begun_at $!)" >"$DRILL_DIR/pids/$name"
    disown
}

pid_of() { head -n 1 "$DRILL_DIR/pids/$1"; }

# begun_at PID: when the process began; nothing if there is none.
begun_at() { ps -o lstart= -p "$1" 2>/dev/null || true; }

is_running() {
    [[ -r $DRILL_DIR/pids/$1 ]] || return 1
    local pid begun
    { read -r pid && read -r begun; } <"$DRILL_DIR/pids/$1" || return 1
    [[ -n $begun && $(begun_at "$pid") == "$begun" ]]
}
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
    local file name
    for file in "$DRILL_DIR"/pids/*; do
        [[ -e $file ]] || continue
        name=$(basename "$file")
        if is_running "$name"; then thaw "$name" 2>/dev/null || true; fi
        # A server that is killed leaves its shared memory behind, and there is room for 4096 pieces.
        if [[ $name == db-* ]]; then member_kill "${name#db-}"; else kill_hard "$name"; fi
        rm -f "$file"
    done
}
