# shellcheck shell=bash
# Both sides compared, against the provider's listing read alone. Source it after bench/daemon.sh, with a server and a
# simulator running.

# comparison_window HOURS: the beginning and the end of an hour that began so many hours ago, and its beginning in ms.
comparison_window() {
    local from=$(($(date +%s) - $1 * 3600))
    printf '%s %s %s000\n' "$(date -u -d "@$from" +%Y-%m-%dT%H:%M:%SZ)" \
        "$(date -u -d "@$((from + 3600))" +%Y-%m-%dT%H:%M:%SZ)" "$from"
}

# comparison_fill COUNT FROM_MS: so many transactions at the provider, and books that agree with them.
comparison_fill() {
    local receipt
    receipt=$(curl -sSf --max-time 600 -X POST "http://127.0.0.1:$SIMULATOR_PORT/_control/card/bulk" \
        -d "{\"count\": $1, \"prefix\": \"c$1\", \"from_ms\": $2, \"over_ms\": 3590000}")
    .build/release/BulkBooksWriter --postgres "$PG_URL/bench" \
        --order "$(python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["order"]))' <<<"$receipt")"
    pg_sql bench --command 'VACUUM ANALYZE' --command CHECKPOINT
}

# comparison_run FROM TO: a daemon of its own compares the window; prints transactions a second, how many they were,
# and resident memory at first and at most in MiB.
comparison_run() {
    local first end
    daemon_stop
    daemon_start
    first=$(awk '/VmRSS/ { print $2 }' "/proc/$DAEMON_PID/status")
    end=$(.build/release/reconciled reconcile --config "$BENCH_DIR/$BENCH_DATABASE.yaml" --provider card \
        --from "$1" --to "$2" --again --wait 30m --output json | grep '"completed"' | tail -n 1) ||
        die "the comparison did not end well: $(tail -n 3 "$BENCH_DIR/$BENCH_DATABASE.log")"
    python3 - "$first" "$(awk '/VmHWM/ { print $2 }' "/proc/$DAEMON_PID/status")" "$end" <<'PYTHON'
import datetime, json, sys
first, most, run = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
moment = lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
seconds = (moment(run["finished_at"]) - moment(run["started_at"])).total_seconds()
if not run["proven"] or run["counts"]["by_class"].keys() - {"matched"}:
    sys.exit(f"both sides should agree: {run['counts']}")
listed = run["counts"]["listed"]
print(f"{listed / seconds:.0f} {listed} {first / 1024:.0f} {most / 1024:.0f}")
PYTHON
}
