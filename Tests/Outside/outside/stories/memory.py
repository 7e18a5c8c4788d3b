"""A1: an outage that outlasts the provider's memory, where the provider offers tombstones."""

import time

from ..ledger import Line
from ..misbehaviour import lose_answer, lose_request
from . import story

FORGETS_AFTER = 6
WORDS = {"key_retention": f"{FORGETS_AFTER}s", "status_retention": f"{FORGETS_AFTER}s"}
TERMS = {"key_retention": FORGETS_AFTER, "status_retention": FORGETS_AFTER}


def executed_and_unknown(stage, base):
    """One payment whose effect was executed, and of which the daemon heard nothing. The provider then goes away."""
    provider = stage.provider("memory", **TERMS)
    daemon, shop = stage.daemon(
        (provider, {"base": base, **WORDS}), change=lambda settings: settings.set("reconcile.default_deadline", "4s"))
    provider.script.on("sale authorize", lose_answer())
    told = shop.pay((provider, 1000), wait=0)
    if not stage.wait_until(lambda: provider.calls("sale authorize"), 5):
        stage.check(False, "the effect never reached the provider")
    return provider, daemon, shop, told.payment


def judge_end(stage, shop, payment):
    told = shop.until(payment, lambda body: body["state"] in ("failed", "canceled", "quarantined"), 12)
    net, held = stage.judge.net(payment), stage.judge.held(payment)
    stage.check(
        told.state not in ("failed", "canceled") or not (net or held),
        f"told {told.state}; the provider keeps {net} charged, {held} held")


def judge_comparison(stage, daemon, provider, payment):
    for turn in ("first", "second"):
        run = stage.compare(daemon, provider)
        found = [each for each in stage.discrepancies(daemon) if each["state"] != "closed"]
        named = [each["class"] for each in found if each["payment"] == payment]
        classes = run.get("counts", {}).get("by_class", {})
        closing = [balance["closing"] for balance in run.get("balances", [])]
        stage.check(
            named or run.get("proven") is not True or classes.get("in_flight"),
            f"{turn} comparison: proven {run.get('proven')}, {classes}, closing {closing}, discrepancies {named}")


@story("a1-outage-sale", "A1", "A sale is executed, its answer lost, the provider away for longer than it remembers.")
def outage_sale(stage):
    provider, daemon, shop, payment = executed_and_unknown(stage, "reference_sale")
    provider.go_away()
    time.sleep(FORGETS_AFTER + 1)
    provider.return_to_service()
    judge_end(stage, shop, payment)
    judge_comparison(stage, daemon, provider, payment)


@story("a1-outage-hold", "A1", "The same with a hold: it stays, and the caller is told that nothing is held.")
def outage_hold(stage):
    provider, _, shop, payment = executed_and_unknown(stage, "reference")
    provider.go_away()
    time.sleep(FORGETS_AFTER + 1)
    provider.return_to_service()
    judge_end(stage, shop, payment)


@story("a1-daemon-away", "A1", "The same, while the daemon is away instead of the provider.")
def daemon_away(stage):
    provider, daemon, shop, payment = executed_and_unknown(stage, "reference_sale")
    daemon.kill()
    time.sleep(FORGETS_AFTER + 1)
    daemon.start()
    judge_end(stage, shop, payment)


@story("a1-cancel", "A1", "The same, where the caller cancels while the provider is away.")
def canceled_meanwhile(stage):
    provider, _, shop, payment = executed_and_unknown(stage, "reference_sale")
    provider.go_away()
    shop.cancel(payment, wait=0)
    time.sleep(FORGETS_AFTER + 1)
    provider.return_to_service()
    judge_end(stage, shop, payment)


@story("a1-listed-money", "A1", "A listed line with money beside a tombstone is not explained away by an inquiry.")
def listed_money(stage):
    provider = stage.provider("memory")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}))
    provider.script.on("sale", lose_request())
    payment = shop.pay((provider, 1000), wait=0).payment
    shop.cancel(payment, wait=0)
    told = shop.until(payment, lambda body: body["state"] in ("failed", "canceled"), 10)
    key = provider.calls("sale")[0].key
    stage.note(f"told {told.state}; its key holds {[line.status for line in provider.ledger.of_key(key)]}")
    now = provider.contract.now()
    provider.ledger.record_apart(Line(
        key, "sale", "captured", 1000, "JPY", now, now,
        metadata={"payment": payment, "leg": "0"}))  # another region executed it all the same
    judge_comparison(stage, daemon, provider, payment)

