"""D2: two people decide what a provider has beyond the books, and what waits in a payment; or nobody does."""

import concurrent.futures
import os
import random
import secrets
import time

import requests

from ..ledger import Line, Movement
from ..misbehaviour import FOR_EVER, wrong_amount
from ..settings import digest
from . import story

APPROVERS = {name: secrets.token_hex(16) for name in ("ken", "mia", "ben")}


def approvers(settings):
    for name, token in APPROVERS.items():
        settings.tree["admin"]["operators"].append({"name": name, "role": "approver", "token_sha256": digest(token)})


def as_person(daemon, name, path, body):
    answer = requests.post(
        daemon.admin + path, json=body, headers={"Authorization": f"Bearer {APPROVERS[name]}"}, timeout=5)
    return answer.status_code, answer.json()


def stranger(provider, payment, value):
    """A charge in the name of a payment that nobody has."""
    now = provider.contract.now()
    metadata = {
        name: "pay_" + secrets.token_hex(20) if text == payment else text
        for name, text in provider.ledger.of_payment(payment)[0].metadata.items()}
    return provider.ledger.record(
        Line("ORPHAN" + secrets.token_hex(8).upper(), "sale", "captured", value, "JPY", now, now, metadata=metadata))


def opened(stage, *values):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}), change=approvers)
    payment = shop.pay((provider, 1000)).payment
    lines = [stranger(provider, payment, value) for value in values]
    stage.compare(daemon, provider)
    found = {}
    for each in stage.discrepancies(daemon):
        found[each["subject"].get("key")] = each
    classes = [found.get(line.key, {}).get("class") for line in lines]
    stage.check(classes == ["orphan"] * len(lines), f"classes {classes}")
    return provider, daemon, payment, lines, [found[line.key] for line in lines]


def propose(daemon, found, action="undo"):
    return daemon.order("/v1/repairs", {
        "discrepancy_id": found["id"], "action": action, "version": found["version"],
        "evidence": {"text": "No shop of ours sold it."}})


def now(stage, daemon, found):
    return next(each for each in stage.discrepancies(daemon) if each["id"] == found["id"])


def undone(stage, daemon, provider, line, timeout=20):
    """Compares until it is given back."""
    end = time.monotonic() + timeout
    while not line.given_back and time.monotonic() < end:
        stage.compare(daemon, provider)
    return line.given_back


@story("d2-undone", "D2", "Two people have an orphan undone; the daemon is killed as soon as it said yes.")
def undone_by_two(stage):
    provider, daemon, payment, (line, other), (found, _) = opened(stage, 700, 300)
    status, repair = propose(daemon, found)
    stage.check(status == 201 and repair["state"] == "proposed", f"proposed: {status} {repair.get('state')}")
    path = f"/v1/repairs/{repair['id']}/approve"
    own, _ = daemon.order(path, {"reason": "I am sure."})
    stage.compare(daemon, provider)
    stage.check(own == 403 and not line.given_back, f"by the same person: {own}, given back {line.given_back}")
    status, decided = as_person(daemon, "ken", path, {"reason": "I asked all shops."})
    daemon.kill()
    stage.check(status == 200 and decided["state"] == "approved", f"approved: {status} {decided.get('state')}")
    daemon.start()
    undone(stage, daemon, provider, line)
    closed = stage.wait_until(
        lambda: stage.compare(daemon, provider) and now(stage, daemon, found)["state"] == "closed", 20)
    reason = now(stage, daemon, found)["close_reason"]
    stage.check(line.given_back == 700 and closed and reason == "undone", f"given back {line.given_back}, {reason}")
    stage.check(not other.given_back, f"of the other one given back: {other.given_back}")
    sold = provider.ledger.of_payment(payment)[0]
    stage.check(not sold.given_back, f"of what was sold given back: {sold.given_back}")
    again, problem = as_person(daemon, "ken", path, {"reason": "Once more."})
    stage.check(again == 409, f"a second yes: {again} {problem.get('detail')}")


@story("d2-changed", "D2", "What changed after two people ordered it is looked at again, and not undone.")
def changed(stage):
    provider, daemon, _, (line,), (found,) = opened(stage, 700)
    _, repair = propose(daemon, found)
    # Its merchant gives a part back by hand, before the second person says yes.
    moment = provider.contract.now()
    line.refunds.append(Movement("BYHAND", 200, "JPY", "succeeded", moment, by="console"))
    line.updated = moment
    stage.compare(daemon, provider)
    status, problem = as_person(daemon, "ken", f"/v1/repairs/{repair['id']}/approve", {"reason": "I asked all shops."})
    stage.check(status == 409, f"approved on other facts: {status} {problem.get('detail')}")
    status, repair = propose(daemon, now(stage, daemon, found))
    stage.check(status == 201, f"proposed anew: {status} {repair.get('state')}")
    # And the rest after it.
    line.refunds.append(Movement("BYHAND2", 100, "JPY", "succeeded", provider.contract.now(), by="console"))
    line.updated = provider.contract.now()
    status, _ = as_person(daemon, "ken", f"/v1/repairs/{repair['id']}/approve", {"reason": "I asked all shops."})
    stage.compare(daemon, provider)
    stage.compare(daemon, provider)
    seen = now(stage, daemon, found)
    stage.check(
        status == 200 and line.given_back == 300 and not provider.calls("refund"),
        f"{status}, given back {line.given_back}, asked for {len(provider.calls('refund'))}")
    stage.check(
        seen["state"] == "open" and seen["suggested_action"] == "tell", f"{seen['state']} {seen['suggested_action']}")


@story("d2-written-off", "D2", "A write-off by two closes a discrepancy until something changes, and moves nothing.")
def written_off(stage):
    provider, daemon, _, (line,), (found,) = opened(stage, 700)
    _, repair = propose(daemon, found, "write_off")
    status, _ = as_person(daemon, "ken", f"/v1/repairs/{repair['id']}/approve", {"reason": "Too small to chase."})
    stage.compare(daemon, provider)
    seen = now(stage, daemon, found)
    stage.check(status == 200 and seen["state"] == "closed", f"{status} {seen['state']} {seen['close_reason']}")
    line.value, line.updated = 900, provider.contract.now()
    stage.compare(daemon, provider)
    stage.check(now(stage, daemon, found)["state"] == "open", f"changed: {now(stage, daemon, found)['state']}")
    stage.check(not line.given_back, f"given back {line.given_back}")


# What a payment's own leg waits for.
def approve(daemon, repair, name):
    """The status of one person's yes; nothing where the daemon died of it."""
    try:
        return as_person(daemon, name, f"/v1/repairs/{repair}/approve", {"reason": f"{name} read it."})[0]
    except requests.RequestException:
        return None


def one_provider(stage):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}), change=approvers)
    return provider, daemon, shop


def sold_and_contradicted(stage, provider, shop):
    """A sale of 1000 of which its provider shows another amount, and mends its answers once people are asked."""
    provider.script.on("sale read", wrong_amount(), times=FOR_EVER)
    payment = shop.pay((provider, 1000), wait=1).payment
    is_with_people = shop.until(payment, lambda body: body["state"] == "quarantined", 15).state == "quarantined"
    provider.script.clear()
    if not is_with_people:
        stage.check(False, f"{payment} is {shop.read(payment).state}")
    return payment


def propose_leg(daemon, payment, action, **evidence):
    version = daemon.ask(f"/v1/payments/{payment}/explanation")[1]["version"]
    return daemon.order("/v1/repairs", {
        "payment_id": payment, "leg": 0, "action": action, "version": version, "against_provider": True,
        "evidence": {"text": "Their mail of today.", "reference": "RV-1", **evidence}})


def resolved(shop, payment):
    return [each for each in shop.events(payment) if each["type"] == "resolved"]


@story("d2-leg-raced", "D2", "Three people approve one repair at once, and the daemon is killed: it is done once.")
def leg_raced(stage):
    chance = random.Random(int(os.environ.get("OUTSIDE_SEED", "1")))
    provider, daemon, shop = one_provider(stage)
    answers, wrong = [], []
    for _ in range(max(4, int(os.environ.get("OUTSIDE_KILLS", "3")))):
        payment = sold_and_contradicted(stage, provider, shop)
        status, repair = propose_leg(daemon, payment, "charged", amount={"value": 1000, "currency": "JPY"})
        if status != 201:
            wrong.append(f"proposed: {status} {repair}")
            continue
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(approve, daemon, repair["id"], name) for name in APPROVERS]
            time.sleep(chance.uniform(0, 0.03))
            daemon.kill()
            said = [each.result() for each in asked]
        daemon.start()
        said.append(approve(daemon, repair["id"], "ken"))
        answers.append(said)
        state = shop.until_final(payment, 15).state
        decisions = resolved(shop, payment)
        line = provider.ledger.of_payment(payment)[0]
        if said.count(200) > 1 or len(decisions) != 1 or state != "succeeded" or line.net != 1000:
            wrong.append(f"{payment} {state}: {said}, {len(decisions)} decisions, net {line.net}")
    stage.note(f"answers: {answers}")
    stage.check(not wrong, f"of {len(answers)} repairs went wrong: {wrong or 'none'}")
    stage.check(len(provider.calls("sale")) == len(answers), f"{len(provider.calls('sale'))} sales")
    trails = daemon.command("payments", "verify")
    stage.check(trails.returncode == 0, f"audit trails: {(trails.stdout + trails.stderr).strip()[-100:]}")


@story("d2-leg-erred", "D2", "Two people say of a charge that it never was: it is found, and its payer gets it back.")
def leg_erred(stage):
    provider, daemon, shop = one_provider(stage)
    payment = sold_and_contradicted(stage, provider, shop)
    _, repair = propose_leg(daemon, payment, "never_charged")
    own, _ = daemon.order(f"/v1/repairs/{repair['id']}/approve", {"reason": "I am sure."})
    stage.check(own == 403 and shop.read(payment).state == "quarantined", f"by the same person: {own}")
    status = approve(daemon, repair["id"], "mia")
    state = shop.until_final(payment, 15).state
    stage.check(status == 200 and state == "failed", f"approved: {status}, {state}")
    line = provider.ledger.of_payment(payment)[0]
    undone(stage, daemon, provider, line, 30)
    stage.check(line.net == 0, f"net {line.net}, given back {line.given_back}")
    stage.check(len(provider.calls("sale")) == 1, f"{len(provider.calls('sale'))} sales")
    stage.check(resolved(shop, payment)[0]["detail"].get("against_provider") == "yes", "marked for ever")
