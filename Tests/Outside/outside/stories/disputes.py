"""D1: nothing is given back beside a dispute that is open."""

import os
import time

from ..misbehaviour import FOR_EVER, refuse
from . import story
from .mixes import honest_faults, play_mix


def charged(stage):
    """A payment of 1000 that succeeded, its provider's line, and the daemon and the shop."""
    provider = stage.provider("card")
    daemon, shop = stage.daemon((provider, {"base": "reference"}))
    told = shop.pay((provider, 1000))
    stage.check(told.state == "succeeded", f"sold: {told.state}")
    return provider, daemon, shop, told.payment, provider.ledger.of_payment(told.payment)[0]


def shown(shop, payment):
    return [each["state"] for each in shop.read(payment).body["legs"][0].get("disputes", [])]


@story("d1-known", "D1", "A dispute that a comparison found: refunds are refused until it is won.")
def known(stage):
    provider, daemon, shop, payment, line = charged(stage)
    line.dispute(provider.contract.now())
    stage.compare(daemon, provider)
    stage.check(shown(shop, payment) == ["open"], f"the payment shows {shown(shop, payment)}")
    told = shop.refund(payment, 300, key="the-refund")
    problem = told.body.get("type")
    stage.check(told.status == 409 and problem == "/problems/disputed", f"refund: {told.status} {problem}")
    stage.check(not provider.calls("refund"), f"refunds sent meanwhile: {len(provider.calls('refund'))}")
    stage.check(shop.read(payment).state == "succeeded", f"reads {shop.read(payment).state}")
    line.decide("won", provider.contract.now())
    stage.compare(daemon, provider)
    stage.check(shown(shop, payment) == ["won"], f"the payment shows {shown(shop, payment)}")
    again = shop.refund(payment, 300, key="the-refund")
    stage.check(again.state == "succeeded" and line.given_back == 300, f"refund: {again.state}, {line.given_back}")


@story("d1-unknown", "D1", "A dispute that nobody here knows of: the provider refuses, and the refund fails once.")
def unknown(stage):
    provider, daemon, shop, payment, line = charged(stage)
    line.dispute(provider.contract.now())
    told = shop.refund(payment, 300, key="first", wait=1)
    stage.check(told.status == 202, f"refund: {told.status} {told.state}; a copy of it may yet arrive")
    told = shop.until(payment, lambda body: body["refunds"][0]["state"] != "processing", 20)
    refund = told.body["refunds"][0]
    stage.check(
        refund["state"] == "failed" and refund["reason"]["code"] == "disputed", f"{refund['state']} {refund['reason']}")
    stage.check(shown(shop, payment) == ["open"], f"the payment shows {shown(shop, payment)}")
    sent = len(provider.calls("refund"))
    told = shop.refund(payment, 300, key="second")
    stage.check(told.status == 409 and len(provider.calls("refund")) == sent, f"another refund: {told.status}")
    line.decide("lost", provider.contract.now())
    stage.compare(daemon, provider)
    stage.check(shown(shop, payment) == ["lost"], f"the payment shows {shown(shop, payment)}")
    found = [each["class"] for each in stage.discrepancies(daemon) if each["payment"] == payment]
    stage.check(found == ["late_reversal"], f"discrepancies {found}")
    told = shop.refund(payment, 300, key="third", wait=8)
    stage.check(
        told.state != "succeeded" and line.net == 0,
        f"a refund of what was lost: {told.status} {told.state}, net {line.net}")


@story("d1-turned-back", "D1", "What turns a payment back waits for the end of a dispute.")
def turned_back(stage):
    card, points = stage.provider("card"), stage.provider("points")
    daemon, shop = stage.daemon((card, {"base": "reference"}), (points, {"base": "reference"}))
    card.script.on("refund", refuse("unavailable"), times=FOR_EVER)
    told = shop.pay((card, 1000), (points, 200, "capture-declined-token"), wait=1)
    stage.wait_until(lambda: card.calls("refund"), 10)
    line = card.ledger.of_payment(told.payment)[0]
    line.dispute(card.contract.now())
    stage.wait_until(lambda: shown(shop, told.payment) == ["open"], 15)
    card.script.clear()
    sent, reads = len(card.calls("refund")), len(card.calls("read"))
    read_again = stage.wait_until(lambda: len(card.calls("read")) >= reads + 3, 20)
    stage.check(read_again, f"it is read meanwhile: {len(card.calls('read')) - reads} times")
    stage.check(
        len(card.calls("refund")) == sent and line.given_back == 0,
        f"refunds sent while it is disputed: {len(card.calls('refund')) - sent}, given back {line.given_back}")
    line.decide("won", card.contract.now())
    end = shop.until_final(told.payment, 30)
    stage.check(end.state == "failed" and line.net == 0, f"ends as {end.state}, net {line.net}")
    stage.check(not stage.judge.findings(), "judge: " + ("; ".join(stage.judge.findings()) or "no finding"))


@story("d1-mix", "D1", "Payers dispute many charges while shops pay and refund, and the daemon is killed.")
def disputed_mix(stage):
    kills = int(os.environ.get("OUTSIDE_KILLS", "3"))

    def lines():
        return [(each, line) for each in stage.providers for line in list(each.ledger.lines)]

    def trouble(stage, chance, share_done):
        opened = killed = 0
        next_kill = time.monotonic() + 1
        while share_done() < 1:
            time.sleep(0.05)
            for provider, line in lines():
                now = provider.contract.now()
                if line.open_dispute and chance.random() < 0.05:
                    line.decide("won", now)
                elif line.status == "captured" and line.net > 0 and not line.open_dispute and chance.random() < 0.02:
                    line.dispute(now)
                    opened += 1
            if killed < kills and time.monotonic() > next_kill:
                stage.daemons[0].kill()
                stage.daemons[0].start()
                killed += 1
                next_kill = time.monotonic() + chance.uniform(0.3, 1.5)
        for provider, line in lines():
            if line.open_dispute:
                line.decide("won", provider.contract.now())
        stage.check(killed == kills, f"{killed} kills of {kills}")
        refused = sum(len(provider.calls("refund")) for provider in stage.providers)
        stage.check(opened > 20, f"{opened} disputes, {refused} requests to refund")
    play_mix(stage, honest_faults, trouble)
