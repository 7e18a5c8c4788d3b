# shellcheck shell=bash
# What happened when: steps that the drill takes, and marks at which something became true. Milliseconds since 1970.

STEP=0 ROUND=1

# step TEXT COMMAND...: says it, shows the command, runs it, and writes both down with the time it took.
step() {
    local text=$1 start
    shift
    STEP=$((STEP + 1))
    printf '%s%3d.%s %s\n' "$BOLD" "$STEP" "$PLAIN" "$text"
    note "\$ $*"
    start=$(now_ms)
    "$@"
    jq -nc --argjson number "$STEP" --arg text "$text" --arg command "$*" --argjson at "$start" \
        --argjson took "$(($(now_ms) - start))" --argjson round "$ROUND" \
        '{number: $number, round: $round, text: $text, command: $command, at: $at, took_ms: $took}' \
        >>"$EVIDENCE/steps.jsonl"
}

# mark NAME TEXT: fault, detected, approved, fenced, promoted, repaired, or what else the report shall show.
mark() {
    local at
    at=$(now_ms)
    jq -nc --arg name "$1" --arg text "$2" --argjson at "$at" --argjson round "$ROUND" \
        '{at: $at, round: $round, mark: $name, text: $text}' >>"$EVIDENCE/timeline.jsonl"
    note "$(date -d "@$((at / 1000))" +%T).$(printf '%03d' $((at % 1000))) $1: $2"
}

# await SECONDS WHAT COMMAND...: runs the command until it succeeds; fails when the time is over.
await() {
    local end=$(($(now_ms) + $1 * 1000)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        (($(now_ms) < end)) || {
            warn "waited in vain for: $what"
            return 1
        }
        sleep 0.1
    done
}

# pass SECONDS: lets time pass under load; a third of it in a short drill.
pass() {
    if [[ $SHORT == yes ]]; then sleep "$((($1 + 2) / 3))"; else sleep "$1"; fi
}

# fault TEXT COMMAND...: the step that does the harm; what is measured begins with it.
fault() {
    mark fault "$1"
    step "$@"
}
