"""Lets the orders happen: several at a time, and those that kill the daemon one by one after the others."""

import concurrent.futures
import dataclasses
import pathlib
import sys
import threading
import time
from collections.abc import Callable

from kit.checkout import Checkout, End, Limits, Start
from kit.plans import Plan
from kit.programs import ProgramFailed, own_environment
from kit.proxy import Proxy, Seen
from kit.world import CALLER_TOKEN, World


@dataclasses.dataclass
class Order:
    """One order to pay, by which command."""

    name: str
    plan: Plan
    command: list[str]


@dataclasses.dataclass
class Outcome:
    """What was seen of one order."""

    order: str
    plan: Plan
    end: End
    starts: list[Start]
    seen: list[Seen]
    malformed: list[str]


class Runner:
    """Runs orders against one world. `stop` may come from another thread or at an interruption."""

    def __init__(self, world: World, cwd: pathlib.Path, limits: Limits, hold: float, jobs: int) -> None:
        self.world, self.cwd, self.limits, self.hold, self.jobs = world, cwd, limits, hold, jobs
        self.checkouts: set[Checkout] = set()
        self.lock = threading.Lock()
        self.is_stopped = False

    def run(self, orders: list[Order], done: Callable[[Outcome], None]) -> list[Outcome]:
        # A daemon that is killed would disturb the other orders, and their plans would not be the same again.
        calm = [order for order in orders if not order.plan.kills_daemon]
        outcomes = self.run_some(calm, self.jobs, done)
        outcomes += self.run_some([order for order in orders if order.plan.kills_daemon], 1, done)
        return sorted(outcomes, key=lambda outcome: [order.name for order in orders].index(outcome.order))

    def run_some(self, orders: list[Order], jobs: int, done: Callable[[Outcome], None]) -> list[Outcome]:
        outcomes = []
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self.pay, order) for order in orders]
            try:
                for future in concurrent.futures.as_completed(futures):
                    outcomes.append(future.result())
                    done(outcomes[-1])
            except BaseException:
                self.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return outcomes

    def pay(self, order: Order) -> Outcome:
        base = self.world.directory / "orders" / order.name
        kept, outputs = base / "kept", base / "outputs"
        kept.mkdir(parents=True)
        outputs.mkdir()
        proxy = Proxy(self.world, order.plan, self.hold)
        environment = own_environment() | {
            "RECONCILED_URL": f"http://127.0.0.1:{proxy.port}",
            "RECONCILED_TOKEN": CALLER_TOKEN,
            "CHECKOUT_ORDER": order.name,
            "CHECKOUT_AMOUNT": str(order.plan.amount),
            "CHECKOUT_CURRENCY": "JPY",
            "CHECKOUT_PROVIDER": order.plan.provider,
            "CHECKOUT_INSTRUMENT": order.plan.instrument,
            "CHECKOUT_DIRECTORY": str(kept),
        }
        checkout = Checkout(order.command, self.cwd, environment, outputs, self.limits, order.plan.moments)
        with self.lock:
            checkout.is_stopped = self.is_stopped
            self.checkouts.add(checkout)
        proxy.serve(checkout)
        try:
            end = checkout.run()
        finally:
            proxy.close(0 if self.is_stopped else 40)
            with self.lock:
                self.checkouts.discard(checkout)
        if self.world.broken is not None:
            raise ProgramFailed(self.world.broken)
        return Outcome(order.name, order.plan, end, checkout.starts, proxy.seen, proxy.malformed)

    def stop(self) -> None:
        with self.lock:
            self.is_stopped = True
            checkouts = list(self.checkouts)
        for checkout in checkouts:
            checkout.stop()


class Progress:
    """Says on standard error how far it is, as a person waits for minutes."""

    def __init__(self, orders: int) -> None:
        self.orders, self.done, self.began = orders, 0, time.monotonic()
        self.next = 10.0

    def __call__(self, outcome: Outcome) -> None:
        self.done += 1
        passed = time.monotonic() - self.began
        if passed >= self.next and self.done < self.orders:
            self.next = passed + 10
            print(f"{passed:.0f} s  {self.done} of {self.orders} orders", file=sys.stderr)
