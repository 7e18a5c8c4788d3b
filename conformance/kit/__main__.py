"""The command line of the kit; `scripts/conformance` calls it."""

import argparse
import contextlib
import pathlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator

from kit import report, selftest
from kit.checkout import Limits
from kit.judge import judge
from kit.plans import SYSTEMATIC, plan, plans
from kit.programs import ProgramFailed
from kit.run import Order, Progress, Runner
from kit.world import World

EXAMPLE = "  scripts/conformance -- python3 conformance/examples/checkout.py"


def numbers(text: str) -> list[int]:
    """The numbers of plans in a list; each once, as each is one order."""
    found = sorted({int(number) for number in text.split(",")})
    if found[0] < 1:
        raise ValueError(text)
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/conformance", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Kills your checkout at many moments, and judges what it paid.", epilog=f"example:\n{EXAMPLE}")
    parser.add_argument("--programs", type=pathlib.Path, required=True, metavar="DIR",
                        help="the directory of reconciled and provider-simulator (the debug build)")
    parser.add_argument("--orders", type=int, default=SYSTEMATIC + 16, metavar="N",
                        help=f"how many orders; the first {SYSTEMATIC} are systematic (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="draws the other plans (%(default)s)")
    parser.add_argument("--only", type=numbers, metavar="N,N", help="only these plans, by their numbers")
    parser.add_argument("--jobs", type=int, default=6, metavar="N", help="orders at a time (%(default)s)")
    parser.add_argument("--patience", type=float, default=120, metavar="S",
                        help="seconds until an order has to end (%(default)s)")
    parser.add_argument("--hold", type=float, default=20, metavar="S",
                        help="the longest time for which a request gets no answer (%(default)s)")
    parser.add_argument("--settle", type=float, default=30, metavar="S",
                        help="how long the judge waits for payments that are not final (%(default)s)")
    parser.add_argument("--output", choices=["text", "json"], default="text")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                        help="work in this new directory, and leave it: outputs of the checkouts, logs, configuration")
    parser.add_argument("--self-test", action="store_true", help="the examples, right and wrong, instead of COMMAND")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="your checkout, after --")
    found = parser.parse_args()
    if bool(found.command) == found.self_test:
        parser.error("name either a COMMAND, after --, or --self-test")
    if found.keep is not None and found.keep.exists():
        parser.error(f"{found.keep} exists; --keep wants a new directory")
    if found.command and shutil.which(found.command[0]) is None:
        parser.error(f"there is no program {found.command[0]}")
    return found


@contextlib.contextmanager
def directory(keep: pathlib.Path | None) -> Iterator[pathlib.Path]:
    if keep is not None:
        keep.mkdir(parents=True)
        yield keep.resolve()
        return
    made = pathlib.Path(tempfile.mkdtemp(prefix="reconciled-conformance."))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def conformance(options: argparse.Namespace, world: World) -> int:
    wanted = plans(options.seed, options.orders)
    if options.only:
        wanted = [plan(options.seed, number) for number in options.only]
    orders = [Order(f"order-{options.seed}-{each.number}", each, options.command) for each in wanted]
    runner = Runner(world, pathlib.Path.cwd(), Limits(options.patience), options.hold, options.jobs)
    verdict = judge(world, runner.run(orders, Progress(len(orders))), options.settle)
    show = report.document if options.output == "json" else report.text
    print(show(verdict, options.seed, options.command))
    return 1 if verdict.findings or verdict.strays else 0


def main() -> int:
    options = arguments()
    # So that the programs end also where this one is told to.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with directory(options.keep) as place:
        world = World(options.programs.resolve(), place, options.seed)
        try:
            world.start()
            return selftest.run(world, options) if options.self_test else conformance(options, world)
        except ProgramFailed as broken:
            print(f"error: {broken}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 130
        finally:
            world.stop()


if __name__ == "__main__":
    sys.exit(main())
