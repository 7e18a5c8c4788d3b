"""Asks the daemon and the simulator what was paid, and holds it against what the checkouts said and sent."""

import dataclasses
import time
from typing import Any

from kit.rules import DEFECT, FINAL, RULES, Case
from kit.run import Outcome
from kit.world import World


@dataclasses.dataclass
class Finding:
    """One broken rule of one order."""

    case: Case
    rule: str
    seen: str


@dataclasses.dataclass
class Verdict:
    """What the judge found. `strays` belong to no order."""

    cases: list[Case]
    findings: list[Finding]
    strays: list[str]

    def rules(self, order: str) -> set[str]:
        return {finding.rule for finding in self.findings if finding.case.order == order}


def settled_payments(world: World, seconds: float) -> list[dict[str, Any]]:
    """The daemon's payments once all of them are final, or the wait is over."""
    deadline = time.monotonic() + seconds
    while True:
        payments = world.payments()
        if all(payment["state"] in FINAL for payment in payments) or time.monotonic() > deadline:
            return payments
        time.sleep(0.2)


def strays(orders: set[str], payments: list[dict[str, Any]], transactions: list[dict[str, Any]]) -> list[str]:
    """Payments and charges that no order explains."""
    found = [
        f"The payment {payment['id']} has the reference {payment['reference']}, which is no order."
        for payment in payments
        if payment["reference"] not in orders
    ]
    known = {payment["id"] for payment in payments}
    found += [
        f"The provider {entry['provider']} has a transaction of {entry['net']} JPY under the key {entry['key']}, "
        f"of which the daemon knows nothing. {DEFECT}"
        for entry in transactions
        if entry["payment"] not in known and (entry["net"] or entry["held"])
    ]
    return found


def case_of(outcome: Outcome, payments: list[dict[str, Any]], transactions: list[dict[str, Any]]) -> Case:
    # The list is newest first.
    own = [payment for payment in reversed(payments) if payment["reference"] == outcome.order]
    ids = {payment["id"] for payment in own}
    return Case(
        **vars(outcome), payments=own, transactions=[entry for entry in transactions if entry["payment"] in ids])


def judge(world: World, outcomes: list[Outcome], settle_seconds: float) -> Verdict:
    payments = settled_payments(world, settle_seconds)
    transactions = world.transactions()
    cases = [case_of(outcome, payments, transactions) for outcome in outcomes]
    findings = [Finding(case, rule, seen) for case in cases for rule, check in RULES.items() for seen in check(case)]
    return Verdict(cases, findings, strays({case.order for case in cases}, payments, transactions))
