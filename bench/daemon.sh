# shellcheck shell=bash
# The daemon and the provider simulator as a bench runs them. Source it after bench/lib.sh, with a server running.

DAEMON_PID='' SIMULATOR_PID='' DAEMON_PORT='' ADMIN_PORT='' SIMULATOR_PORT='' BENCH_DIR=''
# The daemon's database, after which its configuration in $BENCH_DIR is named.
BENCH_DATABASE=bench
# The caller's token, and the digest by which the configuration knows it.
BENCH_TOKEN=bench-only

# await_ready URL PID: waits until a probe answers 200; prints the milliseconds that it took.
await_ready() {
    local start
    start=$(now_ms)
    until curl -sf -o /dev/null --max-time 1 "$1"; do
        kill -0 "$2" 2>/dev/null || die "it ended before it was ready: $(tail -n 3 "$BENCH_DIR"/*.log)"
        (($(now_ms) - start < 30000)) || die "it is not ready after 30 s"
        sleep 0.01
    done
    echo $(($(now_ms) - start))
}

# simulator_start: providers called card and points, without faults, their ledger in memory.
simulator_start() {
    BENCH_DIR=$(mktemp -d "${TMPDIR:-/tmp}/reconciled-bench.XXXXXX")
    SIMULATOR_PORT=$(free_port)
    # Without a token of its own it takes any.
    .build/release/provider-simulator serve --port "$SIMULATOR_PORT" \
        --providers card,points --seed 1 >"$BENCH_DIR/simulator.log" 2>&1 &
    SIMULATOR_PID=$!
    local start
    start=$(now_ms)
    until grep -q ready "$BENCH_DIR/simulator.log"; do
        (($(now_ms) - start < 10000)) || die "the simulator does not start: $(cat "$BENCH_DIR/simulator.log")"
        sleep 0.02
    done
}

# daemon_configure: migrates $BENCH_DATABASE, and writes the configuration for it.
daemon_configure() {
    DAEMON_PORT=$(free_port) ADMIN_PORT=$(free_port)
    cat >"$BENCH_DIR/$BENCH_DATABASE.yaml" <<CONFIGURATION
store: {url: "$PG_URL/$BENCH_DATABASE"}
http: {port: $DAEMON_PORT}
admin: {port: $ADMIN_PORT}
callers:
  - {name: bench, token_sha256: $(printf %s "$BENCH_TOKEN" | sha256sum | cut -d ' ' -f 1)}
providers:
  - name: card
    url: http://127.0.0.1:$SIMULATOR_PORT/card
    allow_plain_http: true
    contract: {requests_per_second: 100000, concurrency: 256}
  - name: points
    url: http://127.0.0.1:$SIMULATOR_PORT/points
    allow_plain_http: true
    breaker: {failure_percent: 100}
    contract: {base: reference_sale, requests_per_second: 100000, concurrency: 256}
# What is compared is asked for; the schedule has nothing to do.
reconcile: {comparison: {begin: "2099-01-01T00:00:00Z"}}
telemetry: {log_level: error}
CONFIGURATION
    export RECONCILED_PROVIDERS_CARD_TOKEN=bench-provider RECONCILED_PROVIDERS_POINTS_TOKEN=bench-provider
    .build/release/reconciled migrate --config "$BENCH_DIR/$BENCH_DATABASE.yaml" >/dev/null
}

# daemon_start: prints the milliseconds from start to ready. Its pid is in $BENCH_DIR/daemon.pid.
daemon_start() {
    local file=$BENCH_DIR/$BENCH_DATABASE
    .build/release/reconciled serve --config "$file.yaml" >"$file.log" 2>&1 &
    DAEMON_PID=$!
    echo "$DAEMON_PID" >"$BENCH_DIR/daemon.pid"
    await_ready "http://127.0.0.1:$ADMIN_PORT/readyz" "$DAEMON_PID" >"$BENCH_DIR/ready_ms"
}

daemon_stop() {
    [[ -n "$DAEMON_PID" ]] || return 0
    kill "$DAEMON_PID" 2>/dev/null || true
    wait "$DAEMON_PID" 2>/dev/null || true
    DAEMON_PID=''
}

bench_stop() {
    daemon_stop
    # Whatever else was begun: a part may have a daemon of its own.
    jobs -p | xargs --no-run-if-empty kill 2>/dev/null || true
    if [[ -n "$SIMULATOR_PID" ]]; then kill "$SIMULATOR_PID" 2>/dev/null || true; fi
    SIMULATOR_PID=''
    postgres_stop
    if [[ -n "$BENCH_DIR" ]]; then rm -rf "$BENCH_DIR"; fi
    BENCH_DIR=''
}

# daemon_payments CLIENTS SECONDS [PAUSE]: closed loop over HTTP, each client waits for its payment to have succeeded,
# and then about PAUSE ms; prints payments a second, p50 and p99 in ms.
daemon_payments() {
    local log=$BENCH_DIR/wrk.log
    BENCH_TOKEN=$BENCH_TOKEN BENCH_PREFIX="r${RANDOM}x${RANDOM}" BENCH_PAUSE=${3:-0} \
        wrk --threads 1 --connections "$1" --duration "$2s" --timeout 30s --script bench/payment.lua \
        "http://127.0.0.1:$DAEMON_PORT" >"$log" 2>&1 || die "wrk failed: $(tail -n 3 "$log")"
    awk '
        $1 == "state" && $2 != "succeeded" { bad = bad " " $2 ":" $3 }
        $1 == "state" { done += $3 }
        $1 == "seconds" { seconds = $2 }
        $1 == "p50_ms" { p50 = $2 }
        $1 == "p99_ms" { p99 = $2 }
        $1 == "errors" { errors = $2 }
        END {
            if (bad != "" || errors > 0 || done == 0) { print "not all succeeded:" bad, "errors:", errors + 0; exit 1 }
            printf "%.1f %.1f %.1f\n", done / seconds, p50, p99
        }' "$log" || die "$(awk '$1 == "state" || $1 == "errors"' "$log")"
}

# provider_requests CLIENTS SECONDS PAUSE: the provider alone, with the requests of payments; prints requests a second,
# p50 and p99 in ms of one.
provider_requests() {
    local log=$BENCH_DIR/provider.log
    BENCH_PREFIX="p${RANDOM}x${RANDOM}" BENCH_PAUSE=$3 wrk --threads 1 --connections "$1" --duration "$2s" \
        --script bench/provider.lua "http://127.0.0.1:$SIMULATOR_PORT" >"$log" 2>&1 ||
        die "wrk failed: $(tail -n 3 "$log")"
    awk '$1 == "errors" && $2 > 0 { print "errors:", $2; bad = 1 } $1 == "rate" { rate = $2 } $1 == "p50_ms" { p50 = $2 }
        $1 == "p99_ms" { p99 = $2 } END { if (bad) exit 1; printf "%.1f %.2f %.2f\n", rate, p50, p99 }' "$log" ||
        die "the provider alone: $(cat "$log")"
}
