"""A6: each line of a listing is money."""

import time

from ..ledger import Line
from ..visibility import metrics
from . import story

LARGEST = 2 ** 63 - 1


def sold_and_compared(stage, change=None):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}), change=change)
    payment = shop.pay((provider, 1000)).payment
    run = stage.compare(daemon, provider)
    stage.check(
        run.get("proven") is True and run["counts"]["by_class"].get("matched") == 1,
        f"at first: proven {run.get('proven')}, {run.get('counts', {}).get('by_class')}")
    return provider, daemon, payment


def second_charge(provider, payment, value):
    """Another region executed the same request as well: another line under the same key."""
    line = provider.ledger.of_payment(payment)[0]
    now = provider.contract.now()
    return provider.ledger.record_apart(Line(
        line.key, "sale", "captured", value, "JPY", now, now, metadata=dict(line.metadata)))


def judge_two_lines(stage, value):
    provider, daemon, payment = sold_and_compared(stage)
    second_charge(provider, payment, value)
    run = stage.compare(daemon, provider)
    found = [each for each in stage.discrepancies(daemon) if each["state"] != "closed"]
    classes = [(each["class"], (each.get("at_risk") or {}).get("value")) for each in found]
    closing = [balance["closing"] for balance in run.get("balances", [])]
    stage.check(
        any(name == "duplicate" for name, _ in classes), f"two lines under one key: classes {classes or 'none'}")
    stage.check(
        any(side and side["theirs"] == 1000 + value for side in closing) or run.get("proven") is not True,
        f"theirs is {1000 + value}: closing {closing}, proven {run.get('proven')}")


@story("a6-two-charges", "A6", "Two charges under one key in one listing are two charges.")
def two_charges(stage):
    judge_two_lines(stage, 1000)


@story("a6-other-amount", "A6", "The same, with another amount in the second line.")
def other_amount(stage):
    judge_two_lines(stage, 700)


@story("a6-left-out", "A6", "A line that agreed before is left out of a later listing.")
def left_out(stage):
    provider, daemon, payment = sold_and_compared(
        stage, lambda settings: settings.set("reconcile.comparison.policy", {"hidden": "tell after 1s"}))
    provider.script.change_page = lambda data: []
    for _ in range(2):
        run = stage.compare(daemon, provider)
        time.sleep(1.2)
    classes = [each["class"] for each in stage.discrepancies(daemon) if each["payment"] == payment]
    stage.check(
        "hidden" in classes or run["counts"]["by_class"].get("hidden"),
        f"left out of the listing: {run['counts']['by_class']}, discrepancies {classes or 'none'}")


@story("n-huge-amounts", "new", "Two payments whose amounts add up beyond 64 bits do not hold up all comparisons.")
def huge_amounts(stage):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}))
    told = [shop.pay((provider, LARGEST)) for _ in range(2)]
    if any(each.status == 422 for each in told):
        stage.check(True, f"such amounts are refused: {[each.status for each in told]}")
        return
    run = stage.compare(daemon, provider)
    failures = {name: value for name, value in metrics(daemon).items() if "comparison_failures" in name and value}
    stage.check(
        run["state"] in ("completed", "abandoned"),
        f"{[each.state for each in told]}; the run is {run['state']}, {failures or 'no failure counted'}")
