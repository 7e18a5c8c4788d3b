"""A caller of the drills' load does what the integrator's page says."""

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "drills/load"))

from caller import Caller  # noqa: E402  pylint: disable=wrong-import-position
from journal import Journal  # noqa: E402  pylint: disable=wrong-import-position
from plan import Plan  # noqa: E402  pylint: disable=wrong-import-position


class ForgetfulServer(ThreadingHTTPServer):
    """Has a payment, accepts the first request for an operation on it, and loses that."""

    def __init__(self, operation):
        super().__init__(("127.0.0.1", 0), Handler)
        self.operation = operation
        self.keys = []

    @property
    def is_done(self):
        return len(self.keys) > 1

    def payment(self):
        is_taken = self.is_done or self.operation == "refunds"
        given_back = self.is_done and self.operation == "refunds"
        return {
            "id": "pay_1", "state": "succeeded" if is_taken else "authorized",
            "captured": {"value": 900 if is_taken else 0}, "refunded": {"value": 900 if given_back else 0},
            "refunds": [{"state": "succeeded"}] if given_back else [],
        }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        self.answer(200)

    def do_POST(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.endswith(f"/{self.server.operation}"):
            return self.answer(201)
        self.server.keys.append(self.headers["Idempotency-Key"])
        return self.answer(201 if self.server.is_done else 202)

    def answer(self, status):
        body = json.dumps(self.server.payment()).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing."""


class CallerTests(unittest.TestCase):
    def test_a_capture_that_was_accepted_and_lost_is_repeated_under_its_key(self):
        self.assertEqual(self.told("captured", "capture"), [("authorized", 0), ("succeeded", 0)])

    def test_a_refund_that_was_accepted_and_lost_is_repeated_under_its_key(self):
        self.assertEqual(self.told("refunded", "refunds"), [("succeeded", 0), ("succeeded", 900)])

    def told(self, kind, operation):
        """What a caller is told of its payment: states, and what was given back."""
        server = ForgetfulServer(operation)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        plan = Plan("key-1", kind, {"amount": {"value": 900, "currency": "JPY"}}, 0.0)
        stop = threading.Event()
        plans = types.SimpleNamespace(take=lambda: (stop.set(), plan)[1])
        options = types.SimpleNamespace(
            url=f"http://127.0.0.1:{server.server_port}", token="token", patience=5.0, callers=1)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "journal.jsonl"
            caller = Caller(0, options, plans, Journal(path), stop, 0.01)
            caller.start()
            caller.join(30)
            events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        server.shutdown()
        server.server_close()
        self.assertFalse(caller.is_alive())
        self.assertIsNone(caller.failure)
        self.assertEqual(server.keys, [f"key-1-{operation}"] * 2)
        self.assertEqual([line["event"] for line in events if line["event"] == "gave_up"], [])
        return [(line["state"], line["refunded"]) for line in events if line["event"] == "told"]

    def test_the_load_notes_that_the_machine_stood_still(self):
        server = ForgetfulServer("capture")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as place:
            journal = Path(place) / "journal.jsonl"
            load = subprocess.Popen([
                sys.executable, "-B", str(ROOT / "drills/load"), "--url", f"http://127.0.0.1:{server.server_port}",
                "--token", "t", "--journal", str(journal), "--rate", "20", "--callers", "1", "--prefix", "k"])
            self.addCleanup(load.kill)
            self.await_line(journal, "told")
            load.send_signal(signal.SIGSTOP)
            # As long as the machine is to stand still.
            time.sleep(3)
            load.send_signal(signal.SIGCONT)
            took = self.await_line(journal, "stood_still")["took_ms"]
            load.kill()
            load.wait(timeout=30)
        server.shutdown()
        self.assertTrue(2000 <= took < 60_000, took)

    def await_line(self, journal, event):
        """The first line of an event, once it is written."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            text = journal.read_text(encoding="utf-8") if journal.exists() else ""
            for line in map(json.loads, text.splitlines(keepends=False)):
                if line["event"] == event:
                    return line
            time.sleep(0.05)
        self.fail(f"the load wrote no line '{event}'")


if __name__ == "__main__":
    unittest.main()
