"""What is bought: a function of the seed and the number, so that a load can be repeated."""

import random
import threading
from dataclasses import dataclass

# How the payments are spread over what can be asked for, in percent.
SHARES = [("plain", 56), ("two_legs", 18), ("declined", 8), ("refunded", 7), ("canceled", 5), ("captured", 6)]
# A caller comes back to its payment after up to so many seconds: so that some do right after a loss.
LONGEST_PAUSE = 4.0


@dataclass(frozen=True)
class Plan:
    """One payment that a caller wants."""

    key: str
    kind: str
    body: dict
    # How long the caller takes before it refunds, cancels or captures, in seconds.
    pause: float

    @property
    def amount(self) -> int:
        return self.body["amount"]["value"]


class Plans:
    """Hands out the payments, each once."""

    def __init__(self, seed: int, prefix: str):
        self._seed = seed
        self._prefix = prefix
        self._next = 0
        self._lock = threading.Lock()

    def take(self) -> Plan:
        with self._lock:
            number = self._next
            self._next += 1
        return self.plan(number)

    def plan(self, number: int) -> Plan:
        chance = random.Random(f"{self._seed}:{number}")
        kinds, weights = zip(*SHARES)
        kind = chance.choices(kinds, weights)[0]
        first, second = chance.randint(100, 5000), chance.randint(50, 900)
        key = f"{self._prefix}-{number}"
        legs = [("card", f"tok-{number}", first)]
        if kind in ("two_legs", "declined"):
            legs.append(("points", f"decline-{number}" if kind == "declined" else f"member-{number}", second))
        body = {
            "amount": money(sum(value for _, _, value in legs)),
            "legs": [
                {"provider": provider, "instrument": instrument, "amount": money(value)}
                for provider, instrument, value in legs
            ],
            "capture": "manual" if kind in ("canceled", "captured") else "automatic",
            "reference": key,
        }
        return Plan(key, kind, body, chance.uniform(0, LONGEST_PAUSE))


def money(value: int) -> dict:
    return {"value": value, "currency": "JPY"}
