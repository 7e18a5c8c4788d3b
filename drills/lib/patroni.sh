# shellcheck shell=bash
# Patroni over the members of a site, and etcd, in which it keeps who leads. Source it after the target `local`: it
# replaces how members are made, killed and started there. It runs with the settings of docs/postgresql-patroni.md.

CLUSTER=payments PATRONI='' PATRONICTL=''

patroni_check() {
    local get="on Debian: apt-get install --no-install-recommends patroni etcd-server"
    PATRONI=$(command -v patroni) || unable "patroni is missing; $get"
    PATRONICTL=$(command -v patronictl) || unable "patronictl is missing; $get"
    command -v etcd >/dev/null || unable "etcd is missing; $get"
}

# The third place has one etcd: what is lost here is the database. A site's own has three, as the page says.
etcd_url() { echo "http://$(address witness):2379"; }

etcd_start() {
    local url peers
    url=$(etcd_url) peers=http://$(address witness):2380
    spawn etcd witness etcd --name etcd1 --data-dir "$DRILL_DIR/etcd" --logger zap --log-outputs stderr \
        --listen-client-urls "$url" --advertise-client-urls "$url" --listen-peer-urls "$peers" \
        --initial-advertise-peer-urls "$peers" --initial-cluster "etcd1=$peers"
    await 30 "etcd answers" etcd_answers
}

etcd_answers() { in_place edge curl -sf -o /dev/null --max-time 2 "$(etcd_url)/health"; }

rest_of() { echo "$(address "$(site_of "$1")"):$((8007 + ${1:1}))"; }
patroni_file() { echo "$DRILL_DIR/db/$1.yml"; }

patroni_configuration() {
    local host
    host=$(address "$(site_of "$1")")
    cat <<CONFIGURATION
scope: $CLUSTER
name: $1
etcd3: {hosts: "$(address witness):2379"}
restapi: {listen: "$(rest_of "$1")", connect_address: "$(rest_of "$1")"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    synchronous_mode: true
    synchronous_mode_strict: true
    failsafe_mode: true
    postgresql:
      use_pg_rewind: true
      pg_hba: ["host all,replication all 0.0.0.0/0 trust"]
      parameters:
        max_connections: 200
        wal_keep_size: 1GB
        wal_sender_timeout: 5s
        wal_receiver_timeout: 5s
        wal_retrieve_retry_interval: 500ms
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}, data-checksums]
postgresql:
  listen: "$host:$(port_of "$1")"
  connect_address: "$host:$(port_of "$1")"
  data_dir: $(data_of "$1")
  bin_dir: $PG_BIN
  pgpass: $DRILL_DIR/db/$1.pgpass
  authentication:
    superuser: {username: postgres, password: drill}
    replication: {username: replicator, password: drill}
  parameters: {unix_socket_directories: "", dynamic_shared_memory_type: mmap, shared_buffers: 128MB}
CONFIGURATION
}

# member_create MEMBER: the first one makes the cluster, the others are copied from it.
member_create() {
    if [[ $1 == "${MEMBERS%% *}" ]]; then etcd_start; fi
    as_owner_directory "$DRILL_DIR/db"
    patroni_configuration "$1" >"$(patroni_file "$1")"
    member_start "$1"
}

# member_start MEMBER: Patroni starts its server, rewinds it where that is needed, and lets it follow. It is the
# process that is named here; the server is a process of its own.
member_start() {
    local run=("$PATRONI" "$(patroni_file "$1")")
    if ((EUID == 0)); then run=(setpriv --reuid postgres --regid postgres --init-groups -- "${run[@]}"); fi
    spawn "db-$1" "$(site_of "$1")" "${run[@]}"
    await 180 "the database $1 answers" sql "$1" "SELECT 1" postgres
}

# server_pid MEMBER: the server's first process, if it is one, and is this member's.
server_pid() {
    local pid
    pid=$(head -n 1 "$(data_of "$1")/postmaster.pid" 2>/dev/null) || return 1
    [[ $(ps -o args= -p "$pid" 2>/dev/null) == *"$(data_of "$1") "* ]] || return 1
    echo "$pid"
}

# member_kill MEMBER: the server and its Patroni at one moment, with the shared memory that a loss of power would take.
member_kill() {
    local lock segment pids=() server
    lock=$(data_of "$1")/postmaster.pid
    segment=$(awk 'NR == 7 { print $2 }' "$lock" 2>/dev/null || true)
    if is_running "db-$1"; then pids+=("$(pid_of "db-$1")"); fi
    if server=$(server_pid "$1"); then pids+=("$server"); fi
    ((${#pids[@]} > 0)) || return 0
    # One look for all their children: the time between two looks would be time in which the leader still leads.
    mapfile -t -O "${#pids[@]}" pids < <(pgrep -P "$(paste -sd , - < <(printf '%s\n' "${pids[@]}"))" || true)
    kill -KILL "${pids[@]}" 2>/dev/null || true
    await 10 "db-$1 has ended" has_ended "db-$1"
    [[ -z $segment ]] || ipcrm -m "$segment" 2>/dev/null || true
    rm -f "$lock"
}

# members_follow: every standby streams, and commits wait for one of them. Before that nothing can be written.
members_follow() {
    await 180 "all members of the cluster follow" cluster_is_whole
    database_create "$(leading_member)"
}

cluster_is_whole() {
    local leader member
    leader=$(leading_member) || return 1
    for member in $MEMBERS; do
        [[ $member == "$leader" ]] || follows "$member" "$leader" || return 1
    done
    [[ $(sql "$leader" "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'" postgres) == 1 ]]
}

# leading_member: the one that takes writes.
leading_member() {
    local member
    for member in $MEMBERS; do
        if takes_writes "$member" 2>/dev/null; then
            echo "$member"
            return 0
        fi
    done
    return 1
}

# lock_is_gone MEMBER: what etcd has, as another member reads it, does not name it as the leader any more.
lock_is_gone() {
    local member cluster
    for member in $MEMBERS; do
        [[ $member != "$1" ]] || continue
        cluster=$(in_place edge curl -sf --max-time 2 "http://$(rest_of "$member")/cluster") || continue
        jq -e --arg name "$1" '.members | any(.name == $name and .role == "leader") | not' <<<"$cluster" && return 0
    done
    return 1
}

# leads_instead_of MEMBER: another one takes writes.
leads_instead_of() {
    local leader
    leader=$(leading_member) && [[ $leader != "$1" ]]
}

patronictl_at() {
    local member=$1
    shift
    in_place "$(site_of "$member")" "$PATRONICTL" -c "$(patroni_file "$member")" "$@"
}
