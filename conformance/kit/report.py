"""What the judge found, for people and for programs."""

import json
import shlex
from typing import Any

from kit.judge import Finding, Verdict
from kit.plans import DRAWN, MOMENT, STRIKES
from kit.proxy import Seen
from kit.rules import Case

ROWS = ["none", *STRIKES, MOMENT, DRAWN]
# Of a finding's story, so many requests; the rest is in the JSON.
LINES = 14


def struck(case: Case) -> bool:
    """Whether a fault of the plan happened: a checkout that ends before request 3 has no fault there."""
    return any(seen.fault for seen in case.seen) or any(start.killed for start in case.starts)


def table(verdict: Verdict) -> list[str]:
    lines = [f"{'fault':<18}{'orders':>8}{'reached':>9}{'findings':>10}"]
    for row in ROWS:
        cases = [case for case in verdict.cases if case.plan.row == row]
        if not cases:
            continue
        findings = [finding for finding in verdict.findings if finding.case.plan.row == row]
        reached = "-" if row == "none" else str(sum(map(struck, cases)))
        lines.append(f"{row:<18}{len(cases):>8}{reached:>9}{len(findings):>10}")
    return lines


def request_line(seen: Seen) -> str:
    words = f"{seen.method} {seen.target}" + (f"  key {seen.key}" if seen.key else "")
    if seen.fault:
        words += f"  [{seen.fault}]"
    if seen.answered is None:
        return f"{words}  no answer"
    state = f" {', '.join(seen.states.values())}" if seen.states else ""
    after = f", Retry-After: {seen.retry_after}" if seen.retry_after is not None else ""
    return f"{words}  {seen.status}{state}{after}"


def story(case: Case) -> list[str]:
    """The order's starts and requests, each with its time in seconds."""
    entries = [(start.began, f"start {start.number}") for start in case.starts]
    entries += [(seen.at, f"{seen.number}: {request_line(seen)}") for seen in case.seen]
    for start in case.starts:
        if start.ended is not None:
            end = f"killed {start.killed}" if start.killed else f"ended with {start.code}"
            entries.append((start.ended, f"start {start.number} {end}"))
    return [f"{at:6.2f} s  {words}" for at, words in sorted(entries)]


def again(case: Case, seed: int, command: list[str]) -> str:
    return f"scripts/conformance --seed {seed} --only {case.plan.number} -- {shlex.join(command)}"


def finding_lines(verdict: Verdict, case: Case, seed: int, command: list[str]) -> list[str]:
    lines = ["", f"{case.order}"]
    lines += [f"  {finding.rule}: {finding.seen}" for finding in verdict.findings if finding.case is case]
    told = case.end.said["result"] if case.end.said else "nothing"
    lines += [f"  seed {seed}, plan {case.plan.number}: {case.plan.words()}", f"  told: {told}", "  what happened:"]
    lines += [f"    {line}" for line in story(case)[:LINES]]
    if len(story(case)) > LINES:
        lines.append(f"    and {len(story(case)) - LINES} more lines; --output json has all of them")
    return [*lines, f"  again: {again(case, seed, command)}"]


def text(verdict: Verdict, seed: int, command: list[str]) -> str:
    lines = table(verdict)
    found = {finding.case.order for finding in verdict.findings}
    for case in verdict.cases:
        if case.order in found:
            lines += finding_lines(verdict, case, seed, command)
    lines += ["", *verdict.strays] if verdict.strays else []
    orders, findings = len(verdict.cases), len(verdict.findings) + len(verdict.strays)
    lines += ["", summary(verdict, orders, findings)]
    return "\n".join(lines)


def summary(verdict: Verdict, orders: int, findings: int) -> str:
    kills = sum(1 for case in verdict.cases for start in case.starts if start.killed)
    daemon = sum(seen.fault == "daemon-killed" for case in verdict.cases for seen in case.seen)
    counted = f"Orders: {orders}. Kills of the checkout: {kills}, of the daemon: {daemon}. Findings: {findings}."
    if findings == 0:
        return f"{counted} Each order has one payment, and the checkout told its end."
    return f"{counted} Orders with findings: {len({finding.case.order for finding in verdict.findings})}."


def document(verdict: Verdict, seed: int, command: list[str]) -> str:
    def entry(finding: Finding) -> dict[str, Any]:
        case = finding.case
        return {
            "order": case.order, "rule": finding.rule, "seen": finding.seen, "seed": seed, "plan": case.plan.number,
            "fault": case.plan.row, "what_happens": case.plan.words(), "told": case.end.said,
            "payments": [{"id": payment["id"], "state": payment["state"]} for payment in case.payments],
            "charges": case.charges(), "story": story(case), "again": again(case, seed, command),
        }

    faults = [
        {
            "fault": row,
            "orders": sum(case.plan.row == row for case in verdict.cases),
            "reached": sum(case.plan.row == row and struck(case) for case in verdict.cases),
            "findings": sum(finding.case.plan.row == row for finding in verdict.findings),
        }
        for row in ROWS
    ]
    orders = [
        {
            "order": case.order, "plan": case.plan.number, "told": case.result, "starts": len(case.starts),
            "requests": len(case.seen), "seconds": case.starts[-1].ended,
        }
        for case in verdict.cases
    ]
    whole = {
        "seed": seed, "faults": faults, "orders": orders,
        "findings": [entry(finding) for finding in verdict.findings], "strays": verdict.strays,
    }
    return json.dumps(whole, indent=2)
