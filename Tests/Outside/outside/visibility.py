"""Whether people are told: what the metrics count, what the lists show, what the log says."""

import re

import requests

# What a metric says, in its name or labels, when it counts what waits for people or for too long.
WORDS = re.compile(r"alert|quarantin|people|attention|stuck|overdue|trouble", re.I)
SERIES = re.compile(r"^([a-z_]+(?:\{[^}]*\})?) ([0-9.eE+-]+)")
# Lists of what needs people. A list counts only if it leaves out what is healthy.
LISTS = (
    "/v1/payments?state=quarantined", "/v1/payments?waiting_for=people", "/v1/payments?waiting_for=time",
    "/v1/discrepancies",
)


def metrics(daemon):
    """All series with their values."""
    text = requests.get(daemon.admin + "/metrics", timeout=5).text
    found = (SERIES.match(line) for line in text.splitlines() if not line.startswith("#"))
    return {match[1]: float(match[2]) for match in found if match}


def risen(before, after, words=WORDS):
    """Series that count what people should see, and that rose."""
    return {
        name: value - before.get(name, 0) for name, value in after.items()
        if words.search(name) and value > before.get(name, 0)}


def lists_naming(daemon, payment, healthy):
    """Lists for people in which this payment stands, and in which a healthy one does not."""
    return [path for path in LISTS if payment in (ids := listed(daemon, path)) and healthy not in ids]


def listed(daemon, path):
    """The payments that a list names."""
    separator = "&" if "?" in path else "?"
    status, page = daemon.ask(f"{path}{separator}limit=200")
    if status != 200:
        return set()
    return {entry.get("payment") or entry.get("id") for entry in page["data"]}


def series(found):
    return ", ".join(f"{name} +{value:g}" for name, value in sorted(found.items())) or "none"
