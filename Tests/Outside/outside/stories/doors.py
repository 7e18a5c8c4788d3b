"""New findings, and guards: what comes in by the doors of the daemon."""

import collections
import random
import re
import time
import uuid

from ..ledger import Line, Movement, instant
from ..misbehaviour import lose_answer, refuse
from ..stage import Skipped
from . import story


def looks_like_a_card(text):
    """Whether a run of 13 to 19 digits, across single hyphens, passes the Luhn check by chance."""
    for run in re.findall(r"\d+(?:-\d+)*", text):
        groups = run.split("-")
        for start in range(len(groups)):
            for end in range(start + 1, len(groups) + 1):
                digits = "".join(groups[start:end])
                if 13 <= len(digits) <= 19 and digits[0] != "0" and luhn(digits):
                    return True
    return False


def luhn(digits):
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if position % 2 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def unlucky_keys(count):
    """UUIDs of version 4, as libraries make them, whose digits pass by chance; about 1 of 400."""
    chance, found, drawn = random.Random(1), [], 0
    while len(found) < count:
        drawn += 1
        key = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        if looks_like_a_card(key):
            found.append(key)
    return found, drawn


@story("n-uuid-keys", "new", "An Idempotency-Key that is a UUID is taken, whatever its digits add up to.")
def uuid_keys(stage):
    provider = stage.provider("points")
    _, shop = stage.daemon((provider, {"base": "reference_sale"}))
    keys, drawn = unlucky_keys(5)
    refused = [told.body["type"] for told in (shop.pay((provider, 100), key=key) for key in keys) if told.status == 422]
    stage.check(not refused, f"of {drawn} UUIDs {len(refused)} are refused for ever: {set(refused) or 'none'}")


@story("self-judge", "self", "The judge sees each harm that is planted in the ledger, and none before.")
def judge_sees(stage):
    provider = stage.provider("points")
    _, shop = stage.daemon((provider, {"base": "reference_sale"}))
    payments = [shop.pay((provider, 1000)).payment for _ in range(3)]
    shop.refund(payments[0], 300)
    failed = shop.pay((provider, 1000, "declined-token")).payment
    stage.check(not stage.judge.findings(), f"at first: {stage.judge.findings() or 'no finding'}")
    lines = [provider.ledger.of_payment(payment)[0] for payment in (*payments, failed)]
    lines[0].refunds.append(Movement("surplus-refund-0001", 800, "JPY", "succeeded", 0))
    provider.ledger.record_apart(Line(lines[1].key, "sale", "captured", 7, "JPY", 0, 0, metadata=lines[1].metadata))
    lines[2].status = "voided"
    lines[3].status = "captured"
    found = "; ".join(stage.judge.findings())
    for words, payment in zip(("given back", "charged twice", "told succeeded", "told failed"), (*payments, failed)):
        stage.check(any(words in each and payment in each for each in found.split("; ")), f"seen: {words}")


@story("n-restored-cancel", "new", "After a told restore, what its caller was told as canceled does not become failed.")
def restored_cancel(stage):
    stage.needs_sqlite()
    provider = stage.provider("card")
    daemon, shop = stage.daemon((provider, {"base": "reference"}))
    payment = shop.pay((provider, 1000), capture="manual").payment
    daemon.kill()
    daemon.save_books("older-")
    daemon.start()
    shop.cancel(payment, key="the-cancel")
    daemon.kill()
    daemon.restore_books("older-")
    daemon.settings.set("store.recovery", {"kind": "restore", "at": instant(time.time())})
    daemon.start()
    time.sleep(4)
    stage.compare(daemon, provider)
    shop.until(payment, lambda body: body["state"] not in ("authorized", "processing", "canceling"), 10)
    again = shop.cancel(payment, key="the-cancel")
    stage.check(
        again.state == "canceled", f"its caller repeats the cancel: {again.status} {again.state or again.body['type']}")
    stage.check(not stage.judge.findings(), f"judge: {stage.judge.findings() or 'no finding'}")


@story("n-phases-change", "new", "A contract turns from one phase to two: what was sold before can be refunded.")
def phases_change(stage):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}))
    payment = shop.pay((provider, 1000)).payment
    daemon.kill()
    daemon.settings.tree["providers"][0]["contract"]["phases"] = "authorize_capture"
    code, words = daemon.check()
    stage.note(f"check-config: {code}, {words.splitlines()[-1][:80]}")
    daemon.start()
    told = shop.refund(payment, 300, wait=4)
    stage.check(told.state == "succeeded", f"a refund of what was sold before: {told.state}")
    run = stage.compare(daemon, provider)
    stage.check(set(run["counts"]["by_class"]) == {"matched"}, f"the comparison: {run['counts']['by_class']}")
    other = shop.pay((provider, 500))
    stage.check(other.state == "succeeded", f"a new payment is {other.state}, as {provider.ledger.lines[-1].kind}")


@story("n-half-configured", "new", "A daemon without a provider leaves its payments to the daemon that has it.")
def half_configured(stage):
    if not stage.postgres:
        raise Skipped("two daemons share a store only in PostgreSQL")
    old, new = stage.provider("card"), stage.provider("points")
    daemon, shop = stage.daemon((old, {"base": "reference"}), (new, {"base": "reference_sale"}))
    beside, _ = stage.daemon_beside(
        daemon, lambda settings: settings.tree["providers"].pop())  # as before a rolling change of the configuration
    new.script.on("sale", lose_answer(), times=10)
    new.script.on("read", refuse("internal", 500), times=12)
    payments = [shop.pay((new, 1000), wait=0).payment for _ in range(10)]

    def open_ones():
        return [each for each in payments if shop.read(each).state != "succeeded"]
    stage.wait_until(lambda: not open_ones(), 25)
    states = collections.Counter(shop.read(each).state for each in payments)
    claims = beside.words().count("a provider that is not configured")
    stage.check(
        not open_ones() and claims == 0, f"after at most 25 s: {dict(states)}, deadline 20 s; "
        f"the daemon without the provider took them {claims} times")
