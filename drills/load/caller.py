"""One caller: one payment after the other, each until it has ended."""

import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

from plan import Plan

FINAL = {"succeeded", "canceled", "failed", "quarantined"}
# Answers after which the same request is sent again: nothing was done, or nobody knows.
AGAIN = {408, 429, 500, 502, 503, 504}


class OutOfPatience(Exception):
    """The load has ended, and the answer has not come."""


def knows(payment: dict, operation: str) -> bool:
    """Whether a payment shows that the operation was asked for. After lost rows, an accepted one may be missing."""
    return bool(payment["refunds"]) if operation == "refunds" else payment["state"] != "authorized"


class Caller(threading.Thread):
    """Sends, repeats under the same key, follows what settles, and writes down what it is told."""

    def __init__(self, number, options, plans, journal, stop, interval):
        super().__init__(name=f"caller-{number}", daemon=True)
        self._options, self._plans, self._journal, self._ending = options, plans, journal, stop
        self._interval = interval
        # Callers begin one after the other, so that the rate is even.
        self._due = time.monotonic() + interval * number / options.callers
        self._connection: http.client.HTTPConnection | None = None
        self._end: float | None = None
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self._ending.wait(max(0.0, self._due - time.monotonic())):
                # After an outage nobody catches up: a shop's customers have gone.
                self._due = max(self._due + self._interval, time.monotonic())
                plan = self._plans.take()
                try:
                    self._walk(plan)
                except OutOfPatience as reason:
                    self._journal.write("gave_up", plan.key, why=str(reason))
        except Exception as failure:  # pylint: disable=broad-except
            self.failure = failure

    def _walk(self, plan: Plan) -> None:
        self._journal.write("sent", plan.key, kind=plan.kind, amount=plan.amount)
        while True:
            payment = self._create(plan)
            if payment is None:
                return
            payment = self._follow(plan, payment)
            if payment is not None and payment["state"] == "succeeded" and plan.kind == "refunded":
                self._pause(plan.pause)
                payment = self._operate(plan, payment, "refunds", {"reason": "one came back"})
            elif payment is not None and payment["state"] == "authorized":
                self._pause(plan.pause)
                if plan.kind == "captured":
                    payment = self._operate(plan, payment, "capture", {})
                else:
                    payment = self._operate(plan, payment, "cancel", {"reason": "the customer left"})
            if payment is not None:
                return
            # It was acknowledged and is not there: a caller asks for it again, with the same key.

    def _create(self, plan: Plan) -> dict | None:
        acknowledged = False
        while True:
            status, body, server = self._send("POST", "/v1/payments", plan.body, plan.key)
            if status in (201, 202):
                if not acknowledged:
                    self._journal.write(
                        "acknowledged", plan.key, id=body["id"], state=body["state"], status=status, server=server)
                    acknowledged = True
                return {**body, "server": server}
            if status == 409:
                self._pause(0.3)
                continue
            self._journal.write("refused", plan.key, status=status, problem=body.get("type"), server=server)
            return None

    def _follow(self, plan: Plan, payment: dict) -> dict | None:
        """The payment once it rests; None if the system does not know it any more."""
        pause = 0.2
        while True:
            if payment["state"] in FINAL or payment["state"] == "authorized":
                self._tell(plan, payment)
                return payment
            self._pause(pause)
            pause = min(pause * 1.5, 1.5)
            payment = self._read(plan, payment["id"])
            if payment is None:
                return None
            if payment.get("recovery", {}).get("step") == "awaits_request":
                # Rows were lost: it is charged only if its caller still wants it.
                payment = self._create(plan)
                if payment is None:
                    return None

    def _read(self, plan: Plan, identifier: str) -> dict | None:
        status, body, server = self._send("GET", f"/v1/payments/{identifier}", None, plan.key)
        if status == 404:
            self._journal.write("vanished", plan.key, id=identifier, server=server)
            return None
        if status != 200:
            raise RuntimeError(f"{status} to a read of {identifier}: {body}")
        return {**body, "server": server}

    def _operate(self, plan: Plan, payment: dict, operation: str, body: dict) -> dict | None:
        """A refund of the whole, or a cancel; None if the payment is not there any more."""
        path = f"/v1/payments/{payment['id']}/{operation}"
        while True:
            status, answer, server = self._send("POST", path, body, f"{plan.key}-{operation}")
            if status == 404:
                self._journal.write("vanished", plan.key, id=payment["id"], server=server)
                return None
            if status in (200, 201, 202):
                self._journal.write("operation", plan.key, id=payment["id"], operation=operation, server=server)
                found = self._until_done(plan, payment["id"], operation)
                if found is None or knows(found, operation):
                    return found
                # It was accepted, and its row was lost: it is asked for again.
                self._pause(0.3)
                continue
            if status == 409 and not str(answer.get("type", "")).endswith("idempotency-in-flight"):
                # Too late, or done by a deadline: the payment itself tells.
                self._journal.write(
                    "refused_operation", plan.key, id=payment["id"], operation=operation,
                    problem=answer.get("type"), server=server)
                current = self._read(plan, payment["id"])
                return current and self._follow(plan, current)
            if status == 409:
                self._pause(0.3)
                continue
            raise RuntimeError(f"{status} to {path}: {answer}")

    def _until_done(self, plan: Plan, identifier: str, operation: str) -> dict | None:
        """The payment once the operation is done, or once it rests as if nobody had asked for the operation."""
        pause = 0.2
        while True:
            payment = self._read(plan, identifier)
            if payment is None:
                return None
            if not knows(payment, operation):
                return payment
            if operation == "refunds":
                done = all(refund["state"] not in ("processing", "pending") for refund in payment["refunds"])
            else:
                done = payment["state"] in FINAL
            if done:
                self._tell(plan, payment)
                return payment
            self._pause(pause)
            pause = min(pause * 1.5, 1.5)

    def _tell(self, plan: Plan, payment: dict) -> None:
        self._journal.write(
            "told", plan.key, id=payment["id"], state=payment["state"], captured=payment["captured"]["value"],
            refunded=payment["refunded"]["value"], server=payment["server"])

    def _send(self, method: str, path: str, body: dict | None, key: str) -> tuple[int, dict, str]:
        """An answer that says something; what failed in between is sent again, with the same key."""
        pause = 0.1
        while True:
            why, wait = "", pause
            try:
                status, answer, headers = self._exchange(method, path, body, key)
                server = headers.get("X-Served-By", "")
                if status not in AGAIN:
                    return status, answer, server
                why = str(status)
                # A caller does what it is asked, within reason.
                after = headers.get("Retry-After", "")
                wait = min(2.0, float(after)) if after.isdigit() else pause
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as failure:
                self._disconnect()
                why, server = type(failure).__name__, ""
            self._journal.write("again", key, why=why, server=server)
            self._pause(wait)
            pause = min(pause * 2, 1.0)

    def _pause(self, seconds: float) -> None:
        if self._ending.is_set():
            self._end = self._end or time.monotonic() + self._options.patience
            if time.monotonic() > self._end:
                raise OutOfPatience(f"no answer within {self._options.patience} s of the end")
        time.sleep(seconds)

    def _exchange(self, method, path, body, key):
        if self._connection is None:
            place = urlsplit(self._options.url)
            self._connection = http.client.HTTPConnection(place.hostname, place.port, timeout=12)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = {"Authorization": f"Bearer {self._options.token}", "Accept": "application/json"}
        if method == "POST":
            headers.update({"Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=5"})
        self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self._connection.getresponse()
        data = response.read()
        if response.will_close:
            self._disconnect()
        try:
            answer = json.loads(data) if data else {}
        except json.JSONDecodeError:
            # The traffic switch answers in HTML when no site is active.
            if response.status not in AGAIN:
                raise
            answer = {}
        return response.status, answer, response.headers

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
