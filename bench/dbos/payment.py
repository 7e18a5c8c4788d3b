"""Payments as durable workflows of DBOS for Python: check, authorize, capture.

    python payment.py --database postgresql://bench@127.0.0.1:5432/dbos --provider http://127.0.0.1:8090/card \
        --clients 64 --warmup 5 --seconds 15

prints one line of JSON:

    {"payments": 1234, "seconds": 15.0, "per_second": 82.3, "p50_ms": 700.1, "p99_ms": 1100.2}

Each client sends one payment after the other and waits for it. A payment counts when its workflow ended, inside the
measured time, with the capture answered by the provider as done. Whatever else happens ends the run with 1.

What is the same as in the daemon's run: the server and its settings, the provider simulator as a process of its own,
two requests to it for each payment (authorize, capture), keys chosen by us, connections to it that stay open. What is
not: there is no caller's HTTP in front (clients call the workflow directly, which favours DBOS), and the check is a
step without a request, as the daemon's own is.

How DBOS is configured, and why that is fair:

  - The workflow is called directly, in the client's own thread. DBOS.start_workflow and a queue would let the client
    wait on a handle, or a queue's worker poll; the direct call has neither.
  - sys_db_pool_size: a connection for each client, and four for what DBOS does in the background. Its default of 20
    would make clients wait for connections.
  - max_executor_threads is left at its default, no limit.
  - Several processes (--processes), each an executor of its own, share the database: what DBOS recommends to scale
    beyond one process, because Python runs one thread of a process at a time.
  - The workflow's id is drawn here, as an idempotency key would be. No tracing, log level WARNING. Everything else,
    serializer, LISTEN and NOTIFY, pool checks, is DBOS's default.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import sys
import threading
import time
import uuid
from urllib.parse import urlsplit

from dbos import DBOS, DBOSConfig, SetWorkflowID

BACKGROUND_CONNECTIONS = 4
CONNECTIONS = threading.local()
PROVIDER = None


def put(path, body):
    """One PUT to the provider over this thread's own connection, which stays open."""
    connection = getattr(CONNECTIONS, "provider", None)
    if connection is None:
        connection = http.client.HTTPConnection(PROVIDER.hostname, PROVIDER.port, timeout=30)
        CONNECTIONS.provider = connection
    headers = {"Authorization": "Bearer bench", "Content-Type": "application/json"}
    connection.request("PUT", PROVIDER.path.rstrip("/") + path, json.dumps(body), headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    if response.status not in (200, 201):
        raise RuntimeError(f"the provider answered {response.status}: {answer}")
    return answer


@DBOS.step()
def check(order):
    if order["amount"]["value"] <= 0 or len(order["amount"]["currency"]) != 3 or not order["instrument"]:
        raise ValueError("not a payment")
    return True


@DBOS.step()
def authorize(key, order):
    answer = put(
        f"/transactions/{key}", {"kind": "authorize", "amount": order["amount"], "instrument": order["instrument"]}
    )
    return answer["status"]


@DBOS.step()
def capture(key, order):
    answer = put(f"/transactions/{key}/captures/{key}-c", {"amount": order["amount"]})
    return answer["status"]


@DBOS.workflow()
def payment(order):
    key = DBOS.workflow_id
    check(order)
    if authorize(key, order) != "authorized":
        return "declined"
    return capture(key, order)


def launch(arguments, number, run):
    clients = share(arguments.clients, arguments.processes, number)
    config: DBOSConfig = {
        "name": "payment-bench",
        "system_database_url": arguments.database,
        "sys_db_pool_size": clients + BACKGROUND_CONNECTIONS,
        "application_version": run,
        "executor_id": f"{run}-{number}",
        "log_level": "WARNING",
    }
    DBOS(config=config)
    DBOS.launch()
    return clients


def share(clients, processes, number):
    """How many of the clients the process of this number is."""
    return clients // processes + (1 if number < clients % processes else 0)


def client(begin, end, latencies, failures):
    """Pays until the end, and keeps the seconds that each payment took which ended in the measured time."""
    try:
        while time.monotonic() < end:
            order = {"amount": {"value": 1200, "currency": "JPY"}, "instrument": "tok-1", "reference": "order-1"}
            started = time.monotonic()
            with SetWorkflowID(f"pay_{uuid.uuid4().hex}"):
                outcome = payment(order)
            ended = time.monotonic()
            if outcome != "captured":
                raise RuntimeError(f"a payment ended as {outcome}")
            if begin <= ended < end:
                latencies.append(ended - started)
    except Exception as failure:
        failures.append(repr(failure))


def work(arguments, number, run, turn, together, results):
    """One process: launches DBOS when it is its turn, starts with the others, and reports what it measured."""
    global PROVIDER
    PROVIDER = urlsplit(arguments.provider)
    try:
        with turn:  # One after the other: the first creates the tables.
            clients = launch(arguments, number, run)
        together.wait()
        begin = time.monotonic() + arguments.warmup
        end = begin + arguments.seconds
        latencies, failures = [], []
        threads = [threading.Thread(target=client, args=(begin, end, latencies, failures)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        results.put((latencies, failures))
        DBOS.destroy()
    except Exception as failure:
        together.abort()
        results.put(([], [repr(failure)]))


def percentile(ordered, share_below):
    return round(1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share_below))], 2)


def main():
    parser = argparse.ArgumentParser(description="Payments as durable workflows of DBOS, in a closed loop.")
    parser.add_argument("--database", required=True, help="PostgreSQL, as a URL; DBOS creates the database if missing")
    parser.add_argument("--provider", required=True, help="the provider simulator's provider, as http://host:port/name")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="default: one for each core")
    parser.add_argument("--warmup", type=float, default=5, help="seconds before the measured time")
    parser.add_argument("--seconds", type=float, default=15, help="the measured time")
    arguments = parser.parse_args()
    arguments.processes = max(1, min(arguments.processes, arguments.clients))

    run = uuid.uuid4().hex[:12]
    context = multiprocessing.get_context("spawn")
    turn, together, results = context.Lock(), context.Barrier(arguments.processes), context.Queue()
    workers = [
        context.Process(target=work, args=(arguments, number, run, turn, together, results))
        for number in range(arguments.processes)
    ]
    for worker in workers:
        worker.start()
    latencies, failures = [], []
    for _ in workers:
        measured, failed = results.get(timeout=arguments.warmup + arguments.seconds + 120)
        latencies += measured
        failures += failed
    for worker in workers:
        worker.join()

    if failures or not latencies:
        for failure in failures[:5] or ["no payment ended in the measured time"]:
            print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
    latencies.sort()
    print(
        json.dumps(
            {
                "payments": len(latencies),
                "seconds": arguments.seconds,
                "per_second": round(len(latencies) / arguments.seconds, 2),
                "p50_ms": percentile(latencies, 0.50),
                "p99_ms": percentile(latencies, 0.99),
            }
        )
    )


if __name__ == "__main__":
    main()
