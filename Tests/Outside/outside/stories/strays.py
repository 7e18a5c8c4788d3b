"""A3: a second response on a kept-alive connection ends no other payment."""

import concurrent.futures

from . import story

SALES = 24


def sell_with_strays(stage, kind):
    provider = stage.provider("points")
    _, shop = stage.daemon((provider, {"base": "reference_sale", "concurrency": 4}))
    provider.stray_after = lambda number: kind if number % 3 == 0 else None
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: shop.pay((provider, 1000), wait=3), range(SALES)))
    refused = [(each.status, each.body) for each in answers if not each.payment]
    payments = [each.payment for each in answers if each.payment]
    stage.check(not refused, f"refused at the door: {refused[:1] or 'none'}")
    provider.stray_after = None
    states = {}
    wrong = 0
    for payment in payments:
        told = shop.until_final(payment, 6)
        states[told.state] = states.get(told.state, 0) + 1
        wrong += told.state in ("failed", "canceled") and stage.judge.net(payment) != 0
    stage.check(not wrong, f"{SALES} sales: {states}; told failed though charged: {wrong}")
    findings = stage.judge.findings()
    stage.check(not findings, f"judge: {findings[:2] or 'no finding'}")


@story("a3-stray-at-once", "A3", "A 400 without a key follows an answer in the same write.")
def at_once(stage):
    sell_with_strays(stage, "at once")


@story("a3-stray-late", "A3", "A 400 without a key follows an answer after 20 ms.")
def late(stage):
    sell_with_strays(stage, "late")


@story("a3-stray-next", "A3", "A 400 without a key arrives just as the next request on the connection does.")
def following(stage):
    sell_with_strays(stage, "next")
