# shellcheck shell=bash
# Two people take payments out of quarantine, as docs/runbooks/quarantine.md says it, with the commands of the program.
# The operator on call proposes (OPERATOR_TOKEN), and somebody with the role approver decides (APPROVER_TOKEN).

# people_take_out SITE: every payment that waits for people, one after the other, until none waits.
people_take_out() {
    local site=$1 payment count=0
    printf %s "$OPERATOR_TOKEN" >"$DRILL_DIR/operator.token"
    printf %s "$APPROVER_TOKEN" >"$DRILL_DIR/approver.token"
    chmod 600 "$DRILL_DIR"/{operator,approver}.token
    mark waiting "$(waiting_for_people "$site" | wc -l) payments wait for people"
    for payment in $(waiting_for_people "$site"); do
        if ! has_quarantined_leg "$site" "$payment"; then
            # What fails again and again is told to people, and goes on by itself once the provider behaves.
            note "$payment has no quarantined leg: there is nothing to take out"
            continue
        fi
        take_out "$site" "$payment"
        count=$((count + 1))
    done
    ((count > 0)) || {
        warn "nothing waits for people: the drill shows nothing of them"
        return 1
    }
    await 60 "nothing waits for people" nobody_waits "$site"
    mark taken_out "$count payments, each by two people"
}

waiting_for_people() { operator_get "$1" "/v1/payments?limit=200&waiting_for=people" | jq -r '.data[].id'; }
has_quarantined_leg() {
    operator_get "$1" "/v1/payments/$2/explanation" | jq -e 'any(.legs[]; .standing == "quarantined")' >/dev/null
}
nobody_waits() { [[ -z $(waiting_for_people "$1") ]]; }

# take_out SITE PAYMENT: the provider undoes by hand what it holds for the quarantined leg; that is proposed, its
# proposer may not approve it, and another person does. Where the provider's answer has changed between the two, the
# approval is refused, and it is proposed again.
take_out() {
    local site=$1 payment=$2 explained leg provider key reference repair said try
    explained=$(operator_get "$site" "/v1/payments/$payment/explanation")
    read -r leg provider < <(jq -r '.legs[] | select(.standing == "quarantined") | "\(.index) \(.provider)"' \
        <<<"$explained")
    key=$(operator_get "$site" "/v1/payments/$payment/events?limit=200" | jq -r --argjson leg "$leg" \
        '[.data[] | select(.type == "intent" and .leg == $leg and .detail.effect == "primary")][0].detail.key')
    reference=$(undone_by_hand "$provider" "$key")
    note "$payment leg $leg: $provider undid $key by hand, $reference"
    for try in 1 2 3 4 5; do
        repair=$(propose_undone "$site" "$payment" "$leg" "$reference")
        if said=$(approve_as "$site" operator "$repair" 2>&1) || [[ $said != *approver* ]]; then
            warn "$payment: who proposed $repair was not refused for the role: $said"
            return 1
        fi
        if said=$(approve_as "$site" approver "$repair" 2>&1); then
            note "$payment: $repair is approved by another person"
            return 0
        fi
        note "$payment: $repair is to be proposed again: $said"
    done
    warn "$payment: nothing that was proposed could be approved in $try tries"
    return 1
}

# propose_undone SITE PAYMENT LEG REFERENCE: the repair's id. What is read meanwhile makes another version of the
# payment, and its provider's answer may say something else by then: who proposes looks again.
propose_undone() {
    local site=$1 payment=$2 leg=$3 reference=$4 version proposed try against=()
    for try in 1 2 3 4 5 6 7 8; do
        version=$(operator_get "$site" "/v1/payments/$payment/explanation" | jq .version)
        if proposed=$(repairs_at "$site" operator propose "$payment" --leg "$leg" --action undone_outside \
            --evidence "They released it by hand, and said so." --reference "$reference" --version "$version" \
            "${against[@]}" --output json 2>&1); then
            jq -r .id <<<"$proposed"
            return 0
        fi
        case $proposed in
            *against-provider* | *"says something else"*) against=(--against-provider) ;;
        esac
    done
    warn "$payment: it could not be proposed: $proposed"
    return 1
}

# approve_as SITE PERSON REPAIR
approve_as() { repairs_at "$1" "$2" approve "$3" --reason "I read their word too." --output json; }

# undone_by_hand PROVIDER KEY: somebody of the provider releases the hold, or gives the charge back; their reference.
undone_by_hand() {
    local transaction=$SIMULATOR_URL/$1/transactions/$2 shown amount
    shown=$(at_provider GET "$transaction") || return 1
    case $(jq -r .status <<<"$shown") in
        authorized) at_provider POST "$transaction/void" >/dev/null || return 1 ;;
        captured)
            amount=$(jq -c '{amount}' <<<"$shown")
            at_provider PUT "$transaction/refunds/by-hand" "$amount" >/dev/null || return 1
            ;;
    esac
    echo "by-hand-${2: -8}"
}

at_provider() {
    local data=()
    [[ -z ${3:-} ]] || data=(-d "$3")
    in_place edge curl -sSf --max-time 20 -X "$1" -H "Authorization: Bearer drill" -H "Content-Type: application/json" \
        "${data[@]}" "$2"
}
