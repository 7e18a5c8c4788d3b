#!/usr/bin/env python3
"""A checkout that pays one order once, wherever it is killed. Python's standard library is enough.

It stores the key and the request before it sends them. Each start sends the stored request again.
"""

import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request
from typing import Any

WAIT = 2
FINAL = {"succeeded": "paid", "failed": "failed", "canceled": "failed"}
# After these, the same request with the same key may succeed.
REPEATABLE = {409, 429, 500, 502, 503, 504}


class Answer:
    """A status with its headers and its JSON."""

    def __init__(self, status: int, retry_after: str | None, location: str | None, body: bytes) -> None:
        self.status, self.location = status, location
        self.retry_after = int(retry_after) if retry_after and retry_after.isdigit() else None
        self.document: dict[str, Any] = json.loads(body)


class Checkout:
    def __init__(self) -> None:
        self.url = os.environ["RECONCILED_URL"]
        self.token = os.environ["RECONCILED_TOKEN"]
        self.order = os.environ["CHECKOUT_ORDER"]
        self.file = pathlib.Path(os.environ["CHECKOUT_DIRECTORY"]) / "request.json"
        self.pause = 0.25

    def new_request(self) -> dict[str, Any]:
        amount = {"value": int(os.environ["CHECKOUT_AMOUNT"]), "currency": os.environ["CHECKOUT_CURRENCY"]}
        leg = {
            "provider": os.environ["CHECKOUT_PROVIDER"],
            "instrument": os.environ["CHECKOUT_INSTRUMENT"],
            "amount": amount,
        }
        body = {"amount": amount, "reference": self.order, "legs": [leg]}
        return {"key": f"{self.order}/create", "body": body}

    def request(self) -> dict[str, Any]:
        """The stored request, on the disk before its first byte is sent."""
        if self.file.exists():
            stored: dict[str, Any] = json.loads(self.file.read_text())
            return stored
        request = self.new_request()
        self.store(request)
        return request

    def store(self, request: dict[str, Any]) -> None:
        # A file that is renamed is there as a whole, or not at all.
        partial = self.file.with_suffix(".partial")
        with partial.open("w") as output:
            json.dump(request, output)
            output.flush()
            os.fsync(output.fileno())
        partial.rename(self.file)
        directory = os.open(self.file.parent, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)

    def call(self, method: str, path: str, request: dict[str, Any] | None = None) -> Answer | None:
        """The answer; None where none came, which says nothing about the payment."""
        headers = {"Authorization": f"Bearer {self.token}"}
        data = None
        if request is not None:
            headers |= {
                "Content-Type": "application/json", "Idempotency-Key": request["key"], "Prefer": f"wait={WAIT}",
            }
            data = json.dumps(request["body"]).encode()
        call = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(call, timeout=WAIT + 2) as answer:
                return Answer(
                    answer.status, answer.headers["Retry-After"], answer.headers["Location"], answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers["Retry-After"], None, error.read())
        except OSError:
            return None

    def create(self) -> Answer | None:
        return self.call("POST", "/v1/payments", self.request())

    def wait(self, answer: Answer | None) -> None:
        """As long as the answer says; otherwise longer each time."""
        named = answer.retry_after if answer is not None else None
        time.sleep(self.pause if named is None else max(named, 0.25))
        self.pause = min(self.pause * 2, 5)

    def payment(self) -> dict[str, Any]:
        """The payment once it is final."""
        answer = self.create()
        while True:
            if answer is not None and answer.status in (200, 201, 202):
                if answer.document["state"] in FINAL:
                    return answer.document
            elif answer is not None and answer.status not in REPEATABLE:
                sys.exit(f"The daemon refused the request: {answer.status} {answer.document}")
            self.wait(answer)
            if answer is not None and answer.status in (200, 202):
                answer = self.call("GET", f"/v1/payments/{answer.document['id']}")
            else:
                answer = self.create()

    def say(self, result: str, payment: str | None) -> None:
        print(json.dumps({"order": self.order, "result": result, "payment": payment}))

    def run(self) -> None:
        payment = self.payment()
        self.say(FINAL[payment["state"]], payment["id"])


if __name__ == "__main__":
    Checkout().run()
