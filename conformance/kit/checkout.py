"""Runs the checkout of one order: starts it, kills it, and starts it again until it ends."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import threading
import time
from typing import Any

# Where a checkout ends with another code than 0, a supervisor would start it again after a while.
PAUSE = 0.2


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a checkout may take."""

    seconds: float = 120
    # Starts beyond the first and one after each kill.
    extra_starts: int = 10


@dataclasses.dataclass
class Start:
    """One run of the checkout's process; times count from the order's begin."""

    number: int
    began: float
    ended: float | None = None
    code: int | None = None
    killed: str | None = None


@dataclasses.dataclass
class End:
    """How an order ended: what the checkout said, or why it did not end."""

    said: dict[str, Any] | None
    output: str
    why_not: str | None


def said(output: bytes, order: str) -> dict[str, Any] | None:
    """The line of the contract in the output; None where there is none, or more than one that differ."""
    found: list[dict[str, Any]] = []
    for line in output.decode(errors="replace").splitlines():
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict) and document.get("order") == order and document not in found:
            found.append(document)
    if len(found) != 1 or found[0].get("result") not in ("paid", "failed"):
        return None
    return found[0]


class Checkout:
    """The process of one order. Threads of the proxy may kill it at any moment."""

    def __init__(
        self, command: list[str], cwd: pathlib.Path, environment: dict[str, str], directory: pathlib.Path,
        limits: Limits, moments: tuple[int, ...],
    ) -> None:
        self.command, self.cwd, self.environment = command, cwd, environment
        self.order, self.directory = environment["CHECKOUT_ORDER"], directory
        self.limits, self.moments = limits, moments
        self.begin = time.monotonic()
        self.starts: list[Start] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.is_stopped = False

    def clock(self) -> float:
        return time.monotonic() - self.begin

    @property
    def start_number(self) -> int:
        return len(self.starts)

    def kill(self, start: int, why: str) -> bool:
        """Kills the process group with kill -9 if that start still runs; whether it did."""
        with self.lock:
            if self.process is None or self.start_number != start or self.process.poll() is not None:
                return False
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.starts[-1].killed = why
            return True

    def stop(self) -> None:
        self.is_stopped = True
        self.kill(self.start_number, "the kit ends")

    def run(self) -> End:
        self.begin = time.monotonic()
        kills = 0
        while not self.is_stopped:
            if self.start_number - kills > self.limits.extra_starts:
                return self.gave_up(f"It ended {self.start_number - kills} times with another code than 0.")
            if not self.run_once():
                return self.gave_up(f"It did not end within {self.limits.seconds:.0f} s.")
            start = self.starts[-1]
            if start.killed:
                kills += 1
            elif start.code == 0:
                output = self.output("out")
                return End(said(output, self.order), output.decode(errors="replace"), None)
            else:
                time.sleep(PAUSE)
        return self.gave_up("The kit was stopped.")

    def run_once(self) -> bool:
        """Whether the process ended in time."""
        number = self.start_number + 1
        with self.path("out", number).open("wb") as out, self.path("err", number).open("wb") as err, self.lock:
            self.starts.append(Start(number, self.clock()))
            self.process = subprocess.Popen(
                self.command, cwd=self.cwd, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                # A group of its own, so that a kill also reaches what the checkout starts.
                start_new_session=True)
        timer = self.kill_at_moment(number)
        try:
            code = self.process.wait(max(0.1, self.limits.seconds - self.clock()))
        except subprocess.TimeoutExpired:
            self.kill(number, "its time is over")
            return False
        finally:
            if timer is not None:
                timer.cancel()
            with contextlib.suppress(ProcessLookupError):
                # What the process left behind would go on beside its next start.
                os.killpg(self.process.pid, signal.SIGKILL)
        with self.lock:
            self.starts[-1].ended, self.starts[-1].code = self.clock(), code
        return True

    def kill_at_moment(self, number: int) -> threading.Timer | None:
        if number > len(self.moments):
            return None
        after = self.moments[number - 1]
        timer = threading.Timer(after / 1000, self.kill, (number, f"{after} ms after its start"))
        timer.daemon = True
        timer.start()
        return timer

    def gave_up(self, why: str) -> End:
        return End(None, self.output("out").decode(errors="replace"), why)

    def path(self, kind: str, number: int) -> pathlib.Path:
        return self.directory / f"start-{number}.{kind}"

    def output(self, kind: str) -> bytes:
        path = self.path(kind, self.start_number)
        return path.read_bytes() if path.exists() else b""
