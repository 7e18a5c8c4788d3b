# shellcheck shell=bash
# PostgreSQL servers of the local target: members named by site and number (a1, a2, b1). The first of MEMBERS is the
# primary at the beginning; every other follows it, but for w1, the witness. As root, they run as the user postgres.

PG_BIN='' DATABASE=payments
declare -A PG_PORT=()

postgres_check() {
    PG_BIN=$(pg_bin 2>/dev/null) || unable "PostgreSQL's programs were not found; on Debian: apt-get install postgresql"
    local program
    for program in initdb pg_basebackup postgres pg_rewind; do
        [[ -x $PG_BIN/$program ]] || unable "PostgreSQL's $program was not found; on Debian: apt-get install postgresql"
    done
    if ((EUID == 0)); then
        id postgres >/dev/null 2>&1 || unable "PostgreSQL refuses to run as root, and there is no user postgres"
    fi
}

site_of() { if [[ $1 == w* ]]; then echo witness; else echo "${1:0:1}"; fi; }
data_of() { echo "$DRILL_DIR/db/$1"; }
port_of() { echo "$((5431 + ${1:1}))"; }

# server_in PLACE COMMAND...: the same, in a place.
server_in() {
    local place=$1
    shift
    if ((EUID == 0)); then
        (cd / && in_place "$place" setpriv --reuid postgres --regid postgres --init-groups -- "$@")
    else
        in_place "$place" "$@"
    fi
}

# sql MEMBER STATEMENT: rows with | between the columns.
sql() {
    local site
    site=$(site_of "$1")
    in_place "$site" env PGCONNECT_TIMEOUT=2 psql -XqAt -v ON_ERROR_STOP=1 -h "$(address "$site")" \
        -p "$(port_of "$1")" -U postgres -d "${3:-$DATABASE}" -c "$2"
}

# conninfo MEMBER NAME: how NAME reaches the member to follow it.
conninfo() {
    echo "host=$(address "$(site_of "$1")") port=$(port_of "$1") user=postgres application_name=$2 connect_timeout=2"
}

# member_create MEMBER: the first is made empty, the others are copies of it that follow it.
member_create() {
    if [[ $1 == "${MEMBERS%% *}" || $1 == w* ]]; then primary_create "$1"; else standby_create "$1" "${MEMBERS%% *}"; fi
}

primary_create() {
    local data
    data=$(data_of "$1")
    as_owner_directory "$DRILL_DIR/db"
    # Checksums, because pg_rewind wants them or wal_log_hints.
    as_server "$PG_BIN/initdb" --no-sync --data-checksums --pgdata "$data" --username postgres --auth trust \
        --encoding UTF8 --locale C >"$DRILL_DIR/initdb.log" 2>&1
    echo 'host all,replication all 0.0.0.0/0 trust' | as_server tee -a "$data/pg_hba.conf" >/dev/null
    as_server tee -a "$data/postgresql.conf" >/dev/null <<SETTINGS
unix_socket_directories = ''
dynamic_shared_memory_type = mmap
fsync = on
synchronous_commit = on
shared_buffers = 128MB
max_connections = 200
max_wal_senders = 10
wal_keep_size = 1GB
wal_sender_timeout = 5s
wal_receiver_timeout = 5s
wal_retrieve_retry_interval = 200ms
${PRIMARY_SETTINGS:-}
SETTINGS
    member_start "$1"
    database_create "$1"
    # A right on a function of the system holds in the database in which it was granted.
    sql "$1" "GRANT EXECUTE ON FUNCTION pg_promote TO reconciled"
}

# database_create MEMBER: the role of the daemons, and their database.
database_create() {
    sql "$1" "CREATE ROLE reconciled LOGIN" postgres
    sql "$1" "GRANT pg_monitor, pg_checkpoint TO reconciled" postgres
    sql "$1" "CREATE DATABASE $DATABASE OWNER reconciled" postgres
}

as_owner_directory() {
    mkdir -p "$1"
    if ((EUID == 0)); then chown postgres: "$1"; fi
}

# standby_create MEMBER PRIMARY: a copy that follows.
standby_create() {
    server_in "$(site_of "$1")" "$PG_BIN/pg_basebackup" --no-sync --checkpoint=fast --wal-method=stream \
        -d "$(conninfo "$2" "copy_of_$1")" -D "$(data_of "$1")"
    follow "$1" "$2"
    member_start "$1"
}

# follow MEMBER PRIMARY: writes down that it is a standby, and of whom.
follow() {
    as_server touch "$(data_of "$1")/standby.signal"
    as_server tee "$(data_of "$1")/postgresql.auto.conf" >/dev/null <<SETTINGS
primary_conninfo = '$(conninfo "$2" "$1")'
synchronous_standby_names = ''
SETTINGS
}

member_start() {
    local site
    site=$(site_of "$1")
    local run=("$PG_BIN/postgres" -D "$(data_of "$1")" -c "listen_addresses=$(address "$site")" -p "$(port_of "$1")")
    if ((EUID == 0)); then run=(setpriv --reuid postgres --regid postgres --init-groups -- "${run[@]}"); fi
    spawn "db-$1" "$site" "${run[@]}"
    await 60 "the database $1 answers" sql "$1" "SELECT 1" postgres
}

# members_follow: every standby streams; with synchronous replication commits then wait for it.
members_follow() {
    local primary=${MEMBERS%% *} standbys='' member
    for member in $MEMBERS; do
        [[ $member == "$primary" || $member == w* ]] || standbys+=" $member"
    done
    for member in $standbys; do await 30 "$member follows" follows "$member" "$primary"; done
    if [[ -n ${standbys// /} && $REPLICATION == synchronous ]]; then
        # shellcheck disable=SC2086
        wait_for_standbys "$primary" $standbys
    fi
}

follows() {
    local question="SELECT count(*) FROM pg_stat_replication WHERE application_name = '$1' AND state = 'streaming'"
    [[ $(sql "$2" "$question" postgres) == 1 ]]
}

# wait_for_standbys PRIMARY STANDBY...: from here on a commit counts when one of them has it on disk; without a standby
# commits wait for nobody.
wait_for_standbys() {
    local primary=$1 names
    shift
    names=$(printf '%s\n' "$@" | paste -sd , -)
    sql "$primary" "ALTER SYSTEM SET synchronous_standby_names = '${names:+ANY 1 ($names)}'" postgres
    sql "$primary" "SELECT pg_reload_conf()" postgres >/dev/null
    (($# > 0)) || return 0
    await 20 "a standby is synchronous" synchronous "$primary"
}

synchronous() {
    [[ $(sql "$1" "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')") != 0 ]]
}

# member_kill MEMBER: all its processes at one moment, with the shared memory that a loss of power would take.
member_kill() {
    local lock segment
    lock=$(data_of "$1")/postmaster.pid
    segment=$(awk 'NR == 7 { print $2 }' "$lock" 2>/dev/null || true)
    kill_hard "db-$1"
    [[ -z $segment ]] || ipcrm -m "$segment" 2>/dev/null || true
    rm -f "$lock"
}

# member_stop MEMBER: as an administrator would; the standby gets everything that was acknowledged.
member_stop() { kill_soft "db-$1" INT; }

# member_promote MEMBER
member_promote() {
    sql "$1" "SELECT pg_promote(wait => true, wait_seconds => 30)" postgres >/dev/null
    await 30 "$1 takes writes" takes_writes "$1"
}

takes_writes() { [[ $(sql "$1" "SELECT pg_is_in_recovery()" postgres) == f ]]; }

# member_rejoin MEMBER PRIMARY: a former primary is rewound to where both agree, and follows. Without the checkpoint
# pg_rewind of PostgreSQL 15 reads the old timeline of the new primary, finds nothing to do, and leaves what differs.
member_rejoin() {
    sql "$2" CHECKPOINT postgres
    server_in "$(site_of "$1")" "$PG_BIN/pg_rewind" --target-pgdata "$(data_of "$1")" \
        --source-server "$(conninfo "$2" "rewind_of_$1") dbname=postgres" >>"$DRILL_DIR/logs/pg_rewind.log" 2>&1
    follow "$1" "$2"
    member_start "$1"
    await 30 "$1 follows $2" follows "$1" "$2"
}

# break_link STANDBY, mend_link STANDBY PRIMARY: the standby does not hear from its primary any more.
break_link() {
    sql "$1" "ALTER SYSTEM SET primary_conninfo = ''" postgres
    sql "$1" "SELECT pg_reload_conf()" postgres >/dev/null
    await 10 "$1 hears nothing any more" hears_nothing "$1"
}
hears_nothing() { [[ $(sql "$1" "SELECT count(*) FROM pg_stat_wal_receiver" postgres) == 0 ]]; }
