"""What a failed drill shows on the terminal, where its directory cannot be looked at: when payments were settled, when
the machine stood still, and what the daemons said meanwhile."""

import re
from collections import Counter
from datetime import datetime
from pathlib import Path

from evidence import Evidence
from measures import Round, milliseconds, settlements

SAID = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}) (notice|warning|error|critical) ")
MOST_LINES, LONGEST_LINE = 40, 300


def standstills(evidence: Evidence) -> list[tuple[int, int]]:
    """When the machine did nothing at all, and for how long, in milliseconds: the load saw its clock jump."""
    return [(line["at"], line["took_ms"]) for line in evidence.journal if line["event"] == "stood_still"]


def explained(document: dict) -> bool:
    """Whether standstills are all that a drill failed by: without them each time that was missed would be met."""
    still = sum(each["took_ms"] for each in document["stood_still"])
    missed = [each for each in document["objectives"] if not each["met"]]
    return (
        document["broken_off"] is None and bool(missed) and all(each["holds"] for each in document["invariants"])
        and all(
            each.get("measured_ms") is not None and each["measured_ms"] - still <= milliseconds(each["objective"])
            for each in missed))


def diagnose(evidence: Evidence, found: list[Round]) -> str:
    parts = []
    for each in found:
        seconds = rate(evidence, each)
        parts.append(f"    round {each.number}, payments settled in each second after the fault: {seconds}")
    for at, took in standstills(evidence):
        parts.append(f"    {clock(at)} the machine had stood still for {took / 1000:.1f} s")
    start = min([each.fault for each in found], default=0) - 1000
    for path in sorted((evidence.directory / "logs").glob("daemon-*.log")):
        parts += said(path, start)
    return "\n".join(parts)


def rate(evidence: Evidence, each: Round) -> str:
    """Seconds without a settled payment are written together: `60x0` are a minute of them."""
    counts = Counter((at - each.fault) // 1000 for at in settlements(evidence) if each.fault <= at <= each.end)
    texts: list[str] = []
    silent = 0
    for second in range(max(counts, default=-1) + 1):
        if counts[second]:
            if silent:
                texts.append(f"{silent}x0")
            silent = 0
            texts.append(str(counts[second]))
        else:
            silent += 1
    return " ".join(texts) or "none"


def said(path: Path, start: int) -> list[str]:
    """The first lines at notice and above that a daemon wrote from a moment on; lines have whole seconds."""
    found = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        match = SAID.match(text)
        if match and datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S%z").timestamp() * 1000 >= start:
            found.append(f"    {path.stem}: {text[:LONGEST_LINE]}")
    more = len(found) - MOST_LINES
    return found[:MOST_LINES] + ([f"    {path.stem}: and {more} lines more"] if more > 0 else [])


def clock(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000):%H:%M:%S}.{at % 1000:03d}"
