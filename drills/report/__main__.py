"""Makes report.json, report.md and timeline.svg of what a drill left in a directory.

Exit 0: every objective met and every invariant held; 1: not.
"""

import json
import sys
from pathlib import Path

import advice
import diagnosis
import evidence as evidence_module
import judge
import markdown
import measures
import timeline


def report(directory: Path) -> tuple[dict, str]:
    """The document, and what to show of a drill that failed."""
    evidence = evidence_module.read(directory)
    found = measures.rounds(evidence)
    lost_rows = measures.loss(evidence)
    speed = measures.rates(evidence, found)
    reached = measures.level(evidence, found, speed)
    objectives = measures.judge_objectives(evidence, found, lost_rows, reached)
    verdicts = [verdict.document() for verdict in judge.judge(evidence)]
    broken_off = next((mark["text"] for mark in evidence.marks if mark["mark"] == "broken_off"), None)
    # A drill that measured nothing has shown nothing.
    passed = (
        broken_off is None and bool(found) and all(each["met"] for each in objectives)
        and all(each["holds"] for each in verdicts))
    document = {
        "name": evidence.drill["name"], "passed": passed, "broken_off": broken_off, "drill": evidence.drill,
        "objectives": objectives, "rounds": [each.document() for each in found], "loss": lost_rows,
        "rates": speed, "invariants": verdicts, "aftermath": aftermath(evidence), "marks": evidence.marks,
        "steps": evidence.steps,
    }
    rto = [each.rto for each in found if each.rto is not None]
    if rto:
        document["rto_ms"] = {
            "runs": len(found), "p50": measures.percentile(rto, 0.5), "p99": measures.percentile(rto, 0.99),
            "max": max(rto)}
    document["stood_still"] = [{"at": at, "took_ms": took} for at, took in diagnosis.standstills(evidence)]
    document["explained_by_standstill"] = diagnosis.explained(document)
    document["improve"] = advice.advise(document)
    (directory / "timeline.svg").write_text(timeline.draw(evidence, found), encoding="utf-8")
    (directory / "report.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    (directory / "report.md").write_text(markdown.render(document), encoding="utf-8")
    return document, "" if passed else diagnosis.diagnose(evidence, found)


def aftermath(evidence) -> dict:
    """What became of the payments, and what was undone."""
    states: dict[str, int] = {}
    for payment in evidence.books.values():
        states[payment["state"]] = states.get(payment["state"], 0) + 1
    undone = [
        payment for payment in evidence.books.values()
        if payment["state"] in ("failed", "canceled") and payment["captured"]["value"] > 0
    ]
    unknown = {line.payment for line in evidence.transactions if line.payment not in evidence.books}
    orphans = [payment for payment in evidence.books.values() if is_undone_orphan(payment)]
    count = {name: 0 for name in ("again", "vanished", "refused", "gave_up")}
    for line in evidence.journal:
        if line["event"] in count:
            count[line["event"]] += 1
    return {
        "payments": len(evidence.books), "states": states, "charged_and_given_back": len(undone),
        "orphans_undone": len(orphans), "orphans_undone_sum": sum(each["refunded"]["value"] for each in orphans),
        "left_to_people": sorted(judge.left_to_people(evidence)),
        "payments_only_the_providers_know": len(unknown),
        "of_them_with_money": len({
            line.payment for line in evidence.transactions
            if line.payment not in evidence.books and (line.captured != line.refunded or line.held)}),
        "callers": count,
    }


def is_undone_orphan(payment: dict) -> bool:
    reason = payment.get("reason") or {}
    return reason.get("code") == "leg_lost" and "undone by" in (reason.get("detail") or "")


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python3 drills/report DIRECTORY", file=sys.stderr)
        return 2
    document, diagnosed = report(Path(sys.argv[1]))
    if diagnosed:
        print(diagnosed)
    print(markdown.summary(document))
    return 0 if document["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
