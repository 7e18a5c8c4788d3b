# shellcheck shell=bash
# What a drill saw, and the report that is made of it. EVIDENCE is the directory of the report.

EVIDENCE='' DRILL_DIR=''

evidence_begin() {
    local stamp
    stamp=$(date -u +%Y%m%dT%H%M%SZ)
    EVIDENCE=$REPORTS/$DRILL_NAME-$stamp
    while [[ -e $EVIDENCE ]]; do
        sleep 1
        EVIDENCE=$REPORTS/$DRILL_NAME-$(date -u +%Y%m%dT%H%M%SZ)
    done
    mkdir -p "$EVIDENCE/logs"
    EVIDENCE=$(cd "$EVIDENCE" && pwd)
    DRILL_DIR=$(mktemp -d "${TMPDIR:-/tmp}/reconciled-drill.XXXXXX")
    chmod 755 "$DRILL_DIR"
    : >"$EVIDENCE/timeline.jsonl"
    : >"$EVIDENCE/steps.jsonl"
    mark begun "$DRILL_NAME"
}

# describe: what the report says about the drill itself.
describe() {
    local name objectives='{}'
    for name in "${!OBJECTIVE[@]}"; do
        objectives=$(jq -c --arg name "$name" --arg value "${OBJECTIVE[$name]}" '.[$name] = $value' <<<"$objectives")
    done
    jq -n --arg name "$DRILL_NAME" --arg target "$TARGET" --arg mode "$MODE" --argjson times "$TIMES" \
        --arg hypothesis "$HYPOTHESIS" --argjson objectives "$objectives" --arg requester "$REQUESTER" \
        --arg approver "$APPROVER" --argjson rate "$RATE" --argjson callers "$CALLERS" --arg short "$SHORT" \
        --arg allowed_loss "$ALLOWED_LOSS" --arg host "$(uname -srm), $(nproc) cores" \
        --argjson parts "$(target_digests)" \
        '{name: $name, target: $target, mode: $mode, times: $times, hypothesis: $hypothesis, objectives: $objectives,
          requester: $requester, approver: $approver, load: {rate: $rate, callers: $callers, short: ($short == "yes")},
          allowed_loss: ($allowed_loss == "yes"), host: $host, parts: $parts}' >"$EVIDENCE/drill.json"
}

# evidence_collect: ends the load, lets everything come to rest, and reads both sides.
evidence_collect() {
    step "End the load: callers finish what they have begun" load_stop
    step "Wait until nothing is in doubt" target_rest || true
    mark at_rest "no payment is processing or canceling, or the wait for it is over"
    step "Read both sides: books, ledgers, journals of the providers" target_collect
    step "Check the audit chain" target_verify
    target_logs
}

# evidence_report: writes report.md, report.json and timeline.svg; fails where the drill has failed.
evidence_report() {
    describe
    python3 -B drills/report "$EVIDENCE"
}
