"""HTTP/1.1 as the proxy needs it: one request and one answer on a connection."""

import dataclasses
import http.client
import io
import json
import socket
from typing import Any

# What belongs to one connection, or is computed anew when the message is written.
OF_CONNECTION = {
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade", "expect",
    "content-length", "host",
}


class Malformed(Exception):
    """The checkout did not send HTTP/1.1."""


@dataclasses.dataclass
class Message:
    """A request or an answer; `first` is its first line without the version."""

    first: tuple[str, str]
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def with_header(self, name: str, value: str) -> "Message":
        kept = [(key, old) for key, old in self.headers if key.lower() != name.lower()]
        return Message(self.first, [*kept, (name, value)], self.body)

    def document(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def bytes(self, first_line: str, host: str | None = None) -> bytes:
        lines = [first_line] + ([f"Host: {host}"] if host else [])
        lines += [f"{key}: {value}" for key, value in self.headers if key.lower() not in OF_CONNECTION]
        lines += [f"Content-Length: {len(self.body)}", "Connection: close", "", ""]
        return "\r\n".join(lines).encode("latin-1") + self.body


def chunked_body(stream: io.BufferedReader) -> bytes:
    body = b""
    while True:
        size = int(stream.readline(1024).split(b";")[0], 16)
        if size == 0:
            while stream.readline(65536) not in (b"\r\n", b"\n", b""):
                pass
            return body
        body += stream.read(size)
        stream.readline(16)


def read_request(connection: socket.socket) -> Message | None:
    """The request on the connection; None where it ends without one."""
    stream = connection.makefile("rb")
    first = stream.readline(65536)
    if not first.strip():
        return None
    words = first.decode("latin-1").split()
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Malformed(f"The first line is {first[:80]!r}.")
    headers = list(http.client.parse_headers(stream).items())
    request = Message((words[0], words[1]), headers, b"")
    if (request.header("Expect") or "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        if "chunked" in (request.header("Transfer-Encoding") or "").lower():
            request.body = chunked_body(stream)
        else:
            length = int(request.header("Content-Length") or 0)
            request.body = stream.read(length)
            if len(request.body) < length:
                return None
    except ValueError as error:
        raise Malformed(str(error)) from error
    return request


def send_request(request: Message, address: tuple[str, int], patience: float) -> socket.socket:
    """Passes the request on; the connection on which the answer will come."""
    connection = socket.create_connection(address, timeout=patience)
    method, target = request.first
    connection.sendall(request.bytes(f"{method} {target} HTTP/1.1", f"{address[0]}:{address[1]}"))
    return connection


def read_answer(connection: socket.socket, method: str) -> Message | None:
    """The answer; None where the connection ends without a whole one."""
    response = http.client.HTTPResponse(connection, method=method)
    try:
        response.begin()
        body = response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        response.close()
        connection.close()
    return Message((str(response.status), response.reason), response.getheaders(), body)


def write_answer(answer: Message, connection: socket.socket) -> None:
    connection.sendall(answer.bytes(f"HTTP/1.1 {answer.first[0]} {answer.first[1]}"))
    connection.shutdown(socket.SHUT_WR)


def problem(status: int, kind: str, title: str, retry_after: int) -> Message:
    """An answer as the daemon would give it."""
    document = {
        "type": f"/problems/{kind}", "title": title, "status": status, "retryable": True, "retry_after": retry_after,
    }
    headers = [("Content-Type", "application/problem+json"), ("Retry-After", str(retry_after))]
    return Message((str(status), http.client.responses[status]), headers, json.dumps(document).encode())
