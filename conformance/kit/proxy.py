"""What lies between one order's checkout and the daemon. It sees every request and answer, and lets the plan happen."""

import dataclasses
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from kit import wire
from kit.checkout import Checkout
from kit.plans import Plan, Strike
from kit.programs import ProgramFailed
from kit.world import World

CREATE = ("POST", "/v1/payments")
# Longer than the longest wait that a caller may ask the daemon for.
PATIENCE = 60.0


@dataclasses.dataclass
class Seen:
    """One request of the checkout, and what became of it. Times count from the order's begin."""

    number: int
    start: int
    at: float
    method: str
    target: str
    key: str | None
    document: Any
    fault: str | None = None
    reached_daemon: bool = False
    status: int | None = None
    # Whether the checkout was given the whole answer, and when.
    answered: float | None = None
    retry_after: int | None = None
    states: dict[str, str] = dataclasses.field(default_factory=dict)
    # The settled answer of the daemon to a create, also where the checkout did not get it.
    settled: bytes | None = None

    @property
    def creates(self) -> bool:
        return (self.method, self.target.split("?")[0]) == CREATE


def states(document: Any) -> dict[str, str]:
    """The payments that an answer shows, with their states."""
    if not isinstance(document, dict):
        return {}
    data = document.get("data")
    entries = data if isinstance(data, list) else [document]
    return {
        entry["id"]: entry["state"]
        for entry in entries
        if isinstance(entry, dict) and str(entry.get("id", "")).startswith("pay_") and "state" in entry
    }


class Proxy:
    """A listener for one order, so that each request belongs to an order whatever it says."""

    def __init__(self, world: World, plan: Plan, hold: float) -> None:
        self.world, self.plan, self.hold = world, plan, hold
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self.server.getsockname()[1]
        self.checkout: Checkout | None = None
        self.seen: list[Seen] = []
        self.malformed: list[str] = []
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []

    def serve(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.thread(self.accept)

    def thread(self, run: Callable[..., object], *arguments: Any) -> None:
        thread = threading.Thread(target=self.quietly, args=(run, *arguments), daemon=True)
        self.threads.append(thread)
        thread.start()

    def quietly(self, run: Callable[..., object], *arguments: Any) -> None:
        try:
            run(*arguments)
        except wire.Malformed as error:
            self.malformed.append(str(error))
        except ProgramFailed as error:
            self.world.broken = str(error)
            if self.checkout is not None:
                self.checkout.stop()
        except OSError:
            # Either side closed its connection: the checkout was killed or gave up, or the daemon was killed.
            pass

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            self.thread(self.connected, connection)

    def close(self, seconds: float) -> None:
        """Ends the listener, and waits for requests that are still under way to the daemon."""
        try:
            self.server.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.server.close()
        deadline = time.monotonic() + seconds
        for thread in list(self.threads):
            thread.join(max(0.0, deadline - time.monotonic()))

    def connected(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        with connection:
            request = wire.read_request(connection)
            if request is not None:
                self.handle(request, self.note(request), connection)

    def note(self, request: wire.Message) -> Seen:
        assert self.checkout is not None
        with self.lock:
            seen = Seen(
                len(self.seen) + 1, self.checkout.start_number, self.checkout.clock(), *request.first,
                request.header("Idempotency-Key"), request.document())
            self.seen.append(seen)
        return seen

    def handle(self, request: wire.Message, seen: Seen, connection: socket.socket) -> None:
        if self.plan.hurried and seen.creates:
            request = request.with_header("Prefer", "wait=0")
        strike = self.plan.strike_at(seen.number)
        if strike is None:
            self.deliver(self.exchange(request, seen), seen, connection)
            return
        seen.fault = strike.fault
        strikes: dict[str, Callable[[wire.Message, Seen, Strike, socket.socket], None]] = {
            "kill-before": self.kill_before, "kill-during": self.kill_during, "kill-after": self.kill_after,
            "late-request": self.late_request, "answer-lost": self.answer_lost, "no-answer": self.no_answer,
            "unavailable": self.unavailable, "rate-limited": self.rate_limited, "twice": self.twice,
            "daemon-killed": self.daemon_killed,
        }
        strikes[strike.fault](request, seen, strike, connection)

    # The parts of an exchange.

    def send(self, request: wire.Message, seen: Seen) -> socket.socket:
        connection = wire.send_request(request, self.world.daemon_address, PATIENCE)
        seen.reached_daemon = True
        return connection

    def exchange(self, request: wire.Message, seen: Seen) -> wire.Message | None:
        return self.receive(self.send(request, seen), seen)

    def receive(self, connection: socket.socket, seen: Seen) -> wire.Message | None:
        answer = wire.read_answer(connection, seen.method)
        if answer is not None and seen.creates and answer.first[0] == "201":
            seen.settled = answer.body
        return answer

    def deliver(self, answer: wire.Message | None, seen: Seen, connection: socket.socket) -> None:
        """Gives the checkout the answer. Where there is none, its connection is closed without a byte."""
        if answer is None or self.checkout is None:
            return
        seen.status = int(answer.first[0])
        after = answer.header("Retry-After") or ""
        seen.retry_after = int(after) if after.isdigit() else None
        seen.states = states(answer.document())
        # Noted before it is sent: the next request may come before this thread goes on.
        seen.answered = self.checkout.clock()
        try:
            wire.write_answer(answer, connection)
        except OSError:
            seen.answered = None

    def kill(self, seen: Seen, why: str) -> None:
        if self.checkout is not None and not self.checkout.kill(seen.start, why):
            seen.fault = None

    # The faults.

    def kill_before(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        self.kill(seen, f"at request {seen.number}, which did not reach the daemon")

    def kill_during(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        behind = self.send(request, seen)
        self.kill(seen, f"once the daemon had request {seen.number}")
        self.receive(behind, seen)

    def kill_after(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        self.deliver(self.exchange(request, seen), seen, connection)
        time.sleep(strike.milliseconds / 1000)
        self.kill(seen, f"{strike.milliseconds} ms after the answer to request {seen.number}")

    def late_request(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        self.kill(seen, f"at request {seen.number}, which reached the daemon {strike.milliseconds} ms later")
        time.sleep(strike.milliseconds / 1000)
        self.exchange(request, seen)

    def answer_lost(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        self.exchange(request, seen)

    def no_answer(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        self.thread(self.exchange, request, seen)
        connection.settimeout(self.hold)
        # Returns when the checkout gives up; its process may also have been killed.
        connection.recv(1)

    def unavailable(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        answer = wire.problem(503, "not-accepting", "Not accepting payments", 1 + strike.milliseconds % 2)
        self.deliver(answer, seen, connection)

    def rate_limited(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        answer = wire.problem(429, "rate-limited", "Too many requests", 1 + strike.milliseconds % 2)
        self.deliver(answer, seen, connection)

    def twice(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        first, second = self.send(request, seen), self.send(request, seen)
        self.deliver(self.receive(first, seen), seen, connection)
        self.receive(second, seen)

    def daemon_killed(self, request: wire.Message, seen: Seen, strike: Strike, connection: socket.socket) -> None:
        with self.world.restarts:
            behind = self.send(request, seen)
            time.sleep(strike.milliseconds / 1000)
            self.world.kill_daemon()
            behind.close()
            # The connection breaks at once, as it would without the proxy.
            connection.close()
            self.world.restart_daemon()
