# shellcheck shell=bash
# The callers: a program that pays through the traffic switch and writes down, flushed, what it was promised.

LOAD_PID=''

# load_start: begins to pay, and waits until the first payments have succeeded.
load_start() {
    target_load
    await 30 "ten payments have ended" load_settled_at_least 10
}

load_settled_at_least() { (($(grep -c '"event": "told"' "$EVIDENCE/journal.jsonl") >= $1)); }

# load_stop: no new payments; waits until the callers have their answers, or have lost patience.
load_stop() {
    [[ -n $LOAD_PID ]] || return 0
    kill -TERM "$LOAD_PID" 2>/dev/null || true
    local end=$(($(now_ms) + 150000))
    while kill -0 "$LOAD_PID" 2>/dev/null; do
        (($(now_ms) < end)) || {
            kill -KILL "$LOAD_PID" 2>/dev/null || true
            warn "the callers did not end"
            return 1
        }
        sleep 0.1
    done
    LOAD_PID=''
}
