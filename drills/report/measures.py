"""What a drill measured: how long nothing was settled, what was lost, and whether that is what was agreed."""

import math
import re
from dataclasses import dataclass

from evidence import Evidence
from judge import acknowledgements, lost

# A pause between settled payments is an interruption from this length on, and from six times the usual pause.
OUTAGE_MS = 1000
PHASES = ["fault", "detected", "approved", "fenced", "promoted", "settled"]
FACTORS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def milliseconds(text: str) -> int:
    match = re.fullmatch(r"(\d+)(ms|s|m|h)", text)
    return int(match[1]) * FACTORS[match[2]] if match else int(text)


def percentile(values: list[int], share: float) -> int:
    """Nearest rank: a value that was measured."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]


@dataclass
class Round:
    """One fault, and what followed until the next one."""

    number: int
    fault: int
    end: int
    phases: dict[str, int]
    # From the fault until payments were settled again, where that was interrupted, else the longest pause; None if
    # nothing was settled any more.
    rto: int | None
    interrupted: bool
    approval_to_settled: int | None
    # Payments that were begun before the fault (or its repair) and had not ended, and when the last of them did.
    caught: int
    backlog: int | None
    errors: int

    def document(self) -> dict:
        return {
            "round": self.number, "rto_ms": self.rto, "interrupted": self.interrupted,
            "approval_to_settled_ms": self.approval_to_settled, "caught": self.caught, "backlog_ms": self.backlog,
            "callers_repeated": self.errors,
            "phases_ms": {name: at - self.fault for name, at in self.phases.items()},
        }


def settlements(evidence: Evidence) -> list[int]:
    """When each payment was told for the first time to have ended, in order."""
    seen: set[str] = set()
    times = []
    for line in evidence.journal:
        if line["event"] == "told" and line["key"] not in seen:
            seen.add(line["key"])
            times.append(line["at"])
    return times


def end_of_load(evidence: Evidence) -> int:
    """No payment was begun after it, so that silence is no outage."""
    sent = [line["at"] for line in evidence.journal if line["event"] == "sent"]
    return max(sent, default=0)


def rounds(evidence: Evidence) -> list[Round]:
    times = settlements(evidence)
    faults = [(number, evidence.mark("fault", number)) for number in evidence.rounds]
    ends = [at for _, at in faults[1:]] + [max(end_of_load(evidence), *(at for _, at in faults))] if faults else []
    return [measure(evidence, times, number, at, end) for (number, at), end in zip(faults, ends)]


def measure(evidence: Evidence, times: list[int], number: int, fault: int, end: int) -> Round:
    before = [at for at in times if at <= fault]
    later = [at for at in times if at > fault]
    usual = (before[-1] - before[0]) / (len(before) - 1) if len(before) > 1 else 0
    outage = max(OUTAGE_MS, 6 * usual)
    previous = max(before[-1] if before else fault, fault - OUTAGE_MS)
    longest, restored = 0, None
    # What is silent after the end of the round is no outage; a silence that began before it is, whenever it ended.
    for at in later:
        if min(at, end) - previous > longest:
            longest, restored = min(at, end) - previous, at
        previous = at
        if at > end:
            break
    if end - previous > max(longest, outage):
        longest, restored = end - previous, None
    elif longest < outage:
        restored = later[0] if later else None
    phases = {"fault": fault}
    for name in PHASES[1:-1]:
        at = evidence.mark(name, number)
        if at is not None:
            phases[name] = at
    approval = None
    if restored is not None:
        phases["settled"] = restored
        if "approved" in phases:
            approval = restored - phases["approved"]
    errors = sum(1 for line in evidence.journal if line["event"] == "again" and fault <= line["at"] <= end)
    interrupted = longest >= outage
    rto = None
    if restored is not None:
        rto = restored - fault if interrupted else longest
    caught, backlog_ms = backlog(evidence, evidence.mark("repaired", number) or fault)
    return Round(number, fault, end, phases, rto, interrupted, approval, caught, backlog_ms, errors)


def backlog(evidence: Evidence, base: int) -> tuple[int, int | None]:
    """How many payments had not ended at a moment, and how long after it the last of them had; None if one never
    did."""
    begun, ended = {}, {}
    for line in evidence.journal:
        if line["event"] == "sent":
            begun[line["key"]] = line["at"]
        elif line["event"] == "told":
            ended.setdefault(line["key"], line["at"])
        elif line["event"] == "refused":
            begun.pop(line["key"], None)
    caught = [key for key, at in begun.items() if at < base and ended.get(key, base) >= base]
    if any(key not in ended for key in caught):
        return len(caught), None
    return len(caught), max((ended[key] - base for key in caught), default=0)


def reach(evidence: Evidence, missing: list[int]) -> int:
    """How far back a loss reaches from the fault, or from the last payment that was lost where the old site went on
    after it. What was acknowledged after one promotion and before the next is of the next loss; the longest counts."""
    longest, since = 0, 0
    faults = [evidence.mark("fault", number) for number in evidence.rounds] or [0]
    # With one fault everything is of it; else each promotion but the last ends what its fault may have taken.
    ends = [evidence.mark("promoted", number) for number in evidence.rounds[:-1]] + [math.inf]
    for fault, end in zip(faults, ends):
        if end is None:
            continue
        of_this = [at for at in missing if since < at <= end]
        since = end
        if of_this:
            longest = max(longest, max(of_this + [fault]) - min(of_this))
    return longest


def loss(evidence: Evidence) -> dict:
    """Acknowledged payments that were lost, and how far back that reaches."""
    missing = lost(evidence)
    return {
        "acknowledged": len(acknowledgements(evidence)),
        "rpo_ms": reach(evidence, [line["at"] for line in missing]),
        "lost": len(missing) if evidence.sides_were_read else None,
        "lost_keys": [line["key"] for line in missing][:50],
    }


def rates(evidence: Evidence, found: list[Round]) -> dict:
    """Payments settled a second before the first fault and after the last recovery."""
    times = settlements(evidence)
    if not found or not times:
        return {"before": None, "after": None}
    first, last = found[0], found[-1]
    start = times[0]
    before = [at for at in times if at <= first.fault]
    after_from = last.phases.get("settled")
    end = end_of_load(evidence)
    after = [at for at in times if after_from is not None and after_from <= at <= end]
    span_before = (first.fault - start) / 1000
    span_after = (end - after_from) / 1000 if after_from is not None else 0
    return {
        "before": round(len(before) / span_before, 1) if span_before >= 1 else None,
        "after": round(len(after) / span_after, 1) if span_after >= 1 else None,
    }


def level(evidence: Evidence, found: list[Round], speed: dict) -> str:
    """The level that was reached again: full, if what was begun after the recovery is settled at the rate of before."""
    if not found or found[-1].rto is None:
        return "none"
    restored = found[-1].phases["settled"]
    begun = {line["key"] for line in evidence.journal if line["event"] == "sent" and line["at"] > restored}
    ended = {line["key"] for line in evidence.journal if line["event"] == "told"}
    if not begun & ended:
        return "settle-only"
    if speed["before"] and speed["after"] is not None and speed["after"] < 0.8 * speed["before"]:
        return f"reduced ({speed['after']} of {speed['before']} payments a second)"
    return "full"


LEVELS = ["none", "read-only", "settle-only", "reduced", "full"]


def judge_objectives(evidence: Evidence, found: list[Round], lost_rows: dict, reached: str) -> list[dict]:
    """Each objective, what was measured, and whether it was met. Over 30 rounds and more the p99 counts, else the
    worst."""
    judged = []
    for name in ("rlo", "rto", "approval_to_settled", "backlog", "rpo"):
        wanted = evidence.drill["objectives"].get(name)
        if wanted is None:
            continue
        if name == "rlo":
            met = LEVELS.index(reached.split(" ")[0]) >= LEVELS.index(wanted)
            judged.append({"name": name, "objective": wanted, "measured": reached, "met": met})
            continue
        if name == "rpo":
            values = [lost_rows["rpo_ms"]] if evidence.sides_were_read else [None]
        else:
            values = [getattr(each, name) for each in found] or [None]
        measured = None
        if None not in values:
            measured = percentile(values, 0.99) if len(values) >= 30 else max(values)
        met = measured is not None and measured <= milliseconds(wanted)
        judged.append({"name": name, "objective": wanted, "measured_ms": measured, "met": met})
    return judged
