"""The proxy reads what HTTP clients of different languages send, and writes what they read."""

import socket
import unittest

from kit import wire


def read(sent: bytes) -> wire.Message | None:
    client, server = socket.socketpair()
    with client, server:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        return wire.read_request(server)


class WireTest(unittest.TestCase):
    def test_a_body_with_a_length(self) -> None:
        request = read(b"POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
        assert request is not None
        self.assertEqual((request.first, request.body), (("POST", "/v1/payments"), b"{}"))

    def test_a_body_in_chunks(self) -> None:
        request = read(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n")
        assert request is not None
        self.assertEqual(request.body, b"{}")

    def test_a_connection_that_ends_early_has_no_request(self) -> None:
        self.assertIsNone(read(b""))
        self.assertIsNone(read(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}"))

    def test_what_is_not_http_is_said(self) -> None:
        with self.assertRaises(wire.Malformed):
            read(b"\x16\x03\x01\x02\r\n")
        with self.assertRaises(wire.Malformed):
            read(b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n")

    def test_a_client_that_waits_for_continue_gets_it(self) -> None:
        client, server = socket.socketpair()
        with client, server:
            client.sendall(b"PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n1")
            request = wire.read_request(server)
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 100 "))
        assert request is not None
        self.assertEqual(request.body, b"1")

    def test_what_belongs_to_the_connection_is_not_passed_on(self) -> None:
        request = wire.Message(("GET", "/"), [("Host", "a"), ("TE", "x"), ("Prefer", "wait=9")], b"")
        sent = request.with_header("Prefer", "wait=0").bytes("GET / HTTP/1.1", "b:1").decode()
        self.assertEqual(
            sent, "GET / HTTP/1.1\r\nHost: b:1\r\nPrefer: wait=0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def test_a_problem_is_read_as_the_daemons(self) -> None:
        answer = wire.problem(503, "not-accepting", "Not accepting payments", 2)
        self.assertEqual(answer.header("retry-after"), "2")
        self.assertEqual(answer.document()["type"], "/problems/not-accepting")


if __name__ == "__main__":
    unittest.main()
