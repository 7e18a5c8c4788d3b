"""A11: two stores on one provider account, keys in other spellings, and sales that were partly refunded."""

import time

from ..ledger import Line, Movement
from ..misbehaviour import FOR_EVER, first
from . import story

SALES = 6


def undoing(settings):
    settings.set("reconcile.comparison.policy", {"orphan": "undo after 0s", "duplicate": "undo after 0s"})


def two_stores(stage, change):
    provider = stage.provider("points")
    entry = (provider, {"base": "reference_sale"})
    stores = [stage.daemon(entry, name=name, change=change) for name in ("east", "west")]
    payments = [shop.pay((provider, 1000)).payment for _, shop in stores for _ in range(SALES)]
    for daemon, _ in stores:
        stage.compare(daemon, provider)
    return provider, stores, payments


@story("a11-two-stores-undo", "A11", "Two stores on one provider account, with `orphan: undo`.")
def two_stores_undo(stage):
    provider, _, payments = two_stores(stage, undoing)
    stage.wait_until(lambda: any(line.given_back for line in provider.ledger.lines), 6)
    time.sleep(1)
    back = sum(stage.judge.given_back(payment) > 0 for payment in payments)
    stage.check(not back, f"of {len(payments)} payments that were told succeeded {back} were given back")


@story("a11-two-stores-tell", "A11", "Two stores on one provider account: the other's payments are no alarm.")
def two_stores_tell(stage):
    _, stores, _ = two_stores(stage, None)
    for daemon, _ in stores:
        found = [each["class"] for each in stage.discrepancies(daemon)]
        stage.check(
            not [name for name in found if name in ("orphan", "duplicate")],
            f"{daemon.settings.directory.name}: discrepancies {found[:3]} ({len(found)})")


@story("a11-lower-case", "A11", "A provider lists keys in lower case, with `duplicate: undo`.")
def lower_case(stage):
    provider = stage.provider("points")

    def spell_low(data):
        for entry in data:
            entry["key"] = entry["key"].lower()
        return data
    provider.script.change_page = spell_low
    accept_any_case(provider)
    daemon, shop = stage.daemon(
        (provider, {"base": "reference_sale", "key_format": "base32of26"}), change=undoing)
    payments = [shop.pay((provider, 1000)).payment for _ in range(3)]
    run = stage.compare(daemon, provider)
    stage.wait_until(lambda: any(line.given_back for line in provider.ledger.lines), 6)
    back = sum(stage.judge.given_back(payment) > 0 for payment in payments)
    stage.check(not back, f"{run['counts']['by_class']}: of {len(payments)} successes {back} were given back")
    found = [each["class"] for each in stage.discrepancies(daemon)]
    stage.check(not found, f"discrepancies: {found or 'none'}")


def accept_any_case(provider):
    """A key in any spelling reaches its line, and the answer spells it as it was asked for."""
    known, status = provider.ledger.known_key, provider.ledger.known_status
    provider.ledger.known_key = lambda key: known(key) or known(key.upper())
    provider.ledger.known_status = lambda key: status(key) or status(key.upper())

    async def spell_as_asked(call, execute):
        answer = execute()
        if not answer.is_problem:
            answer.body["key"] = call.key
        return answer
    provider.script.on("read refund read_refund void", spell_as_asked, times=FOR_EVER)


@story("a11-unnamed", "A11", "A transaction that names a payment and no store is not undone by itself.")
def unnamed(stage):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}), change=undoing)
    shop.pay((provider, 500))
    now = provider.contract.now()
    line = provider.ledger.record(Line(
        "k" * 40, "sale", "captured", 1000, "JPY", now, now,
        metadata={"payment": "pay_" + "a" * 40, "leg": "0", "planted": "yes"}))
    stage.compare(daemon, provider)
    stage.wait_until(lambda: line.given_back, 6)
    stage.check(not line.given_back, f"given back {line.given_back} of {line.taken}")


@story("a11-partly-refunded", "A11", "A sale that was partly refunded is not reversed as a whole.")
def partly_refunded(stage):
    card = stage.provider("card")
    wallet = stage.provider("wallet", void_reverses_sales=True)
    _, shop = stage.daemon(
        (card, {"base": "reference"}), (wallet, {"base": "reference_sale", "cancel_reverses_sale": True}))

    def trouble(call):
        """At both consoles: the hold is voided, and a part of the sale refunded."""
        hold, sale = card.ledger.known_key(call.key), wallet.ledger.lines[0]
        hold.status, hold.updated = "voided", card.contract.now()
        sale.refunds.append(Movement("console-refund-0001", 300, "JPY", "succeeded", sale.updated, by="console"))
    card.script.on("capture", first(trouble))
    payment = shop.pay((card, 500), (wallet, 1000), wait=5).payment
    told = shop.until_final(payment, 10)
    sale = wallet.ledger.lines[0]
    stage.check(
        sale.given_back <= sale.taken,
        f"told {told.state}; of {sale.taken} sold {sale.given_back} were given back (300 of it at the console)")
    stage.check(told.state != "failed" or sale.net == 0, f"{sale.net} kept, told {told.state}")
