"""Many payments at random through providers that go wrong at random, while the daemon is killed."""

import collections
import concurrent.futures
import os
import random
import time

import requests

from ..caller import FINAL, deadline_in
from ..misbehaviour import (
    FOR_EVER, arrive_late, decide_later, execute_but_say, lose_answer, lose_request, refuse, slowly, twice)
from ..stage import Skipped
from . import story

WRITES = "authorize sale capture void refund"
EVERYTHING = WRITES + " read read_capture read_refund"
KILLS = int(os.environ.get("OUTSIDE_KILLS", "3"))  # of each daemon, in `mix-honest` and `mix-keyless`
PAYMENTS = 70 + 8 * max(0, KILLS - 3)  # more kills need more that can be hit
TWO_PHASE = ("card", "plain", "slowcard", "unbound")  # the providers that hold before they take


def contracts(stage):
    """One provider for each kind of contract, with the words that the configuration has for it."""
    return [
        (stage.provider("card"), {"base": "reference"}),
        (stage.provider("points"), {"base": "reference_sale"}),
        (stage.provider("forgets", key_retention=12, status_retention=12),
         {"base": "reference_sale", "key_retention": "12s", "status_retention": "12s"}),
        (stage.provider("lags", visibility_lag=1), {"base": "reference_sale", "visibility_lag": "1s"}),
        (stage.provider("slowcard", visibility_lag=1, leaves_tombstones=False, enforces_not_after=False),
         {"base": "listed", "inquiry": "by_own_key", "visibility_lag": "1s"}),
        (stage.provider("plain", leaves_tombstones=False), {"base": "reference", "cancel": "only_if_present"}),
        (stage.provider("unbound", leaves_tombstones=False, enforces_not_after=False, binds_declines=False),
         {"base": "gmo_pg", "listing": True}),
        (stage.provider("wallet", leaves_tombstones=False, enforces_not_after=False, void_reverses_sales=True),
         {"base": "reference_sale", "cancel": "only_if_present", "enforces_not_after": False,
          "cancel_reverses_sale": True}),
    ]


def honest_faults(provider):
    """What happens to honest providers: losses, delays, repeats, refusals that say the truth."""
    return [
        (WRITES, lose_answer()), (WRITES, lose_answer()), (EVERYTHING, lose_request()), (WRITES, twice()),
        (EVERYTHING, refuse("internal", 500)), (WRITES, execute_but_say("internal", 500)),
        (EVERYTHING, refuse("rate-limited", Retry_After="1")), (EVERYTHING, refuse("unavailable", Retry_After="1")),
        (WRITES, arrive_late(1.5)), (EVERYTHING, slowly(1.2)), ("authorize sale", decide_later(provider, 1.5)),
        (EVERYTHING, refuse("unauthorized", WWW_Authenticate="Bearer")),
    ]


def misbehave(provider, faults, chance, percent):
    """Each request meets one of the faults by chance, while `provider.script` keeps this rule."""
    async def act(call, execute):
        suited = [fault for verbs, fault in faults if call.verb in verbs.split()]
        return await chance.choice(suited)(call, execute) if suited else execute()
    provider.script.on(EVERYTHING, act, times=FOR_EVER, where=lambda call: chance.random() < percent / 100)


class Crowd:
    """Shops that pay, capture, cancel and refund at random, and repeat what was not answered."""

    def __init__(self, shops, providers, seed):
        self.shops, self.providers, self.seed = shops, providers, seed
        self.keys = {}

    def one(self, number):
        """One payment's life. Returns its id."""
        chance = random.Random(f"{self.seed}-{number}")
        legs = self.legs(chance)
        manual = all(leg[0].name in TWO_PHASE for leg in legs) and chance.random() < 0.5
        words = {
            "capture": "manual" if manual else "automatic", "wait": chance.choice([0, 2]),
            "key": f"create-{number}x", "deadline": deadline_in(chance.choice([5, 12, 30]))}
        told = self.repeat(lambda: self.any_shop().pay(*legs, **words))
        if told is None or not told.payment:
            return None
        self.keys[told.payment] = (legs, words)
        time.sleep(chance.random())
        if manual and chance.random() < 0.7:
            self.repeat(lambda: self.any_shop().capture(told.payment, wait=1, key=f"capture-{number}x"))
        elif chance.random() < 0.2:
            self.repeat(lambda: self.any_shop().cancel(told.payment, wait=1, key=f"cancel-{number}x"))
        if chance.random() < 0.3 and len(legs) == 1:
            self.shop_refunds(told.payment, number, chance)
        return told.payment

    def any_shop(self):
        """The same shop, at any of the daemons."""
        return random.choice(self.shops)

    def legs(self, chance):
        chosen = chance.sample(self.providers, chance.choice([1, 1, 1, 2, 3]))
        one_phase = [each for each in chosen if each.name not in TWO_PHASE]
        legs = [each for each in chosen if each not in one_phase[1:]]
        tokens = ["token-of-somebody"] * 8 + ["declined-token", "capture-declined-token"]
        return [(each, chance.randrange(100, 900), chance.choice(tokens)) for each in legs]

    def shop_refunds(self, payment, number, chance):
        told = self.repeat(lambda: self.any_shop().read(payment))
        if told and told.state == "succeeded":
            part = max(1, told.body["captured"]["value"] // 3)
            self.repeat(lambda: self.any_shop().refund(payment, part, wait=1, key=f"refund-{number}x"))

    @staticmethod
    def repeat(send):
        """As shops do: until there is an answer, also when the daemon is down for a moment."""
        for _ in range(40):
            try:
                told = send()
                if told.status not in (500, 503) and "in-flight" not in told.body.get("type", ""):
                    return told
            except requests.RequestException:
                pass  # The daemon was killed.
            time.sleep(0.3)
        return None


def play_mix(stage, faults, trouble, percent=25, daemons=1):
    """`trouble` is done to the daemons while shops pay; it asks which share of the payments they are through with."""
    seed = int(os.environ.get("OUTSIDE_SEED", "1"))
    chance = random.Random(seed)
    entries = contracts(stage)
    daemon, shop = stage.daemon(*entries, change=lambda settings: settings.set("reconcile.allow_plug", True))
    shops = [shop] + [stage.daemon_beside(daemon)[1] for _ in range(daemons - 1)]
    providers = [entry[0] for entry in entries]
    for provider in providers:
        misbehave(provider, faults(provider), chance, percent)
    crowd = Crowd(shops, providers, seed)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        work = [pool.submit(crowd.one, number) for number in range(PAYMENTS)]
        trouble(stage, chance, lambda: sum(each.done() for each in work) / PAYMENTS)
        payments = [each.result() for each in work]
    for provider in providers:
        provider.script.clear()
    judge_rest(stage, shop, crowd, [each for each in payments if each])


def kill_each(stage, chance, share_done):
    """Three times, when a quarter, a half and three quarters are done, however fast shops are; more kills than that
    come at any moment."""
    planned = KILLS * len(stage.daemons)
    killed = 0
    while killed < planned:
        if KILLS <= 3:
            stage.wait_until(lambda: share_done() >= (killed + 1) / (planned + 1), 60)
        else:
            time.sleep(chance.uniform(0.1, 1.5))
        if share_done() == 1:
            break
        daemon = stage.daemons[killed % len(stage.daemons)]
        daemon.kill()
        daemon.start()
        killed += 1
    stage.check(killed == planned, f"{killed} kills of {planned}, each while shops pay")


def freeze_or_kill(stage, chance, _):
    """Pauses are longer than a lease, so that the other daemon takes over what was begun."""
    for _ in range(4):
        daemon = chance.choice(stage.daemons)
        time.sleep(1.5)
        if chance.random() < 0.7:
            daemon.freeze()
            time.sleep(4)
            daemon.thaw()
        else:
            daemon.kill()
            daemon.start()


def judge_rest(stage, shop, crowd, payments):
    """Once the faults stop, everything comes to rest and agrees with the ledgers."""
    def open_ones():
        return [each for each in payments if shop.read(each).state in ("processing", "canceling")]
    stage.wait_until(lambda: not open_ones(), 20)
    for payment in open_ones():
        shop.reconcile(payment, wait=1)
    states = collections.Counter(shop.read(each).state for each in payments)
    stage.note(f"seed {os.environ.get('OUTSIDE_SEED', '1')}, {len(payments)} payments: {dict(states)}")
    stage.check(not open_ones(), f"still open: {open_ones()[:3]}")
    quarantined = [each for each in payments if shop.read(each).state == "quarantined"]
    stage.note("quarantined: " + str([reasons(shop, each) for each in quarantined][:4]))
    findings = stage.judge.findings()
    stage.check(not findings, "judge: " + ("; ".join(findings[:4]) or "no finding"))
    judge_replays(stage, shop, crowd, payments)
    with_people = [
        each for each in payments if any(one["state"] == "quarantined" for one in shop.read(each).body["refunds"])]
    judge_comparisons(stage, shop.daemon, with_people)
    trails = shop.daemon.command("payments", "verify")
    stage.check(trails.returncode == 0, f"audit trails: {(trails.stdout + trails.stderr).strip()[-100:]}")


def judge_replays(stage, shop, crowd, payments):
    """The same key has the same answer, and moves nothing."""
    before = sum(line.net for provider in stage.providers for line in provider.ledger.lines)
    other = []
    for payment in payments[::5]:
        legs, words = crowd.keys[payment]
        now = shop.read(payment)
        again = shop.pay(*legs, **{**words, "wait": 1})
        if again.status == 422 or (now.state in FINAL and again.state not in (*FINAL, "authorized")):
            other.append(f"{payment}: {again.status} {again.state}")
    after = sum(line.net for provider in stage.providers for line in provider.ledger.lines)
    stage.check(before == after, f"creates repeated at the end moved {after - before}")
    stage.check(not other, f"repeated creates: {other[:3] or 'answered as before'}")


def judge_comparisons(stage, daemon, with_people):
    """Both sides agree, and the comparison says so, but for refunds that are there and here with people."""
    runs = stage.compare_all(daemon, stage.providers)
    for provider, run in zip(stage.providers, runs):
        if run["state"] != "completed" or run["proven"] is not True:
            stage.check(False, f"{provider.name}: {run['state']}, proven {run.get('proven')}, {run.get('balances')}")
            continue
        theirs = sum(balance["closing"]["theirs"] for balance in run["balances"])
        net = sum(line.net for line in provider.ledger.lines)
        stage.check(theirs == net, f"{provider.name}: {run['counts']['by_class']}, theirs {theirs}, the ledger {net}")
    found = [
        (each["provider"], each["class"], each["payment"]) for each in stage.discrepancies(daemon)
        if each["state"] != "closed"]
    unexplained = [each for each in found if each[1] != "late_reversal" or each[2] not in with_people]
    stage.note(f"refunds with people: {with_people}, their discrepancies: {len(found) - len(unexplained)}")
    stage.check(not unexplained, f"discrepancies: {unexplained or 'none'}")


def reasons(shop, payment):
    legs = shop.read(payment).body["legs"]
    return [(leg["provider"], leg["reason"]) for leg in legs if leg["state"] == "quarantined"]


def untrue_refusals(provider):
    names = ("not-found", "amount-too-large", "invalid-request")
    return honest_faults(provider) + 4 * [(WRITES, execute_but_say(name)) for name in names]


@story("mix-honest", "mix", "Payments at random, honest faults in 25 of 100 requests, kills.")
def honest(stage):
    play_mix(stage, honest_faults, kill_each)


@story("mix-keyless", "mix", "The same, with refusals that name no key after an execution.")
def keyless(stage):
    play_mix(stage, untrue_refusals, kill_each)


@story("mix-two-daemons", "mix", "The same, with two daemons on one store, which are frozen and killed.")
def two_daemons(stage):
    if not stage.postgres:
        raise Skipped("two daemons share a store only in PostgreSQL")
    play_mix(stage, honest_faults, freeze_or_kill, daemons=2)
