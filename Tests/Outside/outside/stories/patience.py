"""A9: contradictions that heal, a provider that returns, and `Retry-After` of a year."""

import time

from ..misbehaviour import FOR_EVER, refuse, wrong_amount
from ..visibility import metrics, risen, series
from . import story

A_YEAR = str(365 * 86400)


@story("a9-one-wrong-amount", "A9", "One answer shows a wrong amount; all later reads agree.")
def one_wrong_amount(stage):
    provider = stage.provider("points")
    _, shop = stage.daemon((provider, {"base": "reference_sale"}))
    provider.script.on("sale", wrong_amount())
    payment = shop.pay((provider, 1000), wait=1).payment
    end = time.monotonic() + 40
    told = shop.read(payment)
    while told.state != "succeeded" and time.monotonic() < end:
        shop.reconcile(payment, wait=1)
        time.sleep(0.5)
        told = shop.read(payment)
    agreeing = len(provider.calls("read"))
    stage.check(told.state == "succeeded", f"after {agreeing} reads that agree: {told.state}")
    trail = [event["type"] for event in shop.events(payment)]
    stage.note(f"the trail: {trail[-4:]}")


@story("a9-return", "A9", "A provider returns after an outage: what waited for it is due, not in an hour.")
def provider_returns(stage):
    provider = stage.provider("points")
    _, shop = stage.daemon((provider, {"base": "reference_sale"}), change=slow_schedule)
    provider.script.on("sale", refuse("internal", 500), times=1)
    provider.script.on("read", refuse("internal", 500), times=FOR_EVER)
    payment = shop.pay((provider, 1000), wait=0).payment
    time.sleep(0.3)
    provider.go_away()
    time.sleep(6)
    provider.script.clear()
    provider.return_to_service()
    began = time.monotonic()
    other = shop.pay((provider, 500), wait=5)
    stage.check(other.state == "succeeded", f"after the return a new payment is {other.state}")
    told = shop.until_final(payment, 12)
    seconds = time.monotonic() - began
    stage.check(told.state == "succeeded", f"{seconds:.0f} s after the return the waiting one is {told.state}")


def slow_schedule(settings):
    settings.set("reconcile.inquiry_schedule", ["500ms", "1s", "5m"])
    settings.set("reconcile.resend_schedule", ["500ms", "1s", "5m"])
    settings.set("reconcile.default_deadline", "10m")


@story("a9-retry-after", "A9", "`Retry-After` of a year is bounded by the payment's deadline and by ours.")
def retry_after(stage):
    provider = stage.provider("points")
    _, shop = stage.daemon(
        (provider, {"base": "reference_sale"}),
        change=lambda settings: settings.set("reconcile.default_deadline", "5s"))
    provider.script.on("sale", refuse("rate-limited", Retry_After=A_YEAR), times=1)
    payment = shop.pay((provider, 1000), wait=0).payment
    told = shop.until_final(payment, 15)
    stage.check(told.state in ("failed", "succeeded"), f"10 s after its deadline it is {told.state}")
    other = shop.pay((provider, 700), wait=5)
    stage.check(other.state == "succeeded", f"another payment meanwhile: {other.state}")


@story("a9-retry-after-refund", "A9", "A refund is told to come back in a year.")
def retry_after_refund(stage):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}))
    payment = shop.pay((provider, 1000)).payment
    provider.script.on("refund", refuse("rate-limited", Retry_After=A_YEAR), times=1)
    before = metrics(daemon)
    shop.refund(payment, 300, wait=0)
    told = shop.until(payment, lambda body: body["refunds"][0]["state"] != "processing", 20)
    state, seen = told.body["refunds"][0]["state"], risen(before, metrics(daemon))
    stage.check(
        state == "succeeded" or seen, f"20 s later the refund is {state}; metrics for people: {series(seen)}")
