"""A provider of the reference contract on a loopback port, in a thread of its own."""

import asyncio
import json
import re
import socket
import threading
import time
import urllib.parse
from dataclasses import dataclass
from email.utils import formatdate

from .contract import Answer, Call, Contract, Terms, problem
from .misbehaviour import HANG_UP, Script

REASONS = {200: "OK", 201: "Created", 202: "Accepted", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}
ROUTES = [
    ("PUT", r"/transactions/([\w-]+)", "put"),
    ("GET", r"/transactions/([\w-]+)", "read"),
    ("POST", r"/transactions/([\w-]+)/void", "void"),
    ("PUT", r"/transactions/([\w-]+)/captures/([\w-]+)", "capture"),
    ("GET", r"/transactions/([\w-]+)/captures/([\w-]+)", "read_capture"),
    ("PUT", r"/transactions/([\w-]+)/refunds/([\w-]+)", "refund"),
    ("GET", r"/transactions/([\w-]+)/refunds/([\w-]+)", "read_refund"),
    ("GET", r"/transactions", "list"),
]
STRAY = problem("invalid-request")


@dataclass
class Served:
    """One entry of the journal."""

    at: float
    verb: str
    key: str
    subkey: str
    status: int  # 0: hung up


@dataclass(eq=False)
class Connection:
    """One connection of a caller, kept alive as long as it likes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    owes_stray: bool = False  # a second response is written as soon as the next request arrives


class Provider:
    """Serves one contract. `script` says how it goes wrong; `ledger` is what happened."""

    def __init__(self, name, **terms):
        self.name = name
        self.contract = Contract(Terms(**terms))
        self.script = Script()
        self.journal = []
        self.defects = []
        self.stray_after = None  # (serial number of an answer) -> "at once", "late", "next" or None
        self.lock = threading.RLock()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._server = None
        self._connections = set()
        self._count = 0
        self._answers = 0
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.return_to_service()

    @property
    def ledger(self):
        return self.contract.ledger

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def calls(self, verbs, key=None):
        names = verbs.split()
        return [each for each in self.journal if each.verb in names and key in (None, each.key)]

    def go_away(self):
        """Nobody listens any more, and open connections end."""
        self._run(self._close())

    def return_to_service(self):
        self._run(self._listen())

    def stop(self):
        self._run(self._close())
        self._run(self._end_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self, work):
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _listen(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _close(self):
        if self._server:
            self._server.close()
            self._server = None
        for connection in list(self._connections):
            connection.writer.transport.abort()

    async def _end_tasks(self):
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader, writer):
        self._count += 1
        connection = Connection(reader, writer, self._count)
        self._connections.add(connection)
        try:
            while await self._exchange(connection):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # The other side went away, or sent what is no HTTP.
        except Exception as error:  # noqa: BLE001 a defect of this provider: the story counts for nothing
            self.defects.append(f"{type(error).__name__}: {error}")
        finally:
            self._connections.discard(connection)
            writer.close()

    async def _exchange(self, connection):
        """Reads one request and answers it. Returns whether the connection goes on."""
        head = await connection.reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        pairs = (line.partition(":") for line in lines[1:] if line)
        fields = {name.lower(): value.strip() for name, _, value in pairs}
        content = await connection.reader.readexactly(int(fields.get("content-length", "0")))
        if connection.owes_stray:
            connection.owes_stray = False
            connection.writer.write(self._encode(STRAY))
        answer = await self._answer(method, target, fields, content, connection.number)
        if answer is HANG_UP:
            return False
        await self._send(connection, answer)
        return True

    async def _send(self, connection, answer):
        self._answers += 1
        kind = self.stray_after(self._answers) if self.stray_after else None
        data = self._encode(answer)
        connection.writer.write(data + self._encode(STRAY) if kind == "at once" else data)
        await connection.writer.drain()
        if kind == "late":
            await asyncio.sleep(0.02)
            connection.writer.write(self._encode(STRAY))
        connection.owes_stray = kind == "next"

    async def _answer(self, method, target, fields, content, number):
        if not fields.get("authorization", "").startswith("Bearer "):
            return problem("unauthorized", WWW_Authenticate="Bearer")
        call = self._read(method, target, fields, content, number)
        if call is None:
            return problem("invalid-request")
        entry = Served(time.time(), call.verb, call.key, call.subkey, 0)
        self.journal.append(entry)
        with self.lock:
            rule = self.script.take(call)
        answer = await rule.act(call, lambda: self._execute(call)) if rule else self._execute(call)
        if answer is not HANG_UP:
            entry.status = answer.status
        return answer

    def _read(self, method, target, fields, content, number):
        url = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(url.query))
        body = json.loads(content) if content else None
        for wanted, pattern, verb in ROUTES:
            match = re.fullmatch(pattern, url.path)
            if method != wanted or not match:
                continue
            if verb == "put":
                verb = body["kind"]
            keys = [*match.groups(), "", ""]
            return Call(verb, keys[0], keys[1], body, fields.get("not-after"), query, number)
        return None

    def _execute(self, call):
        with self.lock:
            answer = self.contract.execute(call)
            if call.verb == "list" and self.script.change_page:
                answer = Answer(answer.status, dict(answer.body), answer.headers)
                answer.body["data"] = self.script.change_page(answer.body["data"])
            return answer

    def _encode(self, answer):
        content = json.dumps(answer.body).encode()
        media = "application/problem+json" if answer.is_problem else "application/json"
        fields = {
            "Date": formatdate(self.contract.now(), usegmt=True), "Content-Type": media,
            "Content-Length": str(len(content)), **answer.headers,
        }
        head = f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Answer')}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return head.encode() + b"\r\n" + content
