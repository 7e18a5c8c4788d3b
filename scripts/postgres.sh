# shellcheck shell=bash
# PostgreSQL's programs on this machine, for benches and drills. Source it after scripts/lib.sh.

# pg_bin: the directory of PostgreSQL's programs, the newest when there are several.
pg_bin() {
    local newest
    newest=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
    if [[ -z "$newest" ]]; then
        newest=$(command -v postgres) || die "no PostgreSQL server; on Debian: apt-get install postgresql"
        newest=$(dirname "$newest")
    fi
    echo "$newest"
}

# as_server COMMAND...: servers refuse to run as root; then the user postgres runs them.
as_server() {
    if ((EUID == 0)); then
        (cd / && setpriv --reuid postgres --regid postgres --init-groups -- "$@")
    else
        "$@"
    fi
}
