"""A caller of the drills' load does what the integrator's page says."""

import json
import sys
import tempfile
import threading
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
    """Holds a payment, accepts its first capture, and loses that."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.captures = []
        self.is_captured = False

    def payment(self):
        state = "succeeded" if self.is_captured else "authorized"
        taken = {"value": 900 if self.is_captured else 0, "currency": "JPY"}
        return {"id": "pay_1", "state": state, "captured": taken, "refunded": {"value": 0}, "refunds": []}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        self.answer(200)

    def do_POST(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.endswith("/capture"):
            return self.answer(201)
        self.server.captures.append(self.headers["Idempotency-Key"])
        self.server.is_captured = len(self.server.captures) > 1
        return self.answer(200 if self.server.is_captured else 202)

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
        server = ForgetfulServer()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        plan = Plan("key-1", "captured", {"amount": {"value": 900, "currency": "JPY"}}, 0.0)
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
        self.assertEqual(server.captures, ["key-1-capture"] * 2)
        self.assertEqual([line["event"] for line in events if line["event"] == "gave_up"], [])
        self.assertEqual([line["state"] for line in events if line["event"] == "told"], ["authorized", "succeeded"])


if __name__ == "__main__":
    unittest.main()
