# shellcheck shell=bash
# What every drill shares. A drill is one file of drills/, reads as a procedure, and begins with:
#
#   set -euo pipefail
#   source "$(dirname "${BASH_SOURCE[0]}")/lib/drill.sh"
#   hypothesis "What is believed to happen."
#   objective rto 20s
#   drill_begin "$@"
#   step "What is done, in words" command with its arguments
#   drill_end
#
# Each step is shown with its command before it is run. The exit code of a drill is 0 when every objective was met and
# every invariant held, 1 when not, 2 when it was called wrongly, 3 when it could not be run here.
# shellcheck source=scripts/lib.sh
source "$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/lib.sh"

DRILL_NAME=$(basename "$0")
declare -A OBJECTIVE=()
HYPOTHESIS='' ALLOWED_LOSS=no

# hypothesis TEXT: what the drill expects; it may stand on several lines.
hypothesis() { HYPOTHESIS=$(tr -s ' \n' ' ' <<<"$*" | sed -e 's/^ //' -e 's/ $//'); }

# objective NAME VALUE: what the drill is judged by, unless --objectives or an option says otherwise.
objective() { OBJECTIVE[$1]=$2; }

# unable TEXT...: ends the drill with 3: nothing was learnt about the system.
unable() {
    printf '%scannot be run here: %s%s\n' "$YELLOW" "$*" "$PLAIN" >&2
    exit 3
}

source drills/lib/options.sh
source drills/lib/timeline.sh
source drills/lib/evidence.sh

# drill_begin ARGUMENT...: reads the options, shows the hypothesis, asks, and brings the target up.
drill_begin() {
    read_options "$@"
    # shellcheck source=drills/targets/local.sh
    source "drills/targets/$TARGET.sh"
    say "Drill $DRILL_NAME on target $TARGET"
    fold -s -w 110 <<<"$HYPOTHESIS" | sed 's/^/    /'
    note "objectives: $(objectives_text)"
    target_check
    # What only this drill needs: a function of its own, which ends with `unable`.
    if declare -F needs >/dev/null; then needs; fi
    confirm "Run it?"
    evidence_begin
    trap drill_broken_off EXIT
    trap 'exit 130' INT TERM
}

# confirm QUESTION: goes on only with a yes, or with --yes.
confirm() {
    [[ $YES == no ]] || return 0
    [[ -t 0 ]] || unable "there is no terminal to ask at; give --yes"
    local answer
    read -r -p "    $1 [y/N] " answer
    [[ $answer == y || $answer == yes ]] || unable "it was declined"
}

# approve DECISION: a second person says yes; who that was is part of the report.
approve() {
    if [[ $YES == no ]]; then
        read -r -p "    $1. Approved by (not $REQUESTER): " APPROVER
        [[ -n $APPROVER && $APPROVER != "$REQUESTER" ]] || unable "nobody else approved: $1"
    fi
    mark approved "$1, by $APPROVER"
}

# drill_end: measures, checks, writes the report; ends with its verdict.
drill_end() {
    trap - EXIT
    local verdict=0
    evidence_collect || verdict=1
    target_down || warn "something of the target is left over"
    evidence_report || verdict=1
    [[ $KEEP == yes ]] || rm -rf "$DRILL_DIR"
    exit "$verdict"
}

# drill_broken_off: a step failed. What was seen until then is reported, and the drill has failed.
drill_broken_off() {
    local status=$?
    set +e
    trap - EXIT
    mark broken_off "step $STEP failed with $status"
    warn "broken off in step $STEP; logs: $EVIDENCE/logs"
    # What can still be read says more than that a step failed.
    load_stop >/dev/null 2>&1
    target_collect >/dev/null 2>&1
    target_verify >/dev/null 2>&1
    target_logs
    target_down >/dev/null 2>&1
    evidence_report
    [[ $KEEP == yes ]] || rm -rf "$DRILL_DIR"
    exit 1
}
