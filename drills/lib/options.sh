# shellcheck shell=bash
# The options that all drills have.

TARGET=local YES=no TIMES=1 PROGRAMS='' PREVIOUS='' OBJECTIVES_FILE='' RATE=20 CALLERS=16 SHORT=no KEEP=no
NETWORK='' MODE=abrupt REQUESTER=$(id -un) APPROVER='' REPORTS=drill-reports
declare -A ASKED_OBJECTIVE=()

usage() {
    cat <<USAGE
usage: scripts/drill $DRILL_NAME [OPTION...]

  --yes                 ask nothing
  --target NAME         $(targets | paste -sd ' ' -) (local)
  --times N             repeat the fault N times; percentiles are reported (1)
  --mode MODE           abrupt or graceful, where a drill has both (abrupt)
  --programs DIRECTORY  where reconciled and provider-simulator are (.build/release)
  --previous DIRECTORY  the version before, for rolling-upgrade
  --rate N              payments a second (20)
  --callers N           callers that send them (16)
  --short               less load and shorter waits, as in make test
  --network BACKEND     loopback, or namespaces (as root), which a partition needs; each drill has its default
  --objectives FILE     lines such as "rto: 60s", which replace the drill's
  --rto D, --rpo D, --rlo LEVEL, --approval-to-settled D, --backlog D
                        one of them; LEVEL: full, settle-only, read-only
  --requester NAME, --approver NAME
                        who asked for the drill, and who approves what it asks about
  --reports DIRECTORY   where the report goes (drill-reports)
  --keep                leave the parts' files where they are
USAGE
}

targets() { find drills/targets -name '*.sh' -printf '%f\n' | sed 's/\.sh$//' | sort; }

wrong() {
    printf 'scripts/drill: %s\n' "$*" >&2
    usage >&2
    exit 2
}

# one_of NAME VALUE ALLOWED...: ends with 2 unless the value is among the allowed.
one_of() {
    local name=$1 value=$2 allowed
    shift 2
    for allowed in "$@"; do [[ $value != "$allowed" ]] || return 0; done
    wrong "$name: '$value' is not one of: $*"
}

whole_number() { [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || wrong "$1: '$2' is not a whole number from 1 to 99999"; }

# milliseconds NAME DURATION: "500ms", "20s", "2m", "1h" as a number.
milliseconds() {
    case $2 in
        0) echo 0 ;;
        *ms) number_of "$1" "$2" "${2%ms}" 1 ;;
        *s) number_of "$1" "$2" "${2%s}" 1000 ;;
        *m) number_of "$1" "$2" "${2%m}" 60000 ;;
        *h) number_of "$1" "$2" "${2%h}" 3600000 ;;
        *) wrong "$1: '$2' is no duration, such as 500ms, 20s, 2m" ;;
    esac
}
number_of() {
    [[ $3 =~ ^[0-9]+$ ]] || wrong "$1: '$2' is no duration, such as 500ms, 20s, 2m"
    echo $(($3 * $4))
}

read_options() {
    while (($# > 0)); do
        case $1 in
            --yes) YES=yes ;;
            --short) SHORT=yes ;;
            --keep) KEEP=yes ;;
            --help)
                usage
                exit 0
                ;;
            --target | --times | --mode | --programs | --previous | --rate | --callers | --network | --objectives | \
                --rto | --rpo | --rlo | --approval-to-settled | --backlog | --requester | --approver | --reports)
                (($# > 1)) || wrong "$1 wants a value"
                set_option "$1" "$2"
                shift
                ;;
            *) wrong "'$1' is not an option" ;;
        esac
        shift
    done
    check_options
}

set_option() {
    case $1 in
        --target) TARGET=$2 ;;
        --times) TIMES=$2 ;;
        --mode) MODE=$2 ;;
        --programs) PROGRAMS=$2 ;;
        --previous) PREVIOUS=$2 ;;
        --rate) RATE=$2 ;;
        --callers) CALLERS=$2 ;;
        --network) NETWORK=$2 ;;
        --objectives) OBJECTIVES_FILE=$2 ;;
        --rto | --rpo | --rlo | --backlog) ASKED_OBJECTIVE[${1#--}]=$2 ;;
        --approval-to-settled) ASKED_OBJECTIVE[approval_to_settled]=$2 ;;
        --requester) REQUESTER=$2 ;;
        --approver) APPROVER=$2 ;;
        --reports) REPORTS=$2 ;;
    esac
}

check_options() {
    mapfile -t known < <(targets)
    one_of --target "$TARGET" "${known[@]}"
    one_of --mode "$MODE" abrupt graceful
    [[ -z $NETWORK ]] || one_of --network "$NETWORK" loopback namespaces
    whole_number --times "$TIMES"
    whole_number --rate "$RATE"
    whole_number --callers "$CALLERS"
    [[ -n $REQUESTER ]] || wrong "--requester is empty"
    if [[ -n $APPROVER && $APPROVER == "$REQUESTER" ]]; then
        wrong "--approver: '$APPROVER' is the requester; somebody else has to approve"
    fi
    if [[ -z $APPROVER ]]; then APPROVER="nobody (--yes)"; fi
    if [[ $SHORT == yes ]]; then RATE=$((RATE < 10 ? RATE : 10)); fi
    read_objectives
}

# read_objectives: those of the file replace those of the drill, those of options both.
read_objectives() {
    local name value
    if [[ -n $OBJECTIVES_FILE ]]; then
        [[ -r $OBJECTIVES_FILE ]] || wrong "--objectives: '$OBJECTIVES_FILE' cannot be read"
        while IFS=': ' read -r name value; do
            [[ -n $name && $name != '#'* ]] || continue
            one_of "$OBJECTIVES_FILE" "$name" rlo rto rpo approval_to_settled backlog
            OBJECTIVE[$name]=$value
        done <"$OBJECTIVES_FILE"
    fi
    for name in "${!ASKED_OBJECTIVE[@]}"; do OBJECTIVE[$name]=${ASKED_OBJECTIVE[$name]}; done
    for name in rto rpo approval_to_settled backlog; do
        [[ -z ${OBJECTIVE[$name]:-} ]] || milliseconds "$name" "${OBJECTIVE[$name]}" >/dev/null
    done
    one_of rlo "${OBJECTIVE[rlo]:-full}" full settle-only read-only
}

objectives_text() {
    local name text=''
    for name in rlo rto approval_to_settled backlog rpo; do
        [[ -z ${OBJECTIVE[$name]:-} ]] || text+="${text:+, }${name^^} ${OBJECTIVE[$name]}"
    done
    echo "${text:-none}"
}
