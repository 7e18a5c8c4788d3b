# shellcheck shell=bash
# The target "local": two sites on one machine, of real parts. Each site has PostgreSQL servers and two daemons; beside
# them are the provider simulator, haproxy in place of the global load balancer, and the callers. Places are addresses
# of the loopback network, or network namespaces of their own (--network namespaces, as root), which can be cut apart.
#
# A target defines what drills call; drills/README.md lists it. What a drill needs is said by the variables below,
# before drill_begin.

# What the drill needs; see drills/README.md.
SITES=${SITES:-a} MEMBERS=${MEMBERS:-a1} REPLICATION=${REPLICATION:-synchronous} PROOF=${PROOF:-none}
NEEDS_PARTITION=${NEEDS_PARTITION:-no}
PROVIDERS=card,points
CALLER_TOKEN=caller-of-a-drill OPERATOR_TOKEN=operator-of-a-drill APPROVER_TOKEN=approver-of-a-drill

source drills/lib/processes.sh
source drills/lib/network.sh
source scripts/postgres.sh
source drills/lib/postgres.sh
source drills/lib/daemons.sh
source drills/lib/sites.sh
source drills/lib/haproxy.sh
source drills/lib/load.sh
source drills/lib/people.sh

target_check() {
    local program
    [[ -n $PROGRAMS ]] || PROGRAMS=.build/release
    [[ -d $PROGRAMS ]] || unable "--programs: there is no directory $PROGRAMS"
    PROGRAMS=$(cd "$PROGRAMS" && pwd)
    for program in reconciled provider-simulator; do
        [[ -x $PROGRAMS/$program ]] || unable "$PROGRAMS/$program is not there: make drill builds it"
    done
    for program in haproxy curl jq python3 psql setsid setpriv; do
        command -v "$program" >/dev/null || unable "$program is missing; on Debian: scripts/install-packages --drills"
    done
    network_check
    postgres_check
}

# target_up: everything that the drill named, with payments going through it.
target_up() {
    local member site
    network_up
    step "Start the providers" providers_start
    for member in $MEMBERS; do step "Start the database $member" member_create "$member"; done
    step "Wait until the standbys follow" members_follow
    for site in $SITES; do site_configure "$site"; done
    step "Make the tables" migrate "${SITES%% *}"
    for site in $SITES; do
        # A warm site has its database and no daemons.
        [[ " ${WARM_SITES:-} " == *" $site "* ]] || step "Start both daemons of site $site" site_start "$site"
    done
    step "Start the traffic switch" haproxy_start
    step "Start the callers: $RATE payments a second" load_start
}

target_down() {
    processes_stop
    network_down
}

# target_rest: waits until no payment is in doubt; the books of the active site tell.
target_rest() { await 120 "nothing is in doubt" nothing_in_doubt; }

nothing_in_doubt() {
    local site state
    site=$(active_site) || return 1
    for state in processing canceling; do
        [[ $(operator_get "$site" "/v1/payments?limit=1&state=$state" | jq '.data | length') == 0 ]] || return 1
    done
}

# active_site: the site of which a daemon says that it is active.
active_site() {
    local site number
    for site in $SITES; do
        for number in 1 2; do
            if probe "$site" "$number" activez; then
                echo "$site"
                return 0
            fi
        done
    done
    return 1
}

# target_collect: what both sides say, as files of the report.
target_collect() {
    local site
    site=$(active_site) || site=${SITES##* }
    in_place edge python3 -B drills/report/collect.py --admin "$(admin_url "$site" "$(living "$site")")" \
        --token "$OPERATOR_TOKEN" --simulator "$SIMULATOR_URL" --providers "$PROVIDERS" --into "$EVIDENCE"
}

# target_verify: the daemon's own check of trails and seals, on the books of the active site.
target_verify() {
    local site status=0
    site=$(active_site) || site=${SITES##* }
    reconciled_at "$site" payments verify >"$EVIDENCE/verify.txt" 2>&1 || status=$?
    echo "$status" >"$EVIDENCE/verify.status"
}

target_logs() { cp "$DRILL_DIR"/logs/* "$EVIDENCE/logs/" 2>/dev/null || true; }

target_digests() {
    local site
    {
        for site in $SITES; do
            [[ ! -r $DRILL_DIR/$site.yaml ]] || digest "configuration of site $site" "$DRILL_DIR/$site.yaml"
        done
        digest "reconciled ($("$PROGRAMS/reconciled" version 2>/dev/null || echo '?'))" "$PROGRAMS/reconciled"
        [[ -z $PREVIOUS ]] || digest "reconciled before" "$PREVIOUS/reconciled"
        digest "provider-simulator" "$PROGRAMS/provider-simulator"
        jq -nc --arg v "$("$PG_BIN/postgres" --version)" '{part: "database", version: $v}'
        [[ -z ${PATRONI:-} ]] || jq -nc --arg v "$("$PATRONI" --version)" '{part: "its manager", version: $v}'
        jq -nc --arg v "$(haproxy -v | head -n 1 | cut -d ' ' -f 1-3)" '{part: "traffic switch", version: $v}'
        jq -nc --arg v "$(git rev-parse HEAD 2>/dev/null || echo unknown)" '{part: "sources", version: $v}'
    } | jq -sc .
}

digest() {
    jq -nc --arg part "$1" --arg digest "$(sha256sum "$2" | cut -d ' ' -f 1)" '{part: $part, sha256: $digest}'
}
