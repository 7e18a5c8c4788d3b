# shellcheck shell=bash
# What the scripts share. Source it first:
#
#   set -euo pipefail
#   source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
#
# It moves to the root of the project, so that every path in a script is relative to it.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"

# SwiftPM otherwise passes the flags of package traits in an order that changes, and rebuilds at random.
export SWIFT_DETERMINISTIC_HASHING=1

# A target may import only what its manifest declares. Every build of the project carries these flags, because
# a build with others would start over.
# shellcheck disable=SC2034
BUILD_FLAGS=(--explicit-target-dependency-import-check error)

# Tests and seeds take the decisions millions of times: their targets are optimized in debug builds too. Package.swift
# reads this.
export OPTIMIZE_CORE=1

# Nobody debugs there, and a build without what debuggers need is shorter.
[[ -z ${CI:-} ]] || BUILD_FLAGS+=(-Xswiftc -gnone)

# Colours, on a terminal only and never when NO_COLOR is set.
if [[ -t 1 && -z "${NO_COLOR:-}" ]]; then
    BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' GREEN=$'\e[32m' YELLOW=$'\e[33m' PLAIN=$'\e[0m'
else
    BOLD='' DIM='' RED='' GREEN='' YELLOW='' PLAIN=''
fi

# say TEXT...: a heading.
say() { printf '%s==> %s%s\n' "$BOLD" "$*" "$PLAIN"; }

# note TEXT...: something of less weight.
note() { printf '%s    %s%s\n' "$DIM" "$*" "$PLAIN"; }

# good TEXT...: something that succeeded.
good() { printf '%s%s%s\n' "$GREEN" "$*" "$PLAIN"; }

# warn TEXT...: something that the reader should know, on standard error.
warn() { printf '%swarning: %s%s\n' "$YELLOW" "$*" "$PLAIN" >&2; }

# die TEXT...: ends the script with 1, with the reason on standard error.
die() {
    printf '%serror: %s%s\n' "$RED" "$*" "$PLAIN" >&2
    exit 1
}

# now_ms: the time in milliseconds, to measure with.
now_ms() {
    local micros=${EPOCHREALTIME/[.,]/}
    echo $((micros / 1000))
}

# took START_MS: the time since then, as "4.2 s" or "3 min 7 s".
took() {
    local ms=$(($(now_ms) - $1))
    if ((ms < 60000)); then
        printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100))
    else
        printf '%d min %d s' $((ms / 60000)) $((ms / 1000 % 60))
    fi
}

# program_version: the version of the sources.
program_version() {
    local version
    version=$(sed -nE 's/^ *public static let text = "([^"]+)"$/\1/p' Sources/ProgramEdge/BuildVersion.swift)
    [[ -n $version ]] || die "the version was not found in BuildVersion.swift"
    echo "$version"
}

# stage NAME COMMAND...: runs the command under a heading and prints the time it took; its failure ends the
# script, with the name of the stage. The command runs in a shell of its own, so that `set -e` holds in it.
stage() {
    local name=$1 start status
    shift
    say "$name"
    start=$(now_ms)
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    if ((status != 0)); then
        printf '%sFAILED: %s, after %s%s\n' "$RED" "$name" "$(took "$start")" "$PLAIN"
        exit "$status"
    fi
    note "$name: $(took "$start")"
}

# tests_that_ran LOG: the number of tests in the summary of the last run in LOG, 0 when there is none.
tests_that_ran() {
    local number
    number=$(sed -nE 's/^.*Test run with ([0-9]+) tests?.* passed after .*$/\1/p' "$1" | tail -n 1)
    echo "${number:-0}"
}

# run_tests LOG ARGUMENT...: `swift test` with the arguments, shown and kept in LOG. A run without tests is a
# failure: a filter that matches nothing, or a suite that was not built, must not look like success. What failed is
# said once more at the end, where a reader of the last lines finds it.
run_tests() {
    local log=$1 status=0
    shift
    swift test "${BUILD_FLAGS[@]}" "$@" 2>&1 | tee "$log" || status=$?
    if ((status != 0)); then
        say "What failed"
        grep -E -A 4 '✘|error: ' "$log" | grep -vE '^. (Test|Suite|Test case) .*(started|passed)' |
            cut -c 1-600 | tail -n 60
        return "$status"
    fi
    (($(tests_that_ran "$log") > 0)) || die "no test ran"
}

# sandboxes: says for each provider whether the contract suite runs before its sandbox: where its key is in the
# environment.
sandboxes() {
    local kind variable
    for kind in stripe paypay adyen reference; do
        variable=RECONCILED_SANDBOX_${kind^^}_TOKEN
        if [[ -n ${!variable:-} ]]; then
            note "The sandbox of $kind: asked, because $variable is set."
        else
            note "The sandbox of $kind: not asked. $variable is not set."
        fi
    done
}
