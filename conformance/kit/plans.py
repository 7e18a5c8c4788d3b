"""What happens to each order. A plan follows from the seed and its number alone, so it can be run again alone."""

import dataclasses
import random

# What can happen at a request, in the words of a reader.
STRIKES = {
    "kill-before": "the checkout is killed at request {request}, which does not reach the daemon",
    "kill-during": "the checkout is killed once the daemon has request {request}",
    "kill-after": "the checkout is killed {milliseconds} ms after the answer to request {request}",
    "late-request": "the checkout is killed at request {request}, which reaches the daemon {milliseconds} ms later",
    "answer-lost": "the answer to request {request} is lost",
    "no-answer": "request {request} reaches the daemon and gets no answer until the checkout gives up",
    "unavailable": "request {request} gets 503 with Retry-After, and does not reach the daemon",
    "rate-limited": "request {request} gets 429 with Retry-After, and does not reach the daemon",
    "twice": "request {request} reaches the daemon twice",
    "daemon-killed": "the daemon is killed {milliseconds} ms after it has request {request}, and started again",
}
MOMENT = "kill-any-moment"
DRAWN = "several, drawn"

# The providers of the simulator, and what each does.
PROVIDERS = {
    "card": "answers at once",
    "late": "first answers that it is pending, and then approves",
    "refusing": "first answers that it is pending, and then declines",
    "lossy": "loses requests and answers",
}
FIRST_REQUESTS = 3


@dataclasses.dataclass(frozen=True)
class Strike:
    """One fault at one request. Requests count from 1 over all starts of an order's checkout."""

    request: int
    fault: str
    milliseconds: int

    def words(self) -> str:
        return STRIKES[self.fault].format(request=self.request, milliseconds=self.milliseconds)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What happens to one order."""

    number: int
    row: str
    provider: str
    declined: bool
    amount: int
    # Whether the kit lowers the asked wait to 0, so that 202 and 409 come.
    hurried: bool
    strikes: tuple[Strike, ...] = ()
    # When the checkout is killed without any request: milliseconds after its first start, second start and so on.
    moments: tuple[int, ...] = ()

    @property
    def instrument(self) -> str:
        return f"decline-{self.number}" if self.declined else f"tok-{self.number}"

    @property
    def kills_daemon(self) -> bool:
        return any(strike.fault == "daemon-killed" for strike in self.strikes)

    def strike_at(self, request: int) -> Strike | None:
        return next((strike for strike in self.strikes if strike.request == request), None)

    def words(self) -> str:
        parts = [f"{self.amount} JPY; the provider `{self.provider}` {PROVIDERS[self.provider]}"]
        if self.declined:
            parts.append("the instrument is declined")
        if self.hurried:
            parts.append("the wait is lowered to 0")
        parts += [strike.words() for strike in self.strikes]
        parts += [f"the checkout is killed {after} ms after start {i}" for i, after in enumerate(self.moments, 1)]
        return "; ".join(parts)


def delay(chance: random.Random, fault: str) -> int:
    """How long a fault waits: a killed caller's request may be slower than its next start, a kill follows closely."""
    return chance.randrange(*{"late-request": (300, 900), "kill-after": (0, 15)}.get(fault, (0, 60)))


def moment(chance: random.Random) -> int:
    """Half of the kills come while the checkout begins, where it stores what it needs."""
    return chance.choice([chance.randrange(0, 150), chance.randrange(150, 1500)])


def undisturbed(number: int) -> Plan:
    """Plans without a strike: each provider, and an instrument that is declined."""
    chance = random.Random(number)
    provider, declined, hurried = [
        ("card", False, False), ("card", True, False), ("lossy", False, False),
        ("late", False, True), ("refusing", False, True),
    ][number - 1]
    return Plan(number, "none", provider, declined, chance.randrange(100, 10_000), hurried)


UNDISTURBED = 5
MOMENTS = 4
SYSTEMATIC = UNDISTURBED + FIRST_REQUESTS * len(STRIKES) + MOMENTS


def systematic(number: int, chance: random.Random) -> Plan:
    """Each fault at each of the first requests, then kills without a request."""
    if number <= UNDISTURBED:
        return undisturbed(number)
    index = number - UNDISTURBED - 1
    amount = chance.randrange(100, 10_000)
    if index >= FIRST_REQUESTS * len(STRIKES):
        moments = tuple(moment(chance) for _ in range(chance.randrange(2, 5)))
        return Plan(number, MOMENT, chance.choice(["late", "refusing"]), False, amount, False, (), moments)
    request, fault = index // len(STRIKES) + 1, list(STRIKES)[index % len(STRIKES)]
    # A payment that settles at once has one request. The others are there only where the first one gets 202.
    provider = "card" if request == 1 else chance.choice(["late", "refusing"])
    strike = Strike(request, fault, delay(chance, fault))
    return Plan(number, fault, provider, False, amount, request > 1, (strike,))


def drawn(number: int, chance: random.Random) -> Plan:
    """One to four faults at the first requests, and perhaps kills between them."""
    requests = [1, *sorted(chance.sample(range(2, 7), chance.randrange(0, 4)))]
    # One request without an answer is enough: each takes as long as the checkout's patience.
    faults = [fault for fault in STRIKES if fault != "daemon-killed" or chance.random() < 0.3]
    strikes = []
    for request in requests:
        fault = chance.choice(faults)
        if fault == "no-answer":
            faults.remove(fault)
        strikes.append(Strike(request, fault, delay(chance, fault)))
    moments = tuple(moment(chance) for _ in range(chance.choice([0, 0, 1, 2])))
    return Plan(
        number, DRAWN, chance.choice(["card", "late", "late", "refusing", "lossy"]), chance.random() < 0.2,
        chance.randrange(100, 10_000), chance.random() < 0.6, tuple(strikes), moments,
    )


def plan(seed: int, number: int) -> Plan:
    chance = random.Random(f"{seed}/{number}")
    return systematic(number, chance) if number <= SYSTEMATIC else drawn(number, chance)


def plans(seed: int, orders: int) -> list[Plan]:
    return [plan(seed, number) for number in range(1, orders + 1)]
