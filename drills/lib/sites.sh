# shellcheck shell=bash
# Two sites: which is active, how one takes over from the other, and what is waited for in between.

# How long a site may act after its last proof, and by how much the clocks of two databases may differ.
SITE_LEASE=10s SITE_SKEW=1s

other_site() { if [[ $1 == a ]]; then echo b; else echo a; fi; }

# site_section SITE: what makes it a site among two.
site_section() {
    if [[ $SITES != *' '* ]]; then
        echo "site: {name: $1}"
        return 0
    fi
    local other
    other=$(other_site "$1")
    cat <<CONFIGURATION
site:
  name: $1
  peer: {name: $other, url: "http://$(address "$other"):$(http_port 1)", allow_plain_http: true}
  proof: $PROOF
  replication: $REPLICATION
  lease: $SITE_LEASE
  clock_skew: $SITE_SKEW
  second_person: required
CONFIGURATION
    # After the loss nobody follows the site that is left, and what it decides is to be told all the same.
    if [[ $REPLICATION == asynchronous ]]; then echo "  count_unconfirmed_after: 5s"; fi
    if [[ $PROOF == postgres ]]; then
        echo "  witness: {url: \"postgres://reconciled@$(address witness):$(port_of w1)/$DATABASE\"}"
    fi
}

# lease_is_proven SITE: the active site has a lease; before that nothing says when it would have to stop.
lease_is_proven() { [[ $(reconciled_at "$1" site status --output text) == *'proven by'* ]]; }

knows_witness() { [[ $(reconciled_at "$1" site status --output text) == *'witness '* ]]; }

# found_witness SITE: once, at the active site. The other one's row knows it before it proves anything there.
found_witness() {
    reconciled_at "$1" site found-witness --by "$REQUESTER" --output text
    await 30 "site $(other_site "$1") knows the witness" knows_witness "$(other_site "$1")"
}

# notice_loss SITE: the on-call's monitoring asks both daemons twice a second, and pages after three failures.
notice_loss() {
    local failed=0 end=$(($(now_ms) + 120000))
    while ((failed < 3)); do
        (($(now_ms) < end)) || die "a daemon of site $1 goes on to say that it is active"
        if probe "$1" 1 activez || probe "$1" 2 activez; then failed=0; else failed=$((failed + 1)); fi
        sleep 0.5
    done
    mark detected "no daemon of site $1 says that it is active"
}

# PROMOTE: what the people add to a promotion, such as --accept-data-loss REASON.
PROMOTE=()

promote_arguments() {
    ARGUMENTS=(site promote --reason "$1" --by "$REQUESTER" --approved-by "$APPROVER" "${PROMOTE[@]}")
}

# wait_for_fence SITE REASON: until nothing stands against promoting the site: the other one's lease has run out, and
# what arrived of its log is replayed.
wait_for_fence() {
    promote_arguments "$2"
    await 90 "nothing stands against promoting site $1" reconciled_at "$1" "${ARGUMENTS[@]}" --dry-run ||
        reconciled_at "$1" "${ARGUMENTS[@]}" --dry-run
    mark fenced "nothing stands against promoting site $1"
}

# promote_site SITE REASON: the site's own commands decide, and say what they recorded.
promote_site() {
    promote_arguments "$2"
    reconciled_at "$1" "${ARGUMENTS[@]}" --wait 30s --output text
    mark promoted "site $1"
}

# expect_recovery: said before the promotion, so that no request after it is missed by the judge.
expect_recovery() { mark recovery_window "rows may be missing: everything is asked about before it is sent"; }

# no_recovery SITE: the promotion was proven complete, so that nothing is in recovery, and the window is not open.
no_recovery() {
    local open
    open=$(reconciled_at "$1" site status --output json | jq -se 'last.recoveries | length')
    [[ $open == 0 ]] || die "site $1 was proven to have all rows, and $open recovery windows are open"
    mark proven_complete "site $1 has all rows: no recovery window is open"
}

# marked NAME: when something was marked last, in seconds since 1970.
marked() { jq -s --arg name "$1" 'map(select(.mark == $name)) | last | .at / 1000 | floor' "$EVIDENCE/timeline.jsonl"; }

# settle_orphans SITE: has both sides compared from two minutes before the fault until after the promotion, and again,
# until what only the providers knew is settled, as the policy says: here it is undone when it was seen for 5 s.
settle_orphans() {
    local from to end
    end=$(($(marked promoted) + 1))
    from=$(date -u -d "@$(($(marked fault) - 120))" +%FT%TZ)
    to=$(date -u -d "@$end" +%FT%TZ)
    # What changed within max_request_life + clock_skew + visibility_lag + settle_delay may still be in flight.
    while (($(now_ms) / 1000 < end + 18)); do sleep 0.5; done
    compare_sides "$1" "$from" "$to"
    ORPHANS=$(reconciled_at "$1" discrepancies list --class orphan --limit 200 --output json | wc -l)
    await 90 "no orphan is open" compare_until_settled "$1" "$from" "$to"
    mark orphans_settled "$ORPHANS orphans, which only the providers knew, are settled"
}

# settled_by_itself SITE: the site has every provider compared over the loss, and again until what only the providers
# know is settled; then it says so. Nobody asks for it.
settled_by_itself() {
    await 120 "the site says that the loss was compared" loss_is_compared "$1"
    # What our books are undoing keeps nobody waiting; it is compared again until it is undone.
    await 90 "no orphan is open" no_orphans "$1"
    ORPHANS=$(reconciled_at "$1" discrepancies list --class orphan --state closed --limit 200 --output json | wc -l)
    mark orphans_settled "$ORPHANS orphans, which only the providers knew, are settled"
}

# loss_is_compared SITE: its row has a loss, and says of each that it was compared.
loss_is_compared() {
    reconciled_at "$1" site status --output json |
        jq -se 'last | (.recoveries | length > 0) and (.recoveries | all(.listing_compared))' >/dev/null
}

# compare_sides SITE FROM TO
compare_sides() {
    local provider
    for provider in ${PROVIDERS//,/ }; do
        # 1 says that something differs, which is what it is asked for.
        reconciled_at "$1" reconcile --provider "$provider" --from "$2" --to "$3" --again --wait 1m --output text \
            >>"$DRILL_DIR/logs/reconcile.log" 2>&1 || (($? == 1))
    done
    grep -E '^cmp_.* completed' "$DRILL_DIR/logs/reconcile.log" | tail -n 2 | cut -c 1-200
}

compare_until_settled() {
    sleep 3
    compare_sides "$@"
    no_orphans "$1"
}

no_orphans() {
    local open
    open=$(reconciled_at "$1" discrepancies list --class orphan --output json)
    [[ -z $open ]]
}

# becomes_active SITE: a daemon of the site says so.
becomes_active() { probe "$1" 1 activez || probe "$1" 2 activez; }

is_not_active() { ! becomes_active "$1"; }

# rejoin_site SITE: its database is rewound to where it agrees with the other site's, and follows; then commits wait for
# it again, where replication is synchronous.
rejoin_site() {
    local other
    other=$(other_site "$1")
    if is_running "db-${1}1"; then member_stop "${1}1"; fi
    member_rejoin "${1}1" "${other}1"
    if [[ $REPLICATION == synchronous ]]; then wait_for_standbys "${other}1" "${1}1"; fi
}

# standby_is_ready SITE: it is ready, and it is not active.
standby_is_ready() { probe "$1" 1 readyz && probe "$1" 2 readyz && is_not_active "$1"; }
