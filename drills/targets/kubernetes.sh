# shellcheck shell=bash
# The target "kubernetes": sites that were deployed from deploy/k8s, each in a cluster of its own. Written against the
# manifests and kubectl's documentation, and not run: this project had no cluster. What it changes is pods, replicas and
# network policies; what it does to databases is left to a command of yours. Try each drill in a staging cluster first.
#
#   DRILL_CONTEXTS           site=context pairs: "a=staging-frankfurt b=staging-ireland" (required)
#   DRILL_ENTRY              URL of the global load balancer, where callers go (required)
#   DRILL_CALLER_TOKEN, DRILL_OPERATOR_TOKEN    tokens of a caller and of an operator of these sites (required)
#   DRILL_APPROVER_TOKEN     token of an operator with the role approver; drills in which people decide
#   DRILL_SIMULATOR          URL of the provider simulator that these sites use, for its control API (required: a drill
#                            never runs against real providers)
#   DRILL_DATABASE           a program for the databases, called as: PROGRAM kill|stop|start|promote|rejoin|follows|sql
#                            MEMBER [ARGUMENT]; drills that touch no database do without
#   DRILL_NAMESPACE          reconciled

declare -A CONTEXT=()
NAMESPACE=${DRILL_NAMESPACE:-reconciled} PROVIDERS=${DRILL_PROVIDERS:-card,points}
SITES=${SITES:-a} MEMBERS=${MEMBERS:-a1} NEEDS_PARTITION=${NEEDS_PARTITION:-no}
CALLER_TOKEN=${DRILL_CALLER_TOKEN:-} OPERATOR_TOKEN=${DRILL_OPERATOR_TOKEN:-} SIMULATOR_URL=${DRILL_SIMULATOR:-}
APPROVER_TOKEN=${DRILL_APPROVER_TOKEN:-}

source drills/lib/load.sh
source drills/lib/people.sh

target_check() { kubernetes_check; }
kubernetes_check() {
    local name pair site
    for name in DRILL_CONTEXTS DRILL_ENTRY DRILL_CALLER_TOKEN DRILL_OPERATOR_TOKEN DRILL_SIMULATOR; do
        [[ -n ${!name:-} ]] || unable "$name is not set; drills/targets/kubernetes.sh says what it is"
    done
    for name in kubectl curl jq python3; do command -v "$name" >/dev/null || unable "$name is missing"; done
    for pair in $DRILL_CONTEXTS; do CONTEXT[${pair%%=*}]=${pair#*=}; done
    for site in $SITES; do
        [[ -n ${CONTEXT[$site]:-} ]] || unable "DRILL_CONTEXTS names no context for site $site"
        kube "$site" get deployment/reconciled-front >/dev/null || unable "site $site: no deployment reconciled-front"
    done
    simulator GET health >/dev/null || unable "DRILL_SIMULATOR: $DRILL_SIMULATOR does not answer"
}

# kube SITE ARGUMENT...: kubectl in the site's cluster and namespace.
kube() {
    local site=$1
    shift
    kubectl --context "${CONTEXT[$site]}" --namespace "$NAMESPACE" "$@"
}

in_place() {
    shift
    "$@"
}
entry_url() { echo "$DRILL_ENTRY"; }
simulator() {
    local data=()
    [[ -z ${3:-} ]] || data=(-d "$3")
    curl -sSf --max-time 20 -X "$1" "${data[@]}" "$SIMULATOR_URL/_control/$2"
}

# The sites are there already; the drill only sends its load.
target_up() { step "Start the callers: $RATE payments a second" load_start; }
target_load() {
    : >"$EVIDENCE/journal.jsonl"
    python3 drills/load --url "$DRILL_ENTRY" --token "$CALLER_TOKEN" --journal "$EVIDENCE/journal.jsonl" \
        --rate "$RATE" --callers "$CALLERS" --prefix "drill-$(now_ms | tr 0-9 a-j)" >"$EVIDENCE/logs/load.log" 2>&1 &
    LOAD_PID=$!
}
target_down() { :; }

# front SITE NUMBER: the name of the site's front pod of that number, in order of their names.
front() {
    kube "$1" get pods -l app.kubernetes.io/component=front -o name | sort | sed -n "$2p"
}
daemon_kill() { kube "$1" delete "$(front "$1" "$2")" --grace-period=0 --force; }
daemon_stop() { kube "$1" delete "$(front "$1" "$2")" --wait=true; }
daemon_start() { kube "$1" rollout status deployment/reconciled-front --timeout=5m; }
site_start() {
    kube "$1" scale deployment/reconciled-front --replicas=3
    kube "$1" scale deployment/reconciled-batch --replicas=2
    kube "$1" rollout status deployment/reconciled-front --timeout=5m
}
site_stop() {
    kube "$1" scale deployment --all --replicas=0
    kube "$1" wait --for=delete pods --all --timeout=5m
}
site_configure() { :; }
migrate() { reconciled_at "$1" migrate --plan; }

# site_lose SITE: all pods at once, and the site's databases. A region that is really lost takes its cluster along.
site_lose() {
    local member
    kube "$1" scale deployment --all --replicas=0
    kube "$1" delete pods --all --grace-period=0 --force
    for member in $MEMBERS; do [[ $member != "$1"* ]] || member_kill "$member"; done
}

reconciled_at() {
    local site=$1
    shift
    kube "$site" exec deployment/reconciled-front -- /usr/bin/reconciled "$@"
}
probe() { kube "$1" exec "$(front "$1" "$2")" -- /usr/bin/reconciled healthcheck --probe "$3" >/dev/null; }
active_site() {
    local site
    for site in $SITES; do
        if probe "$site" 1 activez 2>/dev/null; then
            echo "$site"
            return 0
        fi
    done
    return 1
}

# with_operators SITE COMMAND...: forwards the site's operators' listener to OPERATORS while the command runs.
with_operators() {
    local site=$1 port forward status=0
    shift
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    kube "$site" port-forward "$(front "$site" 1)" "$port:8081" >/dev/null &
    forward=$!
    OPERATORS=http://127.0.0.1:$port
    await 20 "the operators' listener is forwarded" curl -sf -o /dev/null "$OPERATORS/livez"
    "$@" || status=$?
    kill "$forward"
    return "$status"
}
operator_get() {
    with_operators "$1" operator_fetch "$2"
}
operator_fetch() { curl -sSf --max-time 10 -H "Authorization: Bearer $OPERATOR_TOKEN" "$OPERATORS$1"; }

# repairs_at SITE PERSON ARGUMENT...: `reconciled repairs` of this machine, at the site's forwarded listener.
repairs_at() {
    local site=$1 person=$2
    shift 2
    with_operators "$site" repairs_forwarded "$person" "$@"
}
repairs_forwarded() {
    local person=$1
    shift
    "${PROGRAMS:-.build/release}/reconciled" repairs "$@" --url "$OPERATORS" --token-file "$DRILL_DIR/$person.token"
}

target_rest() { await 300 "nothing is in doubt" nothing_in_doubt; }
nothing_in_doubt() {
    local site state
    site=$(active_site) || return 1
    for state in processing canceling; do
        [[ $(operator_get "$site" "/v1/payments?limit=1&state=$state" | jq '.data | length') == 0 ]] || return 1
    done
}
target_collect() { with_operators "$(active_site)" collect_sides; }
collect_sides() {
    python3 drills/report/collect.py --admin "$OPERATORS" --token "$OPERATOR_TOKEN" --simulator "$SIMULATOR_URL" \
        --providers "$PROVIDERS" --into "$EVIDENCE"
}
target_verify() {
    local status=0
    reconciled_at "$(active_site)" payments verify >"$EVIDENCE/verify.txt" 2>&1 || status=$?
    echo "$status" >"$EVIDENCE/verify.status"
}
target_logs() {
    local site
    for site in $SITES; do
        kube "$site" logs -l app.kubernetes.io/name=reconciled --prefix --tail=-1 >"$EVIDENCE/logs/$site.log" 2>&1 ||
            true
    done
}
target_digests() {
    local site
    for site in $SITES; do
        kube "$site" get pods -l app.kubernetes.io/name=reconciled -o json |
            jq -c --arg part "image of site $site" '{part: $part,
                version: ([.items[].status.containerStatuses[]?.imageID] | unique | join(" "))}'
        kube "$site" get configmap -o json |
            jq -c --arg part "configuration of site $site" '{part: $part, version: ([.items[].metadata.name
                | select(startswith("reconciled-"))] | join(" "))}'
    done | jq -sc .
}

# database VERB MEMBER [ARGUMENT...]: the program that knows these databases.
database() {
    [[ -n ${DRILL_DATABASE:-} ]] || unable "DRILL_DATABASE is not set, and this drill does something to a database"
    "$DRILL_DATABASE" "$@"
}
member_kill() { database kill "$1"; }
member_stop() { database stop "$1"; }
member_start() { database start "$1"; }
member_promote() { database promote "$1"; }
member_rejoin() { database rejoin "$1" "$2"; }
follows() { database follows "$1" "$2"; }
sql() { database sql "$1" "$2"; }
wait_for_standbys() { :; }
break_link() { unable "breaking the link between the databases is not known on this target"; }

# A network policy for every pod of FROM's side does not exist across clusters: cut in the network between them.
cut_way() { unable "a partition between clusters is made in their network; run this drill on the target local"; }
mend_way() { cut_way; }
