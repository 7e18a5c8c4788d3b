# shellcheck shell=bash
# The daemons of the local target, two for each site, and the providers.

SIMULATOR_URL=''

http_port() { echo "$((8079 + $1))"; }
admin_port() { echo "$((9079 + $1))"; }
admin_url() { echo "http://$(address "$1"):$(admin_port "$2")"; }

# operator_get SITE PATH: what the operators' API of the site's first living daemon answers.
operator_get() {
    in_place edge curl -sSf --max-time 10 -H "Authorization: Bearer $OPERATOR_TOKEN" \
        "$(admin_url "$1" "$(living "$1")")$2"
}

# living SITE: the number of a daemon of the site that answers, 1 if none does.
living() {
    local number
    for number in 1 2; do
        if probe "$1" "$number" livez; then
            echo "$number"
            return 0
        fi
    done
    echo 1
}

# probe SITE NUMBER NAME: livez, readyz, startupz, activez of a daemon.
probe() { in_place edge curl -sf -o /dev/null --max-time 1 "$(admin_url "$1" "$2")/$3"; }

providers_start() {
    SIMULATOR_URL=http://$(address provider):8090
    spawn providers provider "$PROGRAMS/provider-simulator" serve --host "$(address provider)" --port 8090 \
        --database "$DRILL_DIR/providers.sqlite" --providers "$PROVIDERS" --seed 1 --allow-remote-control
    await 20 "the providers answer" simulator GET health
}

# simulator METHOD PATH [BODY]: the control API of the providers.
simulator() {
    local data=()
    [[ -z ${3:-} ]] || data=(-d "$3")
    in_place edge curl -sSf --max-time 20 -X "$1" "${data[@]}" "$SIMULATOR_URL/_control/$2"
}

# site_database SITE: the URL of the site's own servers.
site_database() {
    local member hosts=''
    for member in $MEMBERS; do
        [[ $(site_of "$member") != "$1" ]] || hosts+="${hosts:+,}$(address "$1"):$(port_of "$member")"
    done
    echo "postgres://reconciled@$hosts/$DATABASE"
}

# role_key ROLE: the key of an operator's role, unless a version is to read it that has none (WITHOUT_ROLES).
role_key() { [[ -n ${WITHOUT_ROLES:-} ]] || printf ', role: %s' "$1"; }

sha256_of() { printf %s "$1" | sha256sum | cut -d ' ' -f 1; }

# site_configure SITE: the file of its daemons. Times are shorter than a site's would be, so that a drill takes minutes:
# requests live at most 10 s, a lease 5 s, and what is in doubt is asked about within seconds.
site_configure() {
    local provider
    {
        site_section "$1"
        cat <<CONFIGURATION
store: {url: "$(site_database "$1")", time_limit: 5s}
http: {host: "$(address "$1")"}
admin:
  host: "$(address "$1")"
  operators:
    - {name: on-call, token_sha256: $(sha256_of "$OPERATOR_TOKEN")$(role_key operator)}
    - {name: second, token_sha256: $(sha256_of "$APPROVER_TOKEN")$(role_key approver)}
callers:
  - {name: checkout, token_sha256: $(sha256_of "$CALLER_TOKEN")}
providers:
CONFIGURATION
        for provider in ${PROVIDERS//,/ }; do
            cat <<CONFIGURATION
  - name: $provider
    url: $SIMULATOR_URL/$provider
    allow_plain_http: true
    timeouts: {connect: 1s, tls: 1s, first_byte: 4s, total: 5s}
    contract: {visibility_lag: 1s, max_request_life: 10s, clock_skew: 1s, requests_per_second: 2000, concurrency: 64}
CONFIGURATION
        done
        cat <<CONFIGURATION
reconcile:
  send_within: 3s
  lease: 5s
  inquiry_schedule: [500ms, 1s, 2s, 5s]
  resend_schedule: [200ms, 500ms, 1s, 2s]
  default_deadline: 5m
  seal_every: 2s
  comparison: {window: 1m, settle_delay: 5s, ask_again_after: 3s, policy: {orphan: undo after 5s}}
telemetry: {log_level: info}
CONFIGURATION
    } >"$DRILL_DIR/$1.yaml"
}

# with_secrets COMMAND...: what the daemons have in their environment; the drill's own RECONCILED_ variables as well.
with_secrets() { env RECONCILED_PROVIDERS_CARD_TOKEN=drill RECONCILED_PROVIDERS_POINTS_TOKEN=drill "$@"; }

# reconciled_at SITE ARGUMENT...: the program with the site's configuration, in the site.
reconciled_at() {
    local site=$1
    shift
    place_prefix "$site"
    with_secrets "${PLACE_PREFIX[@]}" "${DAEMON_PROGRAM:-$PROGRAMS/reconciled}" "$@" --config "$DRILL_DIR/$site.yaml"
}

# repairs_at SITE PERSON ARGUMENT...: `reconciled repairs` as that person, at a daemon of the site that answers.
repairs_at() {
    local site=$1 person=$2
    shift 2
    reconciled_at "$site" repairs "$@" --url "$(admin_url "$site" "$(living "$site")")" \
        --token-file "$DRILL_DIR/$person.token"
}

migrate() { reconciled_at "$1" migrate; }

# daemon_start SITE NUMBER: starts it; daemon_program may name another build.
daemon_start() {
    spawn "daemon-$1$2" "$1" env RECONCILED_PROVIDERS_CARD_TOKEN=drill RECONCILED_PROVIDERS_POINTS_TOKEN=drill \
        RECONCILED_HTTP_PORT="$(http_port "$2")" RECONCILED_ADMIN_PORT="$(admin_port "$2")" \
        "${DAEMON_PROGRAM:-$PROGRAMS/reconciled}" serve --config "$DRILL_DIR/$1.yaml"
    await 30 "daemon $1$2 is ready" probe "$1" "$2" readyz
}

daemon_kill() { kill_hard "daemon-$1$2"; }
daemon_stop() { kill_soft "daemon-$1$2"; }

site_start() {
    daemon_start "$1" 1
    daemon_start "$1" 2
}

# site_stop SITE: its daemons, as an administrator would.
site_stop() {
    daemon_stop "$1" 1
    daemon_stop "$1" 2
}

# site_lose SITE: everything in it at one moment, as when a region goes dark.
site_lose() {
    local member name names="daemon-${1}1 daemon-${1}2" pids=()
    for member in $MEMBERS; do [[ $(site_of "$member") != "$1" ]] || names+=" db-$member"; done
    for name in $names; do
        if is_running "$name"; then mapfile -t -O "${#pids[@]}" pids < <(family "$(pid_of "$name")"); fi
    done
    kill -KILL "${pids[@]}" 2>/dev/null || true
    for member in $MEMBERS; do [[ $(site_of "$member") != "$1" ]] || member_kill "$member"; done
}
