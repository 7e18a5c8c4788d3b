"""A3 and A5: refunds and captures that were executed and refused in the same breath; refunds in quarantine."""

import time

from ..misbehaviour import FOR_EVER, execute_but_say, refuse, wrong_refund
from ..visibility import lists_naming, metrics, risen, series
from . import story


def sold(stage, **words):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale", **words}))
    told = shop.pay((provider, 1000))
    stage.check(told.state == "succeeded", f"sold: {told.state}")
    return provider, daemon, shop, told.payment


def refund_as_a_shop_does(shop, payment, value):
    """Asks for a refund, and asks once more under a new key if it is told that it failed."""
    told = shop.refund(payment, value, wait=3)
    if told.state == "failed":
        return [told, shop.refund(payment, value, wait=3)]
    return [told]


def refund_refused_though_done(stage, name):
    provider, _, shop, payment = sold(stage)
    provider.script.on("refund", execute_but_say(name))
    answers = refund_as_a_shop_does(shop, payment, 300)
    stage.wait_until(lambda: False, 2)
    line = provider.ledger.of_payment(payment)[0]
    told = shop.until(payment, lambda body: all(each["state"] != "processing" for each in body["refunds"]), 8)
    stage.check(
        line.given_back <= 300,
        f"the shop wanted 300 back and was told {[each.state for each in answers]}; given back {line.given_back}, "
        f"books {told.body['refunded']['value']}")
    stage.check(
        not stage.judge.findings(), "judge: " + ("; ".join(stage.judge.findings()) or "no finding"))


@story("a3-refund-404", "A3", "A refund is executed, and a gateway that asked elsewhere answers 404.")
def refund_404(stage):
    refund_refused_though_done(stage, "not-found")


@story("a3-refund-422", "A3", "A refund is executed, and the answer is 422 without a key.")
def refund_422(stage):
    refund_refused_though_done(stage, "amount-too-large")


@story("a3-capture-422", "A3", "A capture is executed, and the answer is 404, 422 or 400 without a key.")
def capture_refused_though_done(stage):
    provider = stage.provider("card")
    _, shop = stage.daemon((provider, {"base": "reference"}))
    for name in ("not-found", "amount-too-large", "invalid-request"):
        provider.script.on("capture", execute_but_say(name))
        payment = shop.pay((provider, 1000), wait=3).payment
        told = shop.until_final(payment, 6)
        stage.check(
            told.state == "succeeded" and stage.judge.net(payment) == 1000,
            f"{name}: told {told.state}, {stage.judge.net(payment)} of 1000 charged")


def begun_though_refused(stage, base, verb):
    """The first effect of a payment is executed, and its answer says that it was not."""
    provider = stage.provider("points")
    _, shop = stage.daemon((provider, {"base": base}))
    for name in ("invalid-request", "unknown-instrument", "body-too-large"):
        provider.script.on(verb, execute_but_say(name))
        payment = shop.pay((provider, 1000), wait=3).payment
        told = shop.until_final(payment, 6)
        net, held = stage.judge.net(payment), stage.judge.held(payment)
        stage.check(told.state == "succeeded" and net == 1000, f"{name}: told {told.state}, {net} charged, {held} held")


@story("a3-sale-400", "A3", "A sale is executed, and the answer is a 400 or 413 that names no key.")
def sale_refused_though_done(stage):
    begun_though_refused(stage, "reference_sale", "sale")


@story("a3-authorize-400", "A3", "A hold is made, and the answer is a 400 or 413 that names no key.")
def hold_refused_though_done(stage):
    begun_though_refused(stage, "reference", "authorize")


@story("a3-guard-honest", "A3", "Guard: what is refused, names no key, and was not executed still ends soon.")
def refused_and_not_done(stage):
    provider, _, shop, payment = sold(stage)
    sales = len(provider.calls("sale"))
    provider.script.on("sale", refuse("unknown-instrument"), times=FOR_EVER)
    told = shop.until_final(shop.pay((provider, 1000), wait=3).payment, 6)
    stage.check(
        told.state == "failed" and len(provider.calls("sale")) - sales <= 3,
        f"a sale of an unknown instrument: {told.state} after {len(provider.calls('sale')) - sales} requests")
    provider.script.on("refund", refuse("amount-too-large"), times=FOR_EVER)
    shop.refund(payment, 300, wait=2)
    told = shop.until(payment, lambda body: body["refunds"][0]["state"] != "processing", 8)
    state, sent = told.body["refunds"][0]["state"], len(provider.calls("refund"))
    stage.check(state == "failed" and sent <= 3, f"a refund that is too large: {state} after {sent} requests")
    stage.check(not stage.judge.findings(), f"judge: {stage.judge.findings() or 'no finding'}")


def counts_people(seen):
    return any("quarantin" in name or "people" in name or "attention" in name for name in seen)


@story("a5-quarantined-refund", "A5", "A refund that is shown with another amount for ever waits for people, visibly.")
def quarantined_refund(stage):
    provider, daemon, shop, payment = sold(stage)
    healthy = shop.pay((provider, 500)).payment
    before = metrics(daemon)
    is_this = lambda call: call.key == provider.ledger.of_payment(payment)[0].key  # noqa: E731
    provider.script.on("refund read read_refund", wrong_refund(), times=FOR_EVER, where=is_this)
    shop.refund(payment, 300, wait=1)
    told = shop.until(payment, lambda body: body["refunds"] and body["refunds"][0]["state"] != "processing", 10)
    stage.note(f"payment {told.state}, refund {told.body['refunds'][0]['state']}")
    end = time.monotonic() + 15  # Gauges are read anew every few seconds.
    seen = {}
    while not counts_people(seen) and time.monotonic() < end:
        time.sleep(0.5)
        seen = risen(before, metrics(daemon))
    lists = lists_naming(daemon, payment, healthy)
    stage.check(counts_people(seen), f"gauges that count it: {series(seen)}")
    stage.check(lists, f"lists that name it: {lists or 'none'}")
