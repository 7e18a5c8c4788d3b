# shellcheck shell=bash
# haproxy in place of the global load balancer: it asks /activez of every daemon of both sites, and sends callers to
# those that say yes. It knows both sites in advance; nothing is changed in it when a site is promoted.

ENTRY_PORT=8000

entry_url() { echo "http://$(address edge):$ENTRY_PORT"; }

haproxy_start() {
    haproxy_configuration >"$DRILL_DIR/haproxy.cfg"
    spawn haproxy edge haproxy -W -db -f "$DRILL_DIR/haproxy.cfg"
    await 20 "callers get through" entry_open
}

haproxy_configuration() {
    local site number
    cat <<CONFIGURATION
global
    maxconn 2000
    nbthread 1
defaults
    mode http
    timeout connect 1s
    timeout client 60s
    timeout server 40s
    timeout http-request 5s
    retries 2
    option redispatch 1
frontend callers
    bind $(address edge):$ENTRY_PORT
    default_backend sites
backend sites
    balance roundrobin
    option httpchk GET /activez
    http-response set-header X-Served-By %s
    default-server check inter 500ms fastinter 250ms fall 2 rise 1 on-marked-down shutdown-sessions
CONFIGURATION
    for site in $SITES; do
        for number in 1 2; do
            echo "    server $site$number $(address "$site"):$(http_port "$number")" \
                "addr $(address "$site") port $(admin_port "$number")"
        done
    done
}

# entry_open: somebody answers callers; 401 is an answer of a daemon, 503 one of haproxy.
entry_open() {
    [[ $(in_place edge curl -s -o /dev/null --max-time 2 -w '%{http_code}' "$(entry_url)/v1/payments") == 401 ]]
}

# target_load: starts the callers at the edge.
target_load() {
    place_prefix edge
    : >"$EVIDENCE/journal.jsonl"
    # Letters for digits: a long number would be taken for a card's and refused.
    local prefix
    prefix=drill-$(now_ms | tr 0-9 a-j)
    setsid "${PLACE_PREFIX[@]}" python3 -B drills/load --url "$(entry_url)" --token "$CALLER_TOKEN" \
        --journal "$EVIDENCE/journal.jsonl" --rate "$RATE" --callers "$CALLERS" --prefix "$prefix" \
        >>"$DRILL_DIR/logs/load.log" 2>&1 </dev/null &
    LOAD_PID=$!
    disown
}
