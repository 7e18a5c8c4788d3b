"""The report as Markdown, and its summary for the terminal."""

NAMES = {
    "rlo": "RLO, the level of service", "rto": "RTO, fault to settled payments",
    "approval_to_settled": "approval to the first settled payment",
    "backlog": "until the last payment that was caught had ended",
    "rpo": "RPO, age of the oldest lost acknowledgement",
}


def seconds(milliseconds: int | None) -> str:
    return "not measured" if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def measured(each: dict) -> str:
    return each["measured"] if "measured" in each else seconds(each["measured_ms"])


def yes(value: bool) -> str:
    return "yes" if value else "**NO**"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [str(cell).replace("|", "\\|").replace("\n", " ") for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def render(document: dict) -> str:
    drill = document["drill"]
    parts = [
        f"# Drill {document['name']}: {'passed' if document['passed'] else 'FAILED'}",
        drill["hypothesis"],
        f"Target {drill['target']}, mode {drill['mode']}, {drill['times']} time(s), {drill['load']['rate']} payments a "
        f"second from {drill['load']['callers']} callers. {drill['host']}. Requested by {drill['requester']}, approved "
        f"by {drill['approver']}.",
    ]
    if document["broken_off"]:
        parts.append(f"**Broken off: {document['broken_off']}.**")
    parts += ["## Objectives", table(
        ["objective", "agreed", "measured", "met"],
        [[NAMES[each["name"]], each["objective"], measured(each), yes(each["met"])]
         for each in document["objectives"]])]
    parts += ["## What happened when", "![timeline](timeline.svg)", phases(document)]
    if document.get("rto_ms") and document["rto_ms"]["runs"] > 1:
        spread = document["rto_ms"]
        parts.append(
            f"{spread['runs']} rounds: p50 {seconds(spread['p50'])}, p99 {seconds(spread['p99'])}, longest "
            f"{seconds(spread['max'])}.")
    parts += ["## Invariants", table(
        ["invariant", "", "judged", "holds"],
        [[each["name"], each["sentence"], each["judged"], held(each)] for each in document["invariants"]])]
    for each in document["invariants"]:
        if each["examples"]:
            parts.append(f"{each['name']}:\n\n" + "\n".join(f"- {example}" for example in each["examples"]))
    parts += ["## What was lost or undone", lost_or_undone(document)]
    parts += ["## What to improve next time", "\n".join(f"- {line}" for line in document["improve"])]
    parts += ["## Steps", table(
        ["step", "what", "command", "took"],
        [[each["number"], each["text"], f"`{each['command']}`", seconds(each["took_ms"])]
         for each in document["steps"]])]
    parts += ["## Parts", table(
        ["part", "version or SHA-256"],
        [[part["part"], part.get("version") or part["sha256"]] for part in drill["parts"]])]
    return "\n\n".join(parts) + "\n"


def held(each: dict) -> str:
    if not each["could_be_judged"]:
        return "**NOT JUDGED**"
    return "yes" if each["holds"] else f"**NO, {each['violations']} times**"


def phases(document: dict) -> str:
    rows = []
    for each in document["rounds"]:
        names = {name: f"+{at / 1000:.1f} s" for name, at in each["phases_ms"].items() if name != "fault"}
        rows.append([
            each["round"],
            *(names.get(name, "-") for name in ("detected", "approved", "fenced", "promoted", "settled")),
            seconds(each["rto_ms"]), "yes" if each["interrupted"] else "no", each["caught"],
            seconds(each["backlog_ms"]), each["callers_repeated"]])
    head = [
        "round", "detected", "approved", "fenced", "promoted", "first settled", "RTO", "interrupted",
        "payments caught", "the last of them ended", "requests repeated"]
    return table(head, rows) if rows else "No fault was made."


def count_of(lost: dict) -> str:
    return "it is not known how many" if lost["lost"] is None else str(lost["lost"])


def lost_or_undone(document: dict) -> str:
    lost, after, callers = document["loss"], document["aftermath"], document["aftermath"]["callers"]
    states = ", ".join(f"{count} {state}" for state, count in sorted(after["states"].items())) or "none"
    lines = [
        f"- {count_of(lost)} of {lost['acknowledged']} acknowledged payments lost (set difference of the callers' "
        "journal and the books).",
        f"- {after['payments']} payments in the books: {states}; {after['charged_and_given_back']} were charged and "
        "given back.",
        f"- {after['orphans_undone']} orphans were found by comparing both sides and undone, "
        f"{after['orphans_undone_sum']} minor units.",
        f"- {len(after['left_to_people'])} payments of which a later row was lost (a refund's, for example): found by "
        "comparing both sides, and left to people" + "".join(f", `{each}`" for each in after["left_to_people"]) + ".",
        f"- {after['payments_only_the_providers_know']} payments that only the providers know, "
        f"{after['of_them_with_money']} of them with money that is not given back.",
        f"- Callers: {callers['again']} requests sent again, {callers['vanished']} payments not found any more, "
        f"{callers['refused']} refused, {callers['gave_up']} without an answer at the end.",
    ]
    if lost["lost_keys"]:
        lines.append("- Lost: " + ", ".join(f"`{key}`" for key in lost["lost_keys"]) + ".")
    return "\n".join(lines)


def summary(document: dict) -> str:
    lines = [""]
    for each in document["objectives"]:
        mark = "met   " if each["met"] else "MISSED"
        lines.append(f"    {mark} {NAMES[each['name']]}: {measured(each)} (agreed: {each['objective']})")
    if document.get("rto_ms") and document["rto_ms"]["runs"] > 1:
        spread = document["rto_ms"]
        lines.append(
            f"           {spread['runs']} rounds: p50 {seconds(spread['p50'])}, p99 {seconds(spread['p99'])}, "
            f"longest {seconds(spread['max'])}")
    for each in document["invariants"]:
        mark = "holds " if each["holds"] else "BROKEN" if each["could_be_judged"] else "UNREAD"
        lines.append(f"    {mark} {each['name']} ({each['judged']})")
        lines += [f"           {example}" for example in each["examples"][:3]]
    lost = document["loss"]
    lines.append(f"    {count_of(lost)} of {lost['acknowledged']} acknowledged payments lost")
    lines += [f"    next time: {line}" for line in document["improve"]]
    lines.append(f"    {'PASSED' if document['passed'] else 'FAILED'}: {document['name']}")
    return "\n".join(lines)
