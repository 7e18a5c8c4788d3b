"""A2: what rests `authorized` is not turned back by a comparison."""

import time

from ..ledger import Movement
from ..misbehaviour import alter, refuse
from . import story


def resting_payment(stage, change=None):
    """A manual payment that rests `authorized`, and whose deadline has passed."""
    provider = stage.provider("card")

    def shorten(settings):
        settings.set("reconcile.default_deadline", "2s")
        if change:
            change(settings)
    daemon, shop = stage.daemon((provider, {"base": "reference"}), change=shorten)
    told = shop.pay((provider, 1000), capture="manual")
    stage.check(told.state == "authorized", f"told {told.state} at first")
    time.sleep(2.2)
    return provider, daemon, shop, told.payment


def leave_out(payment):
    return lambda data: [entry for entry in data if entry["metadata"].get("payment") != payment]


def judge_still_held(stage, shop, payment, provider):
    stage.wait_until(lambda: provider.calls("void"), 3)
    told = shop.read(payment)
    voids = len(provider.calls("void"))
    stage.check(
        told.state == "authorized" and not voids, f"after the comparison it reads {told.state}; voids sent: {voids}")
    done = shop.capture(payment)
    stage.check(
        done.state == "succeeded" and stage.judge.net(payment) == 1000,
        f"its caller captures: {done.status} {done.state or done.body.get('type')}, charged {stage.judge.net(payment)}")


@story("a2-stale-absence", "A2", "One comparison misses a resting payment, and one inquiry answers 404.")
def stale_absence(stage):
    provider, daemon, shop, payment = resting_payment(stage)
    provider.script.change_page = leave_out(payment)
    provider.script.on("read", refuse("not-found"), times=1)
    stage.compare(daemon, provider)
    judge_still_held(stage, shop, payment, provider)


def stale_status(stage, status):
    """The listing and one inquiry show another status than there is."""
    provider, daemon, shop, payment = resting_payment(stage)

    def stale(body):
        body.update(status=status, authorized_until=None, reason="stale")

    def page(data):
        for entry in data:
            stale(entry)
        return data
    provider.script.change_page = page
    provider.script.on("read", alter(stale), times=1)
    stage.compare(daemon, provider)
    judge_still_held(stage, shop, payment, provider)


@story("a2-stale-decline", "A2", "The listing and one inquiry show a resting payment as declined.")
def stale_decline(stage):
    stale_status(stage, "declined")


@story("a2-stale-pending", "A2", "The listing and one inquiry show a resting payment as pending.")
def stale_pending(stage):
    stale_status(stage, "pending")


@story("a2-console-capture", "A2", "Somebody captures a resting payment at the provider's console.")
def console_capture(stage):
    provider, daemon, shop, payment = resting_payment(stage)
    line = provider.ledger.of_payment(payment)[0]
    now = provider.contract.now()
    line.captures.append(Movement("console-capture-0001", 1000, "JPY", "succeeded", now, by="console"))
    line.status, line.updated = "captured", now
    stage.compare(daemon, provider)
    stage.wait_until(lambda: line.given_back, 6)
    told = shop.read(payment)
    stage.check(
        not line.given_back, f"reads {told.state}; given back without a person: {line.given_back} of {line.taken}")
    named = [each["class"] for each in stage.discrepancies(daemon) if each["payment"] == payment]
    stage.check(named or told.state == "quarantined", f"people see it: discrepancies {named}, state {told.state}")


@story("a2-restored-copy", "A2", "An older copy is restored, untold: what its caller knows as succeeded stays.")
def restored_copy(stage):
    stage.needs_sqlite()
    provider, daemon, shop, payment = resting_payment(stage)
    daemon.kill()
    daemon.save_books("older-")
    daemon.start()
    first = shop.capture(payment, key="the-capture")
    stage.check(first.state == "succeeded", f"captured before the restore: {first.state}")
    daemon.kill()
    daemon.restore_books("older-")
    daemon.start()
    stage.compare(daemon, provider)
    line = provider.ledger.of_payment(payment)[0]
    stage.wait_until(lambda: line.given_back, 6)
    stage.check(not line.given_back, f"after the comparison {line.given_back} of {line.taken} were given back")
    again = shop.capture(payment, key="the-capture")
    stage.check(
        again.status == 200 and again.state == "succeeded",
        f"the capture repeated: {again.status} {again.state or again.body.get('type')}")


@story("a2-restored-without-row", "A2", "An older copy without the row is restored, untold; its caller repeats.")
def restored_without_row(stage):
    stage.needs_sqlite()
    provider = stage.provider("card")
    daemon, shop = stage.daemon(
        (provider, {"base": "reference"}), change=lambda settings: settings.set("reconcile.default_deadline", "6s"))
    shop.pay((provider, 1))
    daemon.kill()
    daemon.save_books("older-")
    daemon.start()
    payment = shop.pay((provider, 1000), key="the-create", capture="manual").payment
    first = shop.capture(payment, key="the-capture")
    stage.check(first.state == "succeeded", f"before the restore: {first.state}")
    daemon.kill()
    daemon.restore_books("older-")
    daemon.start()
    created = shop.pay((provider, 1000), key="the-create", capture="manual", wait=2)
    again = shop.capture(payment, key="the-capture", wait=2)
    stage.check(
        again.state == "succeeded",
        f"create repeated: {created.state}; capture repeated: {again.status} {again.state or again.body['type']}")
    line = provider.ledger.of_payment(payment)[0]
    stage.wait_until(lambda: line.given_back, 10)
    told = shop.read(payment)
    stage.check(
        not line.given_back, f"past its deadline it is {told.state}; given back {line.given_back} of {line.taken}")
