"""A10: a provider whose clock is an hour off."""

import time

from ..misbehaviour import arrive_late
from ..visibility import metrics
from . import story

AN_HOUR = 3600
WORDS = {"base": "reference_sale", "cancel": "none"}


def soon(settings):
    settings.set("reconcile.default_deadline", "4s")


def clock_metrics(daemon):
    """What the metrics say of the provider's clock, in seconds."""
    return {name: value for name, value in metrics(daemon).items() if "clock" in name or "skew" in name}


def judge_seen(stage, daemon):
    def is_seen():
        return any(abs(value) >= AN_HOUR / 2 for value in clock_metrics(daemon).values())
    stage.check(stage.wait_until(is_seen, 6), f"the clock in the metrics: {clock_metrics(daemon) or 'nothing'}")


@story("a10-behind", "A10", "A provider's clock is an hour behind: what waited is executed after its Not-After.")
def behind(stage):
    provider = stage.provider("points", leaves_tombstones=False, clock_offset=-AN_HOUR)
    daemon, shop = stage.daemon((provider, WORDS), change=soon)
    for _ in range(3):
        shop.pay((provider, 100))
    is_late = lambda call: call.body["amount"]["value"] == 1000  # noqa: E731
    provider.script.on("sale", arrive_late(15), times=100, where=is_late)
    payment = shop.pay((provider, 1000), wait=0).payment
    shop.until_final(payment, 12)
    judge_seen(stage, daemon)
    stage.wait_until(lambda: stage.judge.net(payment), 18)
    time.sleep(1)
    told = shop.read(payment)
    finals = {each.state for each in shop.told if each.payment == payment}
    stage.check(
        not (finals & {"failed", "canceled"} and stage.judge.net(payment)),
        f"told {sorted(filter(None, finals))}, now {told.state}; charged {stage.judge.net(payment)}")


@story("a10-ahead", "A10", "A provider's clock is an hour ahead: all comes too late for it, and the trail says so.")
def ahead(stage):
    provider = stage.provider("points", clock_offset=AN_HOUR)
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}), change=soon)
    payment = shop.pay((provider, 1000), wait=1).payment
    told = shop.until_final(payment, 12)
    codes = {event["detail"].get("code") or event["detail"].get("reason") or "-" for event in shop.events(payment)}
    stage.note(f"told {told.state} {told.body.get('reason')}, charged {stage.judge.net(payment)}")
    stage.check(any("not_after" in code for code in codes), f"the trail says why: {sorted(codes)}")
    judge_seen(stage, daemon)
    findings = stage.judge.findings()
    stage.check(not findings, f"judge: {findings or 'no finding'}")


@story("n-hold-by-their-clock", "new", "A provider's clock is an hour behind: its half-hour holds have not ended.")
def hold_by_their_clock(stage):
    provider = stage.provider("card", clock_offset=-AN_HOUR, hold_life=AN_HOUR / 2)
    _, shop = stage.daemon((provider, {"base": "reference", "authorization_life": "30m"}))
    payment = shop.pay((provider, 1000), capture="manual", wait=3).payment
    time.sleep(2)
    told = shop.read(payment)
    reason = (told.body["reason"] or {}).get("code")
    held = stage.judge.held(payment)
    stage.check(told.state == "authorized", f"the provider holds {held}; told {told.state}, {reason}")
