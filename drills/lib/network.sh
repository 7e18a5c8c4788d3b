# shellcheck shell=bash
# The places of the local target: sites a and b, the providers, a witness in a third place, and the edge with traffic
# switch and callers.
#
# loopback     each place is an address 127.N.x.1 of this machine; anybody may do that, nothing can be cut.
# namespaces   each place is a network namespace on a bridge, which lies in a namespace as well; needs root. Nothing of
#              the machine's own network is changed.

PLACES='edge a b provider witness' NETWORK_NUMBER='' PLACE_PREFIX=()

network_check() {
    [[ -n $NETWORK ]] || NETWORK=$([[ $NEEDS_PARTITION == yes ]] && echo namespaces || echo loopback)
    if [[ $NETWORK == loopback ]]; then
        [[ $NEEDS_PARTITION == no ]] || unable "a partition wants --network namespaces"
        return 0
    fi
    ((EUID == 0)) || unable "network namespaces want root"
    command -v ip >/dev/null || unable "ip is missing; on Debian: apt-get install iproute2"
    command -v iptables >/dev/null || unable "iptables is missing; on Debian: apt-get install iptables"
    local probe=reconciled-probe-$$
    ip netns add "$probe" 2>/dev/null || unable "this machine allows no network namespaces (CAP_SYS_ADMIN)"
    local works=yes
    ip netns exec "$probe" iptables -A INPUT -s 192.0.2.1 -j DROP 2>/dev/null || works=no
    ip netns del "$probe"
    [[ $works == yes ]] || unable "iptables does not work in a network namespace here"
}

# address PLACE: where the place is reached.
address() {
    local number=1 place
    for place in $PLACES; do
        [[ $place != "$1" ]] || break
        number=$((number + 1))
    done
    if [[ $NETWORK == loopback ]]; then
        echo "127.$NETWORK_NUMBER.$number.1"
    else
        echo "198.18.$NETWORK_NUMBER.$number"
    fi
}

network_claim() { echo "${TMPDIR:-/tmp}/reconciled-drill-network-$NETWORK_NUMBER"; }
namespace() { echo "drill-$NETWORK_NUMBER-$1"; }

# place_prefix PLACE: sets PLACE_PREFIX to what goes before a command that runs there.
place_prefix() {
    PLACE_PREFIX=()
    [[ $NETWORK == loopback ]] || PLACE_PREFIX=(ip netns exec "$(namespace "$1")")
}

# in_place PLACE COMMAND...: runs the command there.
in_place() {
    place_prefix "$1"
    shift
    "${PLACE_PREFIX[@]}" "$@"
}

network_up() {
    # Several drills on one machine: a number is taken by a directory, which only one can make.
    local attempt
    for ((attempt = 0; attempt < 200; attempt++)); do
        NETWORK_NUMBER=$((RANDOM % 240 + 10))
        mkdir "$(network_claim)" 2>/dev/null && break
        NETWORK_NUMBER=''
    done
    [[ -n $NETWORK_NUMBER ]] || unable "no number for a network is free; see $(network_claim)*"
    [[ $NETWORK == namespaces ]] || return 0
    local place
    ip netns add "$(namespace hub)"
    ip -n "$(namespace hub)" link add bridge type bridge
    ip -n "$(namespace hub)" link set bridge up
    for place in $PLACES; do
        ip netns add "$(namespace "$place")"
        ip -n "$(namespace "$place")" link add eth0 type veth peer name "to-$place" netns "$(namespace hub)"
        ip -n "$(namespace hub)" link set "to-$place" master bridge up
        ip -n "$(namespace "$place")" addr add "$(address "$place")/24" dev eth0
        ip -n "$(namespace "$place")" link set eth0 up
        ip -n "$(namespace "$place")" link set lo up
    done
}

network_down() {
    [[ -n $NETWORK_NUMBER ]] || return 0
    local place
    if [[ $NETWORK == namespaces ]]; then
        for place in $PLACES hub; do ip netns del "$(namespace "$place")" 2>/dev/null || true; done
    fi
    rmdir "$(network_claim)" 2>/dev/null || true
    NETWORK_NUMBER=''
}

# cut FROM TO: what FROM sends to TO does not arrive any more; the other direction is not touched.
cut_way() {
    [[ $NETWORK == namespaces ]] || unable "cutting a way wants --network namespaces"
    in_place "$2" iptables -A INPUT -s "$(address "$1")" -j DROP
}

# mend_way FROM TO
mend_way() { in_place "$2" iptables -D INPUT -s "$(address "$1")" -j DROP; }
