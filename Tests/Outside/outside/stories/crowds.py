"""Whoever has no token can neither end the daemon, nor fill it, nor keep callers and probes out."""

import concurrent.futures
import contextlib
import resource
import socket
import threading
import time

import requests

from . import story

IDLE, DEAF, AT_THE_PROBES = 1_400, 400, 256
RATE = 50  # payments a second
MEMORY = 256 << 20


@contextlib.contextmanager
def connections(count, port, receive=None):
    """Connections that are opened and left; those that the daemon does not take within a second stay as they are."""
    opened = []
    try:
        for number in range(count):
            connection = socket.socket()
            if receive:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                connection.connect(("127.0.0.1", port))
            opened.append(connection)
            if number % 64 == 63:
                time.sleep(0.05)  # More than the listener's queue holds at once would come a second later.
        yield opened
    finally:
        for connection in opened:
            connection.close()


def push(opened, until):
    """Asks on each as often as the daemon takes it, and reads nothing."""
    asked = b"GET /v1/payments HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer none\r\n\r\n" * 2_000
    left = {connection: memoryview(asked) for connection in opened}
    while time.monotonic() < until and left:
        for connection, rest in list(left.items()):
            try:
                left[connection] = rest[connection.send(rest):]
            except BlockingIOError:
                continue
            except OSError:
                left.pop(connection)  # The daemon ended it.
        time.sleep(0.05)


def pay(shop, provider, seconds):
    """Payments at a steady rate: how long each took from the moment at which it was due, and what was told of it."""
    def one(due):
        told = shop.pay((provider, 100), wait=10)
        return time.monotonic() - due, told
    with concurrent.futures.ThreadPoolExecutor(RATE) as pool:
        began, work = time.monotonic(), []
        for number in range(RATE * seconds):
            due = began + number / RATE
            time.sleep(max(0, due - time.monotonic()))
            work.append(pool.submit(one, due))
        return [each.result() for each in work]


def probe(daemon, ends, slow):
    """Asks the probes on new connections, and notes what was not answered within a second."""
    while not ends.is_set():
        for path in ("/livez", "/readyz"):
            began = time.monotonic()
            try:
                good = requests.get(daemon.admin + path, timeout=5).status_code == 200
            except requests.RequestException:
                good = False
            if not good or time.monotonic() - began > 1:
                slow.append(f"{path}: {'answered' if good else 'not answered'} after {time.monotonic() - began:.1f} s")
        ends.wait(0.1)


def peak_memory(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) << 10


def slowest(done):
    """What 99 of 100 payments took at most, in seconds."""
    return sorted(took for took, _ in done)[len(done) * 99 // 100]


@story("crowds", "18", "Three crowds without a token change nothing for callers and probes, and fill no memory.")
def crowds(stage):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}))
    quiet = pay(shop, provider, 5)
    ends, slow = threading.Event(), []
    with contextlib.ExitStack() as all_of_them:
        deaf = all_of_them.enter_context(connections(DEAF, daemon.public_port, receive=4_096))
        threading.Thread(target=push, args=(deaf, time.monotonic() + 12), daemon=True).start()
        all_of_them.enter_context(connections(IDLE, daemon.public_port))
        all_of_them.enter_context(connections(AT_THE_PROBES, daemon.admin_port))
        watch = threading.Thread(target=probe, args=(daemon, ends, slow))
        watch.start()
        done = pay(shop, provider, 15)
        ends.set()
        watch.join()
    stage.check(daemon.is_running, "the daemon runs")
    states = {told.state for _, told in quiet + done}
    stage.check(states == {"succeeded"}, f"{len(done)} payments at {RATE} a second: {states}")
    before, beside = slowest(quiet), slowest(done)
    stage.note(f"99 of 100 payments took {before:.2f} s at most before, and {beside:.2f} s beside the crowds")
    stage.check(beside < before + 1, "payments take their usual time and less than a second more")
    stage.check(not slow, f"probes that took longer than a second: {slow[:3]}")
    memory = peak_memory(daemon)
    stage.check(memory < MEMORY, f"{memory >> 20} MiB at most")
    findings = stage.judge.findings()
    stage.check(not findings, "judge: " + ("; ".join(findings[:4]) or "no finding"))
