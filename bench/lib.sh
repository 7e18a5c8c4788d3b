# shellcheck shell=bash
# What the benches share: the references against which the store is measured. Source it after scripts/lib.sh:
#
#   set -euo pipefail
#   source "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"
#   source bench/lib.sh
#
#   trap postgres_stop EXIT
#   postgres_start
#   pgbench_prepare
#   result=$(pgbench_median 3 64 15)    # three runs, 64 clients, 15 seconds each: payments a second, latency in ms
#
# BENCH_CACHE names the directory for installed Python packages; default: reconciled-bench in the user's
# cache directory.

source scripts/postgres.sh

BENCH_CACHE=${BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/reconciled-bench}

# What postgres_start sets: where the server's files are, its port, and a URL for its database NAME with
# "$PG_URL/NAME". Role and database are both called bench.
PG_DIR='' PG_PORT='' PG_URL=''

# free_port: a TCP port of this machine that nobody listens on.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# postgres_start: a new server with an empty database in a temporary directory. Only what is named here differs from
# the defaults; fsync and synchronous_commit are named although they are the defaults, because everything depends on
# them. BENCH_DATA names the directory in which it is made: choose a disk that is one, not memory.
postgres_start() {
    [[ -z "$PG_DIR" ]] || die "a server is already running in $PG_DIR"
    local bin
    bin=$(pg_bin)
    PG_DIR=$(mktemp -d "${BENCH_DATA:-${TMPDIR:-/tmp}}/reconciled-bench.XXXXXX")
    if ((EUID == 0)); then chown postgres: "$PG_DIR"; fi
    [[ $(stat -f -c %T "$PG_DIR") != tmpfs ]] || warn "$PG_DIR is memory: flushes cost nothing there"
    PG_PORT=$(free_port)
    PG_URL="postgresql://bench@127.0.0.1:$PG_PORT"
    as_server "$bin/initdb" --pgdata "$PG_DIR/data" --username bench --auth trust --encoding UTF8 --locale C \
        >"$PG_DIR/initdb.log" 2>&1 || die "initdb failed: $(tail -n 3 "$PG_DIR/initdb.log")"
    as_server tee -a "$PG_DIR/data/postgresql.conf" >/dev/null <<SETTINGS
listen_addresses = '127.0.0.1'
port = $PG_PORT
unix_socket_directories = '$PG_DIR'
fsync = on
synchronous_commit = on
shared_buffers = 512MB
max_connections = 300
max_wal_size = 4GB
SETTINGS
    as_server "$bin/pg_ctl" --pgdata "$PG_DIR/data" --log "$PG_DIR/server.log" --wait start >/dev/null ||
        die "PostgreSQL did not start: $(tail -n 3 "$PG_DIR/server.log")"
    pg_sql postgres --command 'CREATE DATABASE bench'
}

# postgres_stop: ends the server and removes what it left. May be called when none runs.
postgres_stop() {
    [[ -n "$PG_DIR" ]] || return 0
    as_server "$(pg_bin)/pg_ctl" --pgdata "$PG_DIR/data" --mode immediate --wait stop >/dev/null 2>&1 || true
    rm -rf "$PG_DIR"
    PG_DIR='' PG_PORT='' PG_URL=''
}

# pg_sql DATABASE OPTION...: psql that stops at the first error.
pg_sql() {
    local database=$1
    shift
    psql "$PG_URL/$database" --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$@"
}

# pgbench_prepare: the reference's tables, empty.
pgbench_prepare() { pg_sql bench --file bench/pgbench/schema.sql; }

# pgbench_payments CLIENTS SECONDS [OPTION...]: the reference once; prints payments a second and the mean latency of a
# payment in ms, as "1234.5 51.8". One transaction of pgbench is one run of the script: three commits, one payment.
# BENCH_PROTOCOL is pgbench's: prepared (default, the fastest), extended, simple.
pgbench_payments() {
    local clients=$1 seconds=$2 threads=2 log rate latency
    shift 2
    if ((clients < threads)); then threads=$clients; fi
    log=$(mktemp "$PG_DIR/pgbench.XXXXXX")
    "$(pg_bin)/pgbench" --no-vacuum --client "$clients" --jobs "$threads" --time "$seconds" \
        --protocol "${BENCH_PROTOCOL:-prepared}" --random-seed rand \
        --define pipeline=0 --define keep_answer=0 "$@" \
        --file bench/pgbench/payment.sql "$PG_URL/bench" >"$log" 2>&1 || die "pgbench failed: $(tail -n 5 "$log")"
    if grep -q 'number of failed transactions: [1-9]' "$log"; then die "pgbench had failures: $(cat "$log")"; fi
    rate=$(sed -nE 's/^tps = ([0-9.]+).*/\1/p' "$log")
    latency=$(sed -nE 's/^latency average = ([0-9.]+) ms/\1/p' "$log")
    [[ -n "$rate" && -n "$latency" ]] || die "pgbench said nothing that we understand: $(cat "$log")"
    echo "$rate $latency"
}

# pgbench_latency CLIENTS SECONDS RATE: the reference at so many payments a second; prints p50 and p99 in ms of the
# three commits together, without what a payment waited for its turn.
pgbench_latency() {
    local log
    log=$(mktemp -d "$PG_DIR/pgbench.XXXXXX")
    "$(pg_bin)/pgbench" --no-vacuum --client "$1" --jobs 2 --time "$2" --protocol "${BENCH_PROTOCOL:-prepared}" \
        --random-seed rand --define pipeline=0 --define keep_answer=0 --rate "$3" --log --log-prefix "$log/at" \
        --file bench/pgbench/payment.sql "$PG_URL/bench" >"$log/output" 2>&1 || die "pgbench failed: $(cat "$log/output")"
    # client, number, time, script, second, microsecond, lag; times in microseconds, the lag is part of the time.
    cat "$log"/at.* | awk '{ print ($3 - $7) / 1000 }' | sort -g | awk '{ at[NR] = $1 } END {
        if (NR < 100) exit 1
        printf "%.2f %.2f\n", at[int(NR * 0.5)], at[int(NR * 0.99)]
    }'
}

# median: the median of the numbers on standard input, one in a line.
median() {
    sort -g | awk '{ at[NR] = $1 } END {
        if (NR == 0) exit 1
        print NR % 2 ? at[(NR + 1) / 2] : (at[NR / 2] + at[NR / 2 + 1]) / 2
    }'
}

# pgbench_median RUNS CLIENTS SECONDS [OPTION...]: as pgbench_payments, the medians of several runs. Each run starts
# with empty tables and after a checkpoint. The single runs are told on standard error.
pgbench_median() {
    local runs=$1 run result results=''
    shift
    for ((run = 1; run <= runs; run++)); do
        pgbench_prepare
        pg_sql bench --command CHECKPOINT
        result=$(pgbench_payments "$@") || return 1
        note "pgbench, $1 clients, run $run of $runs: ${result% *} payments a second, ${result#* } ms" >&2
        results+="$result"$'\n'
    done
    echo "$(printf '%s' "$results" | cut -d ' ' -f 1 | median) $(printf '%s' "$results" | cut -d ' ' -f 2 | median)"
}

# dbos_install: the packages of the DBOS reference, in an environment of their own in the cache; prints its Python.
dbos_install() {
    local wanted=bench/dbos/requirements.txt environment=$BENCH_CACHE/dbos
    if ! cmp -s "$wanted" "$environment/installed.txt"; then
        mkdir -p "$BENCH_CACHE"
        rm -rf "$environment"
        python3 -m venv "$environment" >&2 || die "no environment for Python; on Debian: apt-get install python3-venv"
        "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted" >&2 ||
            die "DBOS cannot be installed"
        cp "$wanted" "$environment/installed.txt"
    fi
    echo "$environment/bin/python"
}

# dbos_payments PROVIDER_URL CLIENTS SECONDS [OPTION...]: the DBOS reference once, on a database that it makes anew;
# prints its line of JSON.
dbos_payments() {
    local provider=$1 clients=$2 seconds=$3 python
    shift 3
    python=$(dbos_install) || return 1
    pg_sql postgres --command 'SET client_min_messages = warning' --command 'DROP DATABASE IF EXISTS dbos WITH (FORCE)'
    pg_sql postgres --command CHECKPOINT
    "$python" bench/dbos/payment.py --database "$PG_URL/dbos" --provider "$provider" --clients "$clients" \
        --seconds "$seconds" "$@"
}

# json_number NAME: the number of that name in the line of JSON on standard input.
json_number() { sed -nE 's/.*"'"$1"'": *(-?[0-9.]+).*/\1/p'; }

# dbos_median RUNS PROVIDER_URL CLIENTS SECONDS [OPTION...]: the median of payments a second of several runs.
dbos_median() {
    local runs=$1 run result results=''
    shift
    for ((run = 1; run <= runs; run++)); do
        result=$(dbos_payments "$@") || return 1
        note "DBOS, $2 clients, run $run of $runs: $result" >&2
        results+="$(json_number per_second <<<"$result")"$'\n'
    done
    printf '%s' "$results" | median
}
