"""What the provider does with a request when it behaves: the reference contract, and its variations."""

import copy
import random
import time
from dataclasses import dataclass

from .ledger import Ledger, Line, Movement, moment_of

PROBLEMS = {
    "invalid-request": 400, "unknown-instrument": 400, "unauthorized": 401, "not-found": 404,
    "not-after-passed": 410, "body-too-large": 413, "unsupported-media-type": 415, "key-reused": 422,
    "amount-too-large": 422, "currency-mismatch": 422, "rate-limited": 429, "unavailable": 503,
}


@dataclass
class Terms:
    """How a provider differs from the reference contract. Times are in seconds."""

    key_retention: float | None = None
    status_retention: float | None = None
    leaves_tombstones: bool = True
    enforces_not_after: bool = True
    binds_declines: bool = True
    unbound_declines: int = 10 ** 9  # how often an instrument `unbound…` declines before it approves
    void_reverses_sales: bool = False
    hold_life: float = 7 * 86400
    clock_offset: float = 0
    visibility_lag: float = 0  # a read of a status may show what stood up to so long ago


@dataclass
class Call:
    """One request, as the provider read it."""

    verb: str
    key: str = ""
    subkey: str = ""
    body: dict | None = None
    not_after: str | None = None
    query: dict | None = None
    connection: int = 0


@dataclass
class Answer:
    """A status, and a transaction or a problem or a page."""

    status: int
    body: dict
    headers: dict

    @property
    def is_problem(self):
        return "type" in self.body and "title" in self.body


def problem(name, status=None, **headers):
    """A problem document. It names no key, as the contract has it."""
    status = status or PROBLEMS.get(name, 500)
    body = {"type": f"/problems/{name}", "title": name.replace("-", " "), "status": status}
    return Answer(status, body, {key.replace("_", "-"): value for key, value in headers.items()})


def whole(status, line):
    return Answer(status, line.shown(), {})


def instrument_of(line):
    """What was charged; unknown of a line that no request made."""
    return (line.body or {}).get("instrument", "")


class Contract:
    """Executes requests on a ledger. Nothing here misbehaves."""

    def __init__(self, terms):
        self.terms = terms
        self.ledger = Ledger(terms.key_retention, terms.status_retention)
        self._shown = {}  # key -> [(moment, transaction as shown)], for stale reads

    def now(self):
        """The provider's own time, in whole milliseconds, as its answers show it."""
        return int((time.time() + self.terms.clock_offset) * 1000) / 1000

    def execute(self, call):
        answer = getattr(self, "_" + call.verb)(call)
        line = self.ledger.known_key(call.key)
        if self.terms.visibility_lag and line:
            self._shown.setdefault(call.key, []).append((time.monotonic(), line.shown()))
        return answer

    # Authorize and sale

    def _authorize(self, call):
        return self._begin(call, "authorized")

    def _sale(self, call):
        return self._begin(call, "captured")

    def _begin(self, call, status):
        known = self.ledger.known_key(call.key)
        if known is not None:
            return self._repeat(known, call, status)
        if self._is_late(call):
            return problem("not-after-passed")
        amount, now = call.body["amount"], self.now()
        line = Line(
            call.key, call.body["kind"], status, amount["value"], amount["currency"], now, now, body=call.body,
            metadata=call.body.get("metadata") or {})
        self._decide(line, call, status)
        self.ledger.record(line)
        return whole(402 if line.status == "declined" else 201, line)

    def _decide(self, line, call, status):
        instrument = call.body["instrument"]
        declines = instrument.startswith("declined") or (
            instrument.startswith("unbound") and line.tries <= self.terms.unbound_declines)
        line.status = "declined" if declines else status
        line.reason = "insufficient_funds" if declines else None
        if line.status == "authorized":
            line.held_until = line.updated + self.terms.hold_life

    def _repeat(self, line, call, status):
        if line.status in ("tombstoned", "voided", "expired"):
            return whole(409, line)
        if line.body != call.body:
            return problem("key-reused")
        if line.status == "declined" and not self.terms.binds_declines and not self._is_late(call):
            line.tries += 1
            line.updated = self.now()
            self._decide(line, call, status)
        return whole(402 if line.status == "declined" else 200, line)

    def _is_late(self, call):
        if not (self.terms.enforces_not_after and call.not_after):
            return False
        return moment_of(call.not_after) < self.now()

    # Reads

    def _read(self, call):
        line = self._status(call.key)
        if line and self.terms.visibility_lag:
            return self._stale(call.key)
        return whole(200, line) if line else problem("not-found")

    def _stale(self, key):
        """What stood some time ago, at most the lag."""
        moment = time.monotonic() - random.uniform(0, self.terms.visibility_lag)
        shown = [body for at, body in self._shown.get(key, []) if at <= moment]
        return Answer(200, copy.deepcopy(shown[-1]), {}) if shown else problem("not-found")

    def _read_capture(self, call):
        return self._read_movement(call, "captures")

    def _read_refund(self, call):
        return self._read_movement(call, "refunds")

    def _read_movement(self, call, name):
        line = self._status(call.key)
        if line is None or all(each.key != call.subkey for each in getattr(line, name)):
            return problem("not-found")
        return whole(200, line)

    def _status(self, key):
        line = self.ledger.known_status(key)
        if line and line.status == "authorized" and line.held_until <= self.now():
            line.status, line.updated = "expired", self.now()
        return line

    # Captures, refunds, voids

    def _capture(self, call):
        line = self.ledger.known_key(call.key)
        if line is None:
            return problem("not-found")
        done = next((each for each in line.captures if each.key == call.subkey), None)
        if done:
            return self._repeat_movement(line, done, call)
        if self._is_late(call):
            return problem("not-after-passed")
        if line.status != "authorized" or line.kind != "authorize":
            return whole(409, line)
        if call.body["amount"]["value"] > line.value:
            return problem("amount-too-large")
        declines = instrument_of(line).startswith("capture-declined")
        line.captures.append(self._movement(call, declines))
        if not declines:
            line.status = "captured"
        return whole(402 if declines else 201, line)

    def _refund(self, call):
        line = self.ledger.known_key(call.key)
        if line is None:
            return problem("not-found")
        done = next((each for each in line.refunds if each.key == call.subkey), None)
        if done:
            return self._repeat_movement(line, done, call)
        if self._is_late(call):
            return problem("not-after-passed")
        if line.status != "captured" or line.open_dispute:
            return whole(409, line)
        if call.body["amount"]["value"] > line.net:
            return problem("amount-too-large")
        declines = instrument_of(line).startswith("refund-declined")
        line.refunds.append(self._movement(call, declines))
        return whole(402 if declines else 201, line)

    def _movement(self, call, declines):
        line, amount = self.ledger.known_key(call.key), call.body["amount"]
        line.updated = self.now()
        return Movement(
            call.subkey, amount["value"], amount["currency"], "declined" if declines else "succeeded",
            line.updated, "account_closed" if declines else None)

    def _repeat_movement(self, line, done, call):
        if done.value != call.body["amount"]["value"]:
            return problem("key-reused")
        return whole(402 if done.status == "declined" else 200, line)

    def _void(self, call):
        line = self.ledger.known_key(call.key)
        if line is None:
            return self._void_unknown(call)
        if line.status == "declined" and not self.terms.binds_declines and self.terms.leaves_tombstones:
            line.status, line.updated = "tombstoned", self.now()
        elif line.status == "authorized":
            line.status, line.updated = "voided", self.now()
        elif (line.status == "captured" and line.kind == "sale" and self.terms.void_reverses_sales
              and not line.open_dispute):
            self._reverse(line)
        elif line.status in ("captured", "pending"):
            return whole(409, line)
        return whole(200, line)

    def _reverse(self, line):
        """Gives the whole sale back, whatever was refunded of it before."""
        line.updated = self.now()
        line.reversals.append(Movement("reversal", line.value, line.currency, "succeeded", line.updated))
        line.status = "voided"

    def _void_unknown(self, call):
        if not self.terms.leaves_tombstones:
            return problem("not-found")
        now = self.now()
        return whole(200, self.ledger.record(Line(call.key, None, "tombstoned", None, None, now, now)))

    # The listing

    def _list(self, call):
        query = call.query or {}
        if "cursor" in query:
            return self._page(*query["cursor"].split("~"))
        return self._page(
            query.get("updated_after", ""), query.get("updated_before", ""), query.get("limit", "100"), "0")

    def _page(self, after, before, limit, offset):
        lines = sorted(self.ledger.lines, key=lambda line: (line.updated, line.key, line.born))
        first = moment_of(after) if after else float("-inf")
        end = moment_of(before) if before else float("inf")
        found = [line for line in lines if first <= line.updated < end]
        start, size = int(offset), int(limit)
        data = [line.shown() for line in found[start:start + size]]
        more = start + size < len(found)
        cursor = "~".join([after, before, limit, str(start + size)]) if more else None
        return Answer(200, {"data": data, "next_cursor": cursor}, {})
