"""A8: a plain decline ends as failed, also where declines are not bound to their key."""

from . import story

MOST_REQUESTS = 3


def decline_plainly(stage, base, **terms):
    provider = stage.provider("shop", binds_declines=False, leaves_tombstones=False, enforces_not_after=False, **terms)
    daemon, shop = stage.daemon(
        (provider, {"base": base}), (stage.provider("other"), {"base": "reference_sale"}), start=False,
        change=lambda settings: settings.set("reconcile.allow_plug", True))
    code, words = daemon.check()
    if code != 0:
        stage.check(True, f"the contract is refused: {words[-200:]}")
        return
    daemon.start()
    payment = shop.pay((provider, 1000, "unbound-and-poor"), wait=2).payment
    told = shop.until(payment, lambda body: body["state"] in ("failed", "quarantined"), 20)
    sent = len(provider.calls("sale authorize"))
    stage.check(told.state == "failed", f"told {told.state}: {(told.body.get('reason') or {}).get('code')}")
    stage.check(sent <= MOST_REQUESTS, f"requests that may charge: {sent}, at most {MOST_REQUESTS}")
    stage.check(not stage.judge.net(payment), f"charged {stage.judge.net(payment)}")


@story("a8-paypay", "A8", "A plain decline under a contract shaped like PayPay's.")
def paypay(stage):
    decline_plainly(stage, "paypay", void_reverses_sales=True)


@story("a8-gmo-pg", "A8", "A plain decline under a contract shaped like GMO-PG's.")
def gmo_pg(stage):
    decline_plainly(stage, "gmo_pg")
