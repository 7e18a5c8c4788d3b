"""What a checkout may not do. Each rule looks at one order; the rule's name stands in the report."""

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

from kit.proxy import Seen
from kit.run import Outcome

FINAL = ("succeeded", "failed", "canceled")
TOLD = {"paid": ("succeeded",), "failed": ("failed", "canceled")}
MOST_IN_A_SECOND = 5
DEFECT = "This is a defect of the daemon. Please report it."


@dataclasses.dataclass
class Case(Outcome):
    """Everything that is known of one order."""

    # The daemon's payments whose reference is the order, oldest first.
    payments: list[dict[str, Any]]
    # The transactions at the simulator that belong to these payments.
    transactions: list[dict[str, Any]]

    @property
    def creates(self) -> list[Seen]:
        return [seen for seen in self.seen if seen.creates]

    @property
    def result(self) -> str | None:
        return None if self.end.said is None else str(self.end.said["result"])

    def charges(self) -> list[int]:
        return [charge["amount"]["value"] for entry in self.transactions for charge in entry["charges"]]

    def net(self) -> int:
        return sum(entry["net"] for entry in self.transactions)


def ends(case: Case) -> Iterator[str]:
    if case.end.why_not is not None:
        yield case.end.why_not


def says_the_end(case: Case) -> Iterator[str]:
    if case.end.why_not is None and case.end.said is None:
        yield ("It ended with 0, and did not print one JSON line with this order and `result` paid or failed. "
               f"It printed: {case.end.output.strip()[:200] or 'nothing'}")


def speaks_http(case: Case) -> Iterator[str]:
    if case.malformed:
        yield f"It sent something that is not HTTP/1.1. {case.malformed[0]}"


def has_a_payment(case: Case) -> Iterator[str]:
    if not case.payments and case.result is not None:
        yield f"It told {case.result}, and the daemon has no payment with the reference {case.order}."


def one_payment(case: Case) -> Iterator[str]:
    if len(case.payments) > 1:
        states = ", ".join(f"{payment['id'][:12]}… ({payment['state']})" for payment in case.payments)
        yield f"The daemon has {len(case.payments)} payments of this order: {states}."


def one_charge(case: Case) -> Iterator[str]:
    charges = case.charges()
    if len(charges) > 1:
        yield f"The provider's ledger has {len(charges)} charges of this order: {charges}, net {case.net()} JPY."


def right_amount(case: Case) -> Iterator[str]:
    for payment in case.payments:
        if payment["amount"] != {"value": case.plan.amount, "currency": "JPY"}:
            yield f"The order has {case.plan.amount} JPY, and a payment has {payment['amount']}."


def right_request(case: Case) -> Iterator[str]:
    """Whether each create is about this order: found by its reference, at its provider, by its instrument."""
    expected = (case.order, case.plan.provider, case.plan.instrument)
    for seen in case.creates:
        document = seen.document if isinstance(seen.document, dict) else {}
        legs = document.get("legs") or [{}]
        sent = (document.get("reference"), legs[0].get("provider"), legs[0].get("instrument"))
        if len(legs) != 1 or sent != expected:
            yield f"Request {seen.number} has reference, provider and instrument {sent}. The order has {expected}."
            return


def settled(case: Case) -> Iterator[str]:
    for payment in case.payments:
        if payment["state"] not in FINAL:
            yield f"The payment {payment['id']} is still {payment['state']} after the wait of the judge."


def tells_the_state(case: Case) -> Iterator[str]:
    if case.result is None or len(case.payments) != 1 or case.payments[0]["state"] not in FINAL:
        return
    payment = case.payments[0]
    if payment["state"] not in TOLD[case.result]:
        yield f"It told {case.result}, and the payment is {payment['state']}. The provider charged {case.net()} JPY."


def names_the_payment(case: Case) -> Iterator[str]:
    if case.end.said is None or len(case.payments) != 1:
        return
    if case.end.said.get("payment") != case.payments[0]["id"]:
        yield f"It named the payment {case.end.said.get('payment')}, and the order's is {case.payments[0]['id']}."


def knows_what_it_tells(case: Case) -> Iterator[str]:
    """Whether an answer that reached the checkout showed the end that it told."""
    if case.result is None:
        return
    answered = [seen for seen in case.seen if seen.answered is not None]
    if any(state in TOLD[case.result] for seen in answered for state in seen.states.values()):
        return
    last = answered[-1] if answered else None
    if last is None:
        yield f"It told {case.result}, and had no answer at all."
        return
    state = ", ".join(last.states.values())
    shown = f"{last.status} with the state {state}" if state else f"{last.status} without a payment"
    yield f"It told {case.result}, and no answer had said so. The last answer was {shown}."


def has_a_key(case: Case) -> Iterator[str]:
    without = [seen for seen in case.creates if not seen.key]
    if without:
        yield f"Request {without[0].number} creates a payment without an Idempotency-Key."


def before(case: Case, seen: Seen) -> str:
    """What happened between a create and the one before it."""
    earlier = [other for other in case.creates if other.number < seen.number][-1]
    if earlier.start != seen.start:
        return f"Start {earlier.start} was killed {case.starts[earlier.start - 1].killed or 'by nobody'}."
    if earlier.answered is None:
        return f"Request {earlier.number} had no answer."
    return f"Request {earlier.number} had {earlier.status}."


def one_key(case: Case) -> Iterator[str]:
    keyed = [seen for seen in case.creates if seen.key]
    other = next((seen for seen in keyed if seen.key != keyed[0].key), None)
    if other is None:
        return
    count = len({seen.key for seen in keyed})
    yield (f"It sent {count} keys for one order. {before(case, other)} "
           f"Then request {other.number} had the key `{other.key}`, and before it was `{keyed[0].key}`.")


def one_request(case: Case) -> Iterator[str]:
    """Whether each key names one request: the same JSON, in whatever order."""
    first: dict[str, Seen] = {}
    for seen in case.creates:
        earlier = first.setdefault(seen.key or "", seen)
        if seen.key and json.dumps(seen.document, sort_keys=True) != json.dumps(earlier.document, sort_keys=True):
            yield (f"Requests {earlier.number} and {seen.number} have the same key and another body. "
                   f"{differing(earlier.document, seen.document)} The daemon refuses the second one.")
            return


def differing(first: Any, second: Any) -> str:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return "They have no member in common."
    names = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    return f"They differ in {', '.join(names)}."


def obeys_retry_after(case: Case) -> Iterator[str]:
    """Answers that name a time did nothing, or cannot say more before it. A new start need not know of it."""
    for seen in case.seen:
        if seen.status not in (409, 429, 503) or not seen.retry_after or seen.answered is None:
            continue
        following = [other for other in case.seen if other.start == seen.start and other.at > seen.answered]
        if seen.status == 409:
            # It says when to repeat the create. Reading the payment before is no repetition.
            following = [other for other in following if other.creates]
        # A tenth less: clocks and schedulers are not exact.
        if following and following[0].at - seen.answered < seen.retry_after * 0.9:
            pause = following[0].at - seen.answered
            yield (f"Request {seen.number} had {seen.status} with Retry-After: {seen.retry_after}. "
                   f"The next request came after {pause:.2f} s.")
            return


def pauses(case: Case) -> Iterator[str]:
    for index, seen in enumerate(case.seen):
        within = [other for other in case.seen[index:] if other.start == seen.start and other.at - seen.at < 1]
        if len(within) > MOST_IN_A_SECOND:
            yield (f"It sent {len(within)} requests in one second, from request {seen.number} on. "
                   f"At most {MOST_IN_A_SECOND} are allowed.")
            return


def books_agree(case: Case) -> Iterator[str]:
    """Whether the daemon and the provider say the same. A checkout cannot cause this."""
    for payment in case.payments:
        own = [entry for entry in case.transactions if entry["payment"] == payment["id"]]
        net, charges = sum(entry["net"] for entry in own), sum(len(entry["charges"]) for entry in own)
        due = payment["captured"]["value"] - payment["refunded"]["value"]
        if payment["state"] in FINAL and (net != due or (payment["state"] == "succeeded") != (net > 0) or charges > 1):
            yield (f"The payment {payment['id']} is {payment['state']} with {due} JPY, and the provider's ledger has "
                   f"{charges} charges, net {net} JPY. {DEFECT}")


def answers_agree(case: Case) -> Iterator[str]:
    """Whether the daemon keeps to what it said. A checkout cannot cause this."""
    first: dict[str, Seen] = {}
    for seen in case.creates:
        if seen.key and seen.settled is not None:
            earlier = first.setdefault(seen.key, seen)
            if seen.settled != earlier.settled:
                yield (f"Requests {earlier.number} and {seen.number} have the same key, and other settled answers. "
                       f"{DEFECT}")
    ends = {(name, state) for seen in case.seen for name, state in seen.states.items() if state in FINAL}
    if len(ends) > len({name for name, _ in ends}):
        yield f"The answers show different ends of one payment: {sorted(ends)}. {DEFECT}"


RULES: dict[str, Callable[[Case], Iterator[str]]] = {
    "charged-twice": one_charge,
    "two-payments": one_payment,
    "told-otherwise": tells_the_state,
    "no-payment": has_a_payment,
    "told-without-proof": knows_what_it_tells,
    "second-key": one_key,
    "no-key": has_a_key,
    "another-body": one_request,
    "wrong-amount": right_amount,
    "wrong-request": right_request,
    "wrong-payment": names_the_payment,
    "does-not-end": ends,
    "end-not-told": says_the_end,
    "retry-after": obeys_retry_after,
    "no-pause": pauses,
    "not-http": speaks_http,
    "not-settled": settled,
    "books-differ": books_agree,
    "answers-differ": answers_agree,
}
