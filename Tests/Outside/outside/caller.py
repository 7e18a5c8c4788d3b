"""The callers' side: sends requests, and remembers every answer that it ever had."""

import random
import threading
import time
from dataclasses import dataclass

import requests

from .ledger import instant

FINAL = ("succeeded", "canceled", "failed")
CURRENCY = "JPY"
TOKEN = "token-of-somebody"


@dataclass
class Told:
    """One answer about a payment or a refund."""

    at: float
    operation: str  # create, capture, cancel, refund, read
    payment: str
    status: int
    state: str | None
    body: dict


class Caller:
    """One shop."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.told = []
        self.asked = {}  # payment -> what it was to be: amount, refunds wanted
        self._lock = threading.Lock()
        self._local = threading.local()

    def pay(self, *legs, key=None, capture="automatic", wait=5, deadline=None, reference=None):
        """Creates a payment. A leg is (provider, amount) or (provider, amount, instrument)."""
        parts = [
            {"provider": provider.name, "amount": money(value), "instrument": (*token, TOKEN)[0]}
            for provider, value, *token in legs]
        body = {"amount": money(sum(leg[1] for leg in legs)), "legs": parts, "capture": capture}
        if deadline is not None:
            body["deadline"] = deadline
        if reference:
            body["reference"] = reference
        return self._send("create", "/v1/payments", body, key or new_key(), wait)

    def capture(self, payment, wait=5, key=None):
        return self._send("capture", f"/v1/payments/{payment}/capture", {}, key or new_key(), wait, payment)

    def cancel(self, payment, wait=5, key=None):
        return self._send("cancel", f"/v1/payments/{payment}/cancel", {}, key or new_key(), wait, payment)

    def refund(self, payment, value, wait=5, key=None):
        body = {"amount": money(value)}
        return self._send("refund", f"/v1/payments/{payment}/refunds", body, key or new_key(), wait, payment)

    def reconcile(self, payment, wait=2):
        return self._send("read", f"/v1/payments/{payment}/reconcile", None, None, wait, payment)

    def read(self, payment):
        answer = self._session().get(f"{self.daemon.public}/v1/payments/{payment}", timeout=10)
        return self._note("read", payment, answer)

    def events(self, payment):
        answer = self._session().get(f"{self.daemon.public}/v1/payments/{payment}/events?limit=200", timeout=10)
        return answer.json().get("data", [])

    def until(self, payment, condition, timeout):
        """Reads the payment until the condition holds; the last answer."""
        end = time.monotonic() + timeout
        while True:
            told = self.read(payment)
            if condition(told.body) or time.monotonic() > end:
                return told
            time.sleep(0.2)

    def until_final(self, payment, timeout):
        return self.until(payment, lambda body: body.get("state") in (*FINAL, "authorized", "quarantined"), timeout)

    def _send(self, operation, path, body, key, wait, payment=""):
        headers = {"Prefer": f"wait={wait}"}
        if key:
            headers["Idempotency-Key"] = key
        answer = self._session().post(
            self.daemon.public + path, json=body, headers=headers, timeout=wait + 10)
        return self._note(operation, payment, answer)

    def _note(self, operation, payment, answer):
        body = answer.json() if answer.content else {}
        if operation == "create":
            payment = body.get("id") or body.get("payment_id") or ""
        told = Told(time.time(), operation, payment, answer.status_code, body.get("state"), body)
        with self._lock:
            self.told.append(told)
        return told

    def _session(self):
        """Sessions are not shared between threads."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.headers["Authorization"] = f"Bearer {self.daemon.settings.caller_token}"
        return self._local.session


def money(value):
    return {"value": value, "currency": CURRENCY}


def deadline_in(seconds):
    return instant(time.time() + seconds)


def new_key():
    """Letters only: digits may look like a card number by chance."""
    return "outside-" + "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=24))
