"""The provider's books: every line that ever moved or held money, whatever the provider remembers of it."""

import datetime
import time
from dataclasses import dataclass, field


@dataclass
class Movement:
    """One capture, refund or reversal of a line."""

    key: str
    value: int
    currency: str
    status: str
    at: float
    reason: str | None = None
    by: str = "caller"  # or "console": somebody at the provider

    def shown(self):
        return {
            "key": self.key, "amount": {"value": self.value, "currency": self.currency},
            "status": self.status, "created_at": instant(self.at), "reason": self.reason,
        }


@dataclass
class Dispute:
    """The payer of a line asks the money back through the bank."""

    key: str
    value: int
    currency: str
    at: float
    status: str = "open"

    def shown(self):
        return {
            "id": self.key, "amount": {"value": self.value, "currency": self.currency}, "status": self.status,
            "created_at": instant(self.at),
        }


@dataclass
class Line:
    """One transaction that was recorded. The same key may have several, if the provider forgets or repeats."""

    key: str
    kind: str | None
    status: str
    value: int | None
    currency: str | None
    created: float
    updated: float
    body: dict | None = None
    held_until: float | None = None
    metadata: dict = field(default_factory=dict)
    reason: str | None = None
    captures: list = field(default_factory=list)
    refunds: list = field(default_factory=list)
    reversals: list = field(default_factory=list)
    disputes: list = field(default_factory=list)
    born: float = field(default_factory=time.monotonic)
    tries: int = 1

    @property
    def taken(self):
        """Money taken, before anything was given back."""
        if self.kind == "sale":
            return self.value if self.status == "captured" or self.reversals else 0
        return sum(each.value for each in self.captures if each.status == "succeeded")

    @property
    def given_back(self):
        refunds = sum(each.value for each in self.refunds if each.status == "succeeded")
        return refunds + sum(each.value for each in self.reversals)

    @property
    def net(self):
        return self.taken - self.given_back

    @property
    def held(self):
        return self.value if self.status == "authorized" else 0

    @property
    def payment(self):
        return self.metadata.get("payment")

    @property
    def leg(self):
        return self.metadata.get("leg")

    @property
    def open_dispute(self):
        return next((each for each in self.disputes if each.status == "open"), None)

    def dispute(self, now):
        """A payer disputes what is left of the charge."""
        name = f"du_{self.key[:10]}-{len(self.disputes)}"
        self.disputes.append(Dispute(name, self.net, self.currency, now))
        self.updated = now

    def decide(self, status, now):
        """The open dispute is won or lost. What is lost is given back."""
        dispute = self.open_dispute
        dispute.status, self.updated = status, now
        if status == "lost":
            self.refunds.append(
                Movement(f"lost-{dispute.key}", dispute.value, dispute.currency, "succeeded", now, by="console"))

    def shown(self):
        """The transaction as the contract writes it. Providers that never had a dispute show no list of them."""
        amount = None if self.value is None else {"value": self.value, "currency": self.currency}
        return {
            "key": self.key, "kind": self.kind, "status": self.status, "amount": amount,
            "captures": [each.shown() for each in self.captures],
            "refunds": [each.shown() for each in self.refunds],
            "created_at": instant(self.created), "updated_at": instant(self.updated),
            "authorized_until": None if self.held_until is None else instant(self.held_until),
            "metadata": dict(self.metadata), "reason": self.reason,
            **({"disputes": [each.shown() for each in self.disputes]} if self.disputes else {}),
        }


class Ledger:
    """All lines, oldest first, and which of them the provider still knows by key."""

    def __init__(self, key_retention=None, status_retention=None):
        self.lines = []
        self.key_retention = key_retention
        self.status_retention = status_retention
        self._newest = {}

    def record(self, line):
        self.lines.append(line)
        self._newest[line.key] = line
        return line

    def record_apart(self, line):
        """A line that shares its key with another, and that a read by key does not show."""
        self.lines.append(line)
        return line

    def known_key(self, key):
        """The line to which a repeated request belongs; `None` once the key is forgotten."""
        return self._known(key, self.key_retention)

    def known_status(self, key):
        """The line that a status read shows; `None` once the status is forgotten."""
        return self._known(key, self.status_retention)

    def forget(self, key):
        self._newest.pop(key, None)

    def of_payment(self, payment):
        return [line for line in self.lines if line.payment == payment]

    def of_key(self, key):
        return [line for line in self.lines if line.key == key]

    def _known(self, key, retention):
        line = self._newest.get(key)
        if line is None or retention is None:
            return line
        return line if time.monotonic() - line.born < retention else None


def instant(moment):
    """A moment as the contract writes it: RFC 3339 in UTC, with milliseconds."""
    text = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc)
    return text.strftime("%Y-%m-%dT%H:%M:%S.") + f"{text.microsecond // 1000:03d}Z"


def moment_of(text):
    """The moment that an RFC 3339 text names, in seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
