"""Planted faults that the judge must find, and what it must let pass."""

import json
import pathlib
import tempfile
import unittest

import shapes

TYPES = '''
class RequestOptions: ...
class PaymentIntent:
    class CreateParams(RequestOptions):
        amount: int
        capture_method: NotRequired["Literal['automatic', 'manual']"]
        metadata: NotRequired["Dict[str, str]"]
    amount: int
    object: Literal["payment_intent"]
    canceled_at: Optional[int]
    status: Literal["canceled", "succeeded"]
    latest_charge: Optional["Charge"]
class Charge:
    object: Literal["charge"]
    captured: bool
'''


class ShapesTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        pathlib.Path(directory.name, "_types.py").write_text(TYPES, encoding="utf-8")
        self.judge = shapes.Judge(shapes.Library(directory.name))

    def wrong(self, body="amount=1&capture_method=manual&metadata%5Ba%5D=b", **changes):
        answer = {"object": "payment_intent", "amount": 1, "canceled_at": None, "status": "succeeded"}
        answer |= changes.pop("answer", {})
        line = {
            "method": "POST", "path": "/card/v1/payment_intents", "body": body, "key": "k", "answer": json.dumps(answer)
        }
        self.judge.exchange(line | changes)
        return sorted(self.judge.wrong)

    def test_what_the_library_knows_passes(self):
        self.assertEqual(self.wrong(), [])
        self.assertEqual(self.wrong(answer={"latest_charge": {"object": "charge", "captured": True}}), [])
        self.assertEqual(self.judge.judged["charge"], 1)

    def test_requests(self):
        self.assertEqual(self.wrong(body="amonut=1"), ["PaymentIntent.CreateParams has no parameter amonut"])

    def test_a_word_of_a_request(self):
        self.assertEqual(
            self.wrong(body="capture_method=later"), ["PaymentIntent.CreateParams: capture_method cannot be later"])

    def test_a_request_without_a_key(self):
        self.assertEqual(self.wrong(key=None), ["PaymentIntent.CreateParams has no good Idempotency-Key"])
        self.assertEqual(self.wrong(key="k" * 256), ["PaymentIntent.CreateParams has no good Idempotency-Key"])

    def test_a_path_that_does_not_exist(self):
        self.assertEqual(self.wrong(path="/card/v1/intents"), ["POST /v1/intents is no request of Stripe's"])

    def test_answers(self):
        for answer, finding in [
            ({"amuont": 1}, "payment_intent.amuont does not exist"),
            ({"amount": "1"}, "payment_intent.amount is no int"),
            ({"amount": True}, "payment_intent.amount is no int"),
            ({"amount": None}, "payment_intent.amount is never null"),
            ({"status": "done"}, "payment_intent.status is never done"),
            ({"latest_charge": {"object": "charge", "captured": "yes"}}, "charge.captured is no bool"),
            ({"latest_charge": {"object": "list", "data": [], "has_more": False}},
             "a list of payment_intent.latest_charge lacks url"),
        ]:
            with self.subTest(finding):
                self.judge.wrong.clear()
                self.assertEqual(self.wrong(answer=answer), [finding])

    def test_errors(self):
        error = {"error": {"type": "strange_error", "reason": "x"}}
        findings = ["error.reason does not exist", "error.type is never strange_error"]
        self.assertEqual(self.wrong(answer=error | {"object": None}), findings)


if __name__ == "__main__":
    unittest.main()
