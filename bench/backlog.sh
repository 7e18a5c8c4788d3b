# shellcheck shell=bash
# A backlog of payments in doubt, made by real requests whose answers were lost, and how fast it is settled. Source it
# after bench/daemon.sh, with a server and a simulator running.

# in_doubt: how many payments are not final, as the schema's triggers count them.
in_doubt() {
    pg_sql bench --tuples-only --no-align --command \
        "SELECT coalesce(sum(count), 0) FROM reconciled.state_counts WHERE state = 'processing'"
}

control() { curl -sSf -o /dev/null -X "$1" "http://127.0.0.1:$SIMULATOR_PORT/_control/points/$2" -d "$3"; }

# never_sent: how many of these never left, because the daemon had stopped calling. That is no doubt.
never_sent() {
    pg_sql bench --tuples-only --no-align --command "
        SELECT count(*) FROM reconciled.payments
        WHERE state = 'processing' AND document::jsonb #>> '{legs,0,primary,unsent}' = '1'"
}

# backlog_make COUNT: one-phase payments that were executed, and of which nothing is known. Of ten answers four are
# lost: with more of them the daemon stops calling sooner or later. Ends with the daemon killed.
backlog_make() {
    local wanted=$1 log=$BENCH_DIR/backlog.log
    control PUT rates '[{"fault": "response_lost", "rate": 0.4, "operations": ["sale"]}]'
    daemon_stop
    # Nothing is asked before the backlog is complete.
    RECONCILED_RECONCILE_INQUIRY_SCHEDULE=2h daemon_start
    while (($(in_doubt) < wanted)); do
        BENCH_TOKEN=$BENCH_TOKEN BENCH_PREFIX="b${RANDOM}x${RANDOM}" BENCH_PROVIDER=points BENCH_WAIT=0 \
            wrk --threads 1 --connections 64 --duration 10s --timeout 30s --script bench/payment.lua \
            "http://127.0.0.1:$DAEMON_PORT" >"$log" 2>&1 || die "wrk failed: $(tail -n 3 "$log")"
    done
    kill -9 "$DAEMON_PID"
    wait "$DAEMON_PID" 2>/dev/null || true
    DAEMON_PID=''
    control PUT rates '[]'
    (($(never_sent) * 100 < wanted)) || die "of $(in_doubt) payments $(never_sent) were never sent: no backlog in doubt"
    # As if their time had come: the rows say when each is looked at next.
    pg_sql bench --command 'SET search_path TO reconciled' --command "SET reconciled.place = '100000'" --command "
        UPDATE payments SET due_at = 1, lease_holder = NULL, lease_until = NULL,
            document = ((document::jsonb #- '{legs,0,notBefore}') || '{\"dueAt\": 1}')::text
        WHERE state = 'processing'" --command 'VACUUM ANALYZE' --command CHECKPOINT
}

# backlog_settle: prints payments settled a second, how many they were, resident memory at first and at most in MiB.
backlog_settle() {
    local before start seconds
    before=$(in_doubt)
    daemon_start
    start=$(now_ms)
    local first
    first=$(awk '/VmRSS/ { print $2 }' "/proc/$DAEMON_PID/status")
    until (($(in_doubt) == 0)); do
        (($(now_ms) - start < 900000)) || die "the backlog is not settled after 15 minutes: $(in_doubt) are left"
        sleep 0.2
    done
    seconds=$(($(now_ms) - start))
    awk -v n="$before" -v ms="$seconds" -v first="$first" \
        -v most="$(awk '/VmHWM/ { print $2 }' "/proc/$DAEMON_PID/status")" \
        'BEGIN { printf "%.0f %d %.0f %.0f\n", n * 1000 / ms, n, first / 1024, most / 1024 }'
}

# inquiries SECONDS: status inquiries a second by wrk, with 64 connections, about the backlog's own transactions.
inquiries() {
    local log=$BENCH_DIR/inquiries.log
    pg_sql bench --tuples-only --no-align --command \
        "SELECT key FROM reconciled.effects WHERE provider = 'points' AND status = 'tried' LIMIT 50000" \
        >"$BENCH_DIR/keys"
    BENCH_KEYS=$BENCH_DIR/keys wrk --threads 1 --connections 64 --duration "$1s" --script bench/inquiry.lua \
        "http://127.0.0.1:$SIMULATOR_PORT" >"$log" 2>&1 || die "wrk failed: $(tail -n 3 "$log")"
    awk '$1 == "errors" && $2 > 0 { exit 1 } $1 == "rate" { print $2 }' "$log" || die "inquiries: $(cat "$log")"
}

# settling_commits COUNT SECONDS: the commits of such settlements a second, one by one, by pgbench with 64 clients.
settling_commits() {
    local log=$BENCH_DIR/settling.log
    pgbench_prepare
    pg_sql bench --variable rows="$1" --file bench/pgbench/pending.sql --command 'VACUUM ANALYZE' --command CHECKPOINT
    "$(pg_bin)/pgbench" --no-vacuum --client 64 --jobs 2 --time "$2" --protocol prepared --random-seed rand \
        --define rows="$1" --file bench/pgbench/settle.sql "$PG_URL/bench" >"$log" 2>&1 ||
        die "pgbench failed: $(tail -n 5 "$log")"
    sed -nE 's/^tps = ([0-9.]+).*/\1/p' "$log"
}
