"""Each rule finds what breaks it, and no rule finds anything in an order that was paid as it should be."""

import dataclasses
import unittest
from typing import Any

from kit.checkout import End, Start, said
from kit.plans import plan
from kit.proxy import Seen, states
from kit.rules import RULES, Case

PLAN = plan(1, 1)
ID = "pay_" + "0" * 40
OTHER = "pay_" + "1" * 40
BODY = {"reference": "o", "legs": [{"provider": PLAN.provider, "instrument": PLAN.instrument}]}


def payment(state: str = "succeeded", name: str = ID, amount: int = PLAN.amount) -> dict[str, Any]:
    captured = amount if state == "succeeded" else 0
    return {
        "id": name, "state": state, "amount": {"value": amount, "currency": "JPY"},
        "captured": {"value": captured}, "refunded": {"value": 0},
    }


def transaction(charges: int = 1, name: str = ID) -> dict[str, Any]:
    return {
        "payment": name, "net": charges * PLAN.amount, "held": 0,
        "charges": [{"amount": {"value": PLAN.amount}}] * charges,
    }


def create(number: int, at: float, **other: Any) -> Seen:
    seen = Seen(number, 1, at, "POST", "/v1/payments", "o/create", BODY)
    seen.reached_daemon, seen.status, seen.answered = True, 201, at + 0.1
    seen.states, seen.settled = {ID: "succeeded"}, b"whole"
    return dataclasses.replace(seen, **other)


def case(**other: Any) -> Case:
    told = End({"order": "o", "result": "paid", "payment": ID}, "", None)
    right = Case("o", PLAN, told, [Start(1, 0)], [create(1, 0)], [], [payment()], [transaction()])
    return dataclasses.replace(right, **other)


def found(judged: Case) -> set[str]:
    return {rule for rule, check in RULES.items() if list(check(judged))}


FAILED = End({"order": "o", "result": "failed", "payment": ID}, "", None)
BROKEN: dict[str, Case] = {
    "charged-twice": case(
        payments=[payment(), payment(name=OTHER)], transactions=[transaction(), transaction(1, OTHER)]),
    "two-payments": case(payments=[payment(), payment("failed", OTHER)]),
    "told-otherwise": case(end=FAILED),
    "no-payment": case(payments=[], transactions=[]),
    "told-without-proof": case(seen=[create(1, 0, status=202, states={ID: "processing"}, settled=None)]),
    "second-key": case(seen=[create(1, 0), create(2, 1, key="o/create-2")]),
    "no-key": case(seen=[create(1, 0, key=None)]),
    "another-body": case(seen=[create(1, 0), create(2, 1, document=BODY | {"deadline": "later"})]),
    "wrong-amount": case(payments=[payment(amount=PLAN.amount + 1)]),
    "wrong-request": case(seen=[create(1, 0, document=BODY | {"reference": "p"})]),
    "wrong-payment": case(end=End({"order": "o", "result": "paid", "payment": OTHER}, "", None)),
    "does-not-end": case(end=End(None, "", "It did not end within 1 s.")),
    "end-not-told": case(end=End(None, "done", None)),
    "retry-after": case(seen=[create(1, 0, status=503, retry_after=2, settled=None), create(2, 1.5)]),
    "no-pause": case(seen=[create(number, number * 0.1) for number in range(1, 8)]),
    "not-http": case(malformed=["The first line is b'HELLO'."]),
    "not-settled": case(payments=[payment("processing")]),
    "books-differ": case(transactions=[]),
    "answers-differ": case(seen=[create(1, 0), create(2, 1, settled=b"other")]),
}


class RulesTest(unittest.TestCase):
    def test_no_rule_finds_anything_in_a_right_order(self) -> None:
        self.assertEqual(found(case()), set())

    def test_no_rule_finds_anything_in_a_declined_order(self) -> None:
        declined = case(
            end=FAILED, payments=[payment("failed")], transactions=[transaction(0)],
            seen=[create(1, 0, states={ID: "failed"})])
        self.assertEqual(found(declined), set())

    def test_each_rule_finds_what_breaks_it(self) -> None:
        self.assertEqual(set(BROKEN), set(RULES))
        for rule, broken in BROKEN.items():
            with self.subTest(rule):
                self.assertIn(rule, found(broken))

    def test_a_pause_as_long_as_asked_is_enough(self) -> None:
        seen = [create(1, 0, status=503, retry_after=1, settled=None), create(2, 1.2)]
        self.assertEqual(found(case(seen=seen)), set())

    def test_a_payment_may_be_read_before_its_create_is_repeated(self) -> None:
        refused = create(1, 0, status=409, retry_after=2, settled=None, states={})
        read = create(2, 0.5, method="GET", target=f"/v1/payments/{ID}")
        self.assertEqual(found(case(seen=[refused, read, create(3, 2.2)])), set())
        self.assertEqual(found(case(seen=[refused, read, create(3, 1.2)])), {"retry-after"})

    def test_a_new_start_need_not_know_of_a_pause(self) -> None:
        seen = [create(1, 0, status=503, retry_after=9, settled=None), create(2, 1.2, start=2)]
        self.assertEqual(found(case(seen=seen)), set())

    def test_a_payment_that_shows_two_ends_is_found(self) -> None:
        seen = [create(1, 0), create(2, 1, states={ID: "failed"})]
        self.assertEqual(found(case(seen=seen)), {"answers-differ"})

    def test_a_capture_without_its_charge_is_found(self) -> None:
        self.assertEqual(found(case(transactions=[transaction(2)])), {"books-differ", "charged-twice"})


class OutputTest(unittest.TestCase):
    def test_the_line_of_the_contract_is_found_among_others(self) -> None:
        line = b'{"order": "o", "result": "paid", "payment": "pay_1"}\n'
        self.assertEqual(said(b"begins\n" + line + b"[1]\n", "o"), {"order": "o", "result": "paid", "payment": "pay_1"})

    def test_two_different_ends_are_none(self) -> None:
        both = b'{"order": "o", "result": "paid"}\n{"order": "o", "result": "failed"}\n'
        self.assertIsNone(said(both, "o"))

    def test_the_end_of_another_order_is_none(self) -> None:
        self.assertIsNone(said(b'{"order": "p", "result": "paid"}\n', "o"))

    def test_states_are_read_from_payments_and_lists(self) -> None:
        shown = {"id": ID, "state": "succeeded"}
        self.assertEqual(states(shown), {ID: "succeeded"})
        self.assertEqual(states({"data": [shown], "next_cursor": None}), {ID: "succeeded"})
        self.assertEqual(states({"type": "/problems/internal"}), {})


if __name__ == "__main__":
    unittest.main()
