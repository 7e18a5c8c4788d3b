"""Whether the kit finds what is wrong, and only that: the examples in `conformance/examples`."""

import argparse
import pathlib
import sys

from kit.checkout import Limits
from kit.judge import Verdict, judge
from kit.plans import SYSTEMATIC, Plan, plans
from kit.run import Order, Outcome, Progress, Runner
from kit.world import World

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
RIGHT = {"checkout.py": [sys.executable], "checkout.pl": ["perl"]}
# Each wrong example, the faults that make it do harm, and the rules that have to find it.
WRONG: dict[str, tuple[list[str], set[str]]] = {
    "new_key_at_each_start": (["kill-during"], {"charged-twice", "two-payments", "second-key"}),
    "key_stored_too_late": (["kill-during"], {"charged-twice", "two-payments", "second-key"}),
    "new_key_after_timeout": (["answer-lost", "no-answer"], {"charged-twice", "two-payments", "second-key"}),
    "new_key_after_503": (["unavailable"], {"second-key"}),
    "timeout_is_failure": (["answer-lost"], {"told-otherwise", "told-without-proof", "wrong-payment"}),
    "unavailable_is_failure": (["unavailable"], {"no-payment", "told-without-proof"}),
    "paid_on_202": (["none"], {"told-otherwise", "told-without-proof"}),
    "declined_is_paid": (["none"], {"told-otherwise", "told-without-proof"}),
    "no_pause": (["none"], {"no-pause"}),
    "retry_after_ignored": (["unavailable", "rate-limited"], {"retry-after"}),
    "deadline_anew": (["kill-during"], {"another-body"}),
    "lock_left_behind": (["kill-before"], {"does-not-end"}),
    "reference_missing": (["none"], {"wrong-request", "no-payment"}),
    "decimal_amount": (["none"], {"wrong-amount"}),
}

# Rules that no checkout can break.
OF_THE_DAEMON = ("not-settled", "books-differ", "answers-differ")


def orders_of(name: str, command: list[str], chosen: list[Plan]) -> list[Order]:
    return [Order(f"{name}-{plan.number}", plan, command) for plan in chosen]


def all_orders(seed: int, number: int) -> dict[str, list[Order]]:
    found = {
        name: orders_of(name, [*interpreter, str(EXAMPLES / name)], plans(seed, number))
        for name, interpreter in RIGHT.items()
    }
    for name, (faults, _) in WRONG.items():
        chosen = [plan for plan in plans(seed, SYSTEMATIC) if plan.row in faults]
        found[name] = orders_of(name, [sys.executable, str(EXAMPLES / "wrong" / f"{name}.py")], chosen)
    return found


def found_of(verdict: Verdict, orders: list[Order]) -> set[str]:
    return {rule for order in orders for rule in verdict.rules(order.name)}


def said_of(name: str, orders: list[Order], verdict: Verdict) -> tuple[bool, str]:
    """Whether the example was judged as it should be, and the line that says so."""
    found = found_of(verdict, orders)
    begin = f"{'right' if name in RIGHT else 'wrong'}  {name:<24}{len(orders):>3} orders  "
    if name in RIGHT:
        return not found, begin + ("no findings" if not found else f"FOUND: {', '.join(sorted(found))}")
    missing = WRONG[name][1] - found
    line = begin + f"found by {', '.join(sorted(found)) or 'nothing'}"
    return not missing, line + (f"; MISSING: {', '.join(sorted(missing))}" if missing else "")


def strays_belong(outcomes: list[Outcome], verdict: Verdict) -> bool:
    """Only the example without references makes payments that belong to no order."""
    without = [outcome for outcome in outcomes if outcome.order.startswith("reference_missing-")]
    return len(verdict.strays) == len(without)


def run(world: World, options: argparse.Namespace) -> int:
    groups = all_orders(options.seed, options.orders)
    orders = [order for group in groups.values() for order in group]
    runner = Runner(world, pathlib.Path.cwd(), Limits(options.patience), options.hold, options.jobs)
    outcomes = runner.run(orders, Progress(len(orders)))
    verdict = judge(world, outcomes, options.settle)
    is_good = True
    for name, group in groups.items():
        good, line = said_of(name, group, verdict)
        print(line)
        is_good = is_good and good
    for finding in verdict.findings:
        if finding.case.order.startswith(tuple(RIGHT)) or finding.rule in OF_THE_DAEMON:
            print(f"{finding.case.order}: {finding.rule}: {finding.seen}\n  {finding.case.plan.words()}")
            is_good = False
    if not strays_belong(outcomes, verdict):
        print("\n".join(["Payments and charges that no order explains:", *verdict.strays]))
        is_good = False
    return 0 if is_good else 1
