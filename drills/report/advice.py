"""What to improve next time: only what follows from the figures of this drill."""

PHASES = {
    "detected": "nobody had noticed yet: look at the intervals and thresholds of the health checks",
    "approved": "it waited for a decision: who may approve, and how they are reached",
    "fenced": "the old site had to be fenced, or its lease to run out: a shorter site.lease, or a scripted fence",
    "promoted": "the standby was being promoted: replay that lags, or a warm tier that has to be started first",
    "settled": "the promoted side was not settling yet: health checks of the traffic switch, the recovery window, "
               "connections that hang in dead ones",
}


def advise(document: dict) -> list[str]:
    found = []
    if document["broken_off"]:
        return [f"The drill did not run to its end ({document['broken_off']}): repeat it once that is mended."]
    found += [objective(each) for each in document["objectives"] if not each["met"]]
    found += [
        f"{each['name']} was broken {each['violations']} times: a defect; keep this directory and report it."
        if each["could_be_judged"] else f"{each['name']} could not be judged: the drill has to read what it needs."
        for each in document["invariants"] if not each["holds"]
    ]
    longest = slowest_phase(document["rounds"])
    if longest:
        name, milliseconds, share = longest
        found.append(f"The longest part of the outage, {milliseconds / 1000:.1f} s ({share:.0f} %), {PHASES[name]}.")
    found += [
        f"The machine stood still for {each['took_ms'] / 1000:.1f} s, which is part of what was measured: repeat it."
        for each in document["stood_still"]
    ]
    lost = document["loss"]
    if lost["lost"]:
        found.append(
            f"{lost['lost']} of {lost['acknowledged']} acknowledged payments were lost, from the last "
            f"{lost['rpo_ms'] / 1000:.1f} s before the fault: only synchronous replication avoids that.")
    spread = document.get("rto_ms")
    if spread and spread["runs"] >= 5 and spread["max"] > 2 * max(spread["p50"], 500):
        worst = max(document["rounds"], key=lambda each: each["rto_ms"] or 0)
        found.append(
            f"Round {worst['round']} took {spread['max'] / 1000:.1f} s, the median {spread['p50'] / 1000:.1f} s: "
            "find out what it waited for.")
    if document["aftermath"]["callers"]["gave_up"]:
        found.append("Callers lost patience: compare theirs with the time that recovery takes.")
    return found or ["Nothing that the figures show."]


def objective(each: dict) -> str:
    if "measured" in each:
        return f"{each['name'].upper()}: {each['measured']} where {each['objective']} was agreed."
    if each["measured_ms"] is None:
        return f"{each['name'].upper()} was not measured: payments did not come back, or nothing was read."
    return f"{each['name'].upper()}: {each['measured_ms'] / 1000:.1f} s where {each['objective']} was agreed."


def slowest_phase(rounds: list[dict]) -> tuple[str, int, float] | None:
    """The part that took longest, in the round with the longest outage, if that had parts."""
    whole = [each for each in rounds if each["interrupted"] and each["rto_ms"]]
    if not whole:
        return None
    phases = sorted(max(whole, key=lambda each: each["rto_ms"])["phases_ms"].items(), key=lambda item: item[1])
    if len(phases) <= 2:
        return None
    parts = [(name, at - before) for (name, at), (_, before) in zip(phases[1:], phases)]
    if not parts:
        return None
    name, longest = max(parts, key=lambda part: part[1])
    total = phases[-1][1]
    return (name, longest, 100 * longest / total) if total > 0 and name in PHASES else None
