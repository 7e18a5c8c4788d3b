"""Callers as a shop would write them, paying through the traffic switch at a steady rate.

Every caller repeats its request with the same key until it has an answer, and follows a payment that is still
settling. What a caller was promised is written to a journal and flushed to disk before it counts: the journal lies
outside of the system, and is what "acknowledged" means in a drill's report. SIGTERM ends it: no new payments, patience
for those begun.
"""

import argparse
import signal
import sys
import threading
import time
from pathlib import Path

from caller import Caller
from journal import Journal
from plan import Plans


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="where the traffic switch listens")
    parser.add_argument("--token", required=True)
    parser.add_argument("--journal", required=True, type=Path)
    parser.add_argument("--rate", type=float, default=20, help="payments a second, all callers together")
    parser.add_argument("--callers", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prefix", required=True, help="begins every idempotency key")
    parser.add_argument("--patience", type=float, default=90, help="seconds for what was begun, after the end")
    options = parser.parse_args()

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    journal = Journal(options.journal)
    plans = Plans(options.seed, options.prefix)
    callers = [
        Caller(number, options, plans, journal, stop, interval=options.callers / options.rate)
        for number in range(options.callers)
    ]
    for caller in callers:
        caller.start()
    looked = time.time()
    while not stop.wait(0.2):
        # Nobody can settle a payment on a machine that stands still; a report has to tell both apart.
        late = time.time() - looked - 0.2
        looked += late + 0.2
        # A busy machine is late by less.
        if late > 2:
            journal.write("stood_still", "", took_ms=int(late * 1000))
        broken = [caller for caller in callers if caller.failure is not None]
        if broken:
            print(f"a caller broke: {broken[0].failure!r}", file=sys.stderr)
            return 1
    end = time.monotonic() + options.patience + 20
    for caller in callers:
        caller.join(max(0.0, end - time.monotonic()))
    broken = [caller for caller in callers if caller.failure is not None or caller.is_alive()]
    # Without this line nobody may conclude anything from what is not in the journal.
    journal.write("ended", "", callers=len(callers), broken=len(broken))
    journal.close()
    for caller in broken:
        print(f"a caller broke: {caller.failure!r}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
