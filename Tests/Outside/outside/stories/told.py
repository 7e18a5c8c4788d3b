"""A4: people are told of an effect that can never be done, although the status reads fine."""

from ..contract import Answer
from ..misbehaviour import FOR_EVER, refuse
from ..visibility import lists_naming, metrics, risen, series
from . import story

REFUSALS = {
    "500": refuse("internal", 500), "401": refuse("unauthorized", WWW_Authenticate="Bearer"),
    "410": refuse("not-after-passed"), "429": refuse("rate-limited", Retry_After="1"), "422": refuse("key-reused"),
}
TOLD_WITHIN = 25


def refuse_for_ever(stage, verb, begin, ask):
    """Five payments whose effect `verb` is refused for ever, each in its own way, and a healthy one."""
    provider = stage.provider("card")
    daemon, shop = stage.daemon(
        (provider, {"base": "reference"}), change=lambda settings: settings.set("reconcile.default_deadline", "6s"))
    healthy = shop.pay((provider, 500)).payment
    stuck = {name: begin(shop, provider) for name in REFUSALS}
    for name, payment in stuck.items():
        key = provider.ledger.of_payment(payment)[0].key
        provider.script.on(verb, REFUSALS[name], times=FOR_EVER, where=lambda call, key=key: call.key == key)
    before = metrics(daemon)
    for payment in stuck.values():
        ask(shop, payment)
    judge_told(stage, daemon, provider, shop, verb, stuck, healthy, before)


def judge_told(stage, daemon, provider, shop, verb, stuck, healthy, before):
    def everybody_sees():
        counted = max(risen(before, metrics(daemon)).values(), default=0)
        return counted >= len(stuck) and all(lists_naming(daemon, each, healthy) for each in stuck.values())
    stage.wait_until(everybody_sees, TOLD_WITHIN)
    seen = risen(before, metrics(daemon))
    stage.check(max(seen.values(), default=0) >= len(stuck), f"metrics that count {len(stuck)}: {series(seen)}")
    for name, payment in stuck.items():
        told = shop.read(payment)
        sent = len(provider.calls(verb, provider.ledger.of_payment(payment)[0].key))
        alerts = sum(event["type"] in ("alert", "quarantined") for event in shop.events(payment))
        lists = lists_naming(daemon, payment, healthy)
        refunds = [each["state"] for each in told.body["refunds"]]
        stage.check(
            lists, f"{name}: {told.state} {refunds or ''} sent {sent} times, alerts {alerts}, lists {lists or 'none'}")
    findings = stage.judge.findings()
    stage.check(not findings, f"judge: {findings[:2] or 'no finding'}")


@story("a4-refund", "A4", "A refund is answered 500, 401, 410, 429 or 422 for ever.")
def refund(stage):
    refuse_for_ever(
        stage, "refund", lambda shop, provider: shop.pay((provider, 1000)).payment,
        lambda shop, payment: shop.refund(payment, 300, wait=0))


@story("a4-capture", "A4", "A capture is answered 500, 401, 410, 429 or 422 for ever.")
def capture(stage):
    refuse_for_ever(
        stage, "capture", lambda shop, provider: shop.pay((provider, 1000), capture="manual").payment,
        lambda shop, payment: shop.capture(payment, wait=0))


@story("a4-void", "A4", "A void is answered 500, 401, 410, 429 or 422 for ever.")
def void(stage):
    refuse_for_ever(
        stage, "void", lambda shop, provider: shop.pay((provider, 1000), capture="manual").payment,
        lambda shop, payment: shop.cancel(payment, wait=0))


@story("a4-void-lies", "A4", "A void is answered with success for ever, and the status shows the hold.")
def void_lies(stage):
    loop_visibly(stage, "void", void_nothing)


@story("a4-pending", "A4", "A sale stays pending for ever, past its deadline.")
def pending(stage):
    loop_visibly(stage, "read", never_decide)


def void_nothing(provider, shop):
    """A canceled payment whose hold no void ends."""
    payment = shop.pay((provider, 1000), capture="manual").payment

    async def act(call, execute):
        return Answer(200, provider.ledger.known_key(call.key).shown(), {})
    provider.script.on("void", act, times=FOR_EVER)
    shop.cancel(payment, wait=0)
    return payment


def never_decide(provider, shop):
    """A hold that the provider records, and never decides."""
    async def act(call, execute):
        execute()
        line = provider.ledger.known_key(call.key)
        line.status, line.held_until = "pending", None
        return Answer(202, line.shown(), {})
    provider.script.on("authorize", act)
    return shop.pay((provider, 1000), wait=1).payment


def loop_visibly(stage, verb, begin):
    provider = stage.provider("card")
    daemon, shop = stage.daemon(
        (provider, {"base": "reference"}), change=lambda settings: settings.set("reconcile.default_deadline", "4s"))
    healthy = shop.pay((provider, 500)).payment
    before = metrics(daemon)
    payment = begin(provider, shop)
    stage.wait_until(lambda: risen(before, metrics(daemon)) and lists_naming(daemon, payment, healthy), TOLD_WITHIN)
    seen, lists = risen(before, metrics(daemon)), lists_naming(daemon, payment, healthy)
    asked = len(provider.calls(verb))
    stage.check(seen, f"{shop.read(payment).state}, {verb} {asked} times; metrics for people: {series(seen)}")
    stage.check(lists, f"lists that name it: {lists or 'none'}")


@story("a4-pending-refund", "A4", "A refund stays pending for ever.")
def pending_refund(stage):
    loop_visibly(stage, "read", refund_for_ever)


@story("a4-pending-capture", "A4", "A capture stays pending for ever.")
def pending_capture(stage):
    loop_visibly(stage, "read", capture_for_ever)


def refund_for_ever(provider, shop):
    payment = shop.pay((provider, 1000)).payment
    provider.script.on("refund", leave_pending(provider, "refunds"))
    shop.refund(payment, 300, wait=0)
    return payment


def capture_for_ever(provider, shop):
    provider.script.on("capture", leave_pending(provider, "captures"))
    return shop.pay((provider, 1000), wait=1).payment


def leave_pending(provider, name):
    """The capture or refund is recorded, and never decided."""
    async def act(call, execute):
        execute()
        line = provider.ledger.known_key(call.key)
        getattr(line, name)[-1].status = "pending"
        if name == "captures":
            line.status = "authorized"
        return Answer(202, line.shown(), {})
    return act
