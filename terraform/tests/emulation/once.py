"""Executes a request once, however often it is sent.

A client of AWS sends a request again when the connection ends before the answer came. AWS knows most of them by a
token; moto executes them twice, and the second answer to a create is "already exists". The attempts of one call bear
the same identifier, so the first answer can be given again.
"""

import threading
from collections import defaultdict

IDENTIFIER = "HTTP_AMZ_SDK_INVOCATION_ID"


class Once:
    """A WSGI application around another one."""

    def __init__(self, application):
        self.application = application
        self.locks = defaultdict(threading.Lock)
        self.answers = {}
        # How often an answer was given again: a test's output says it.
        self.repeated = 0

    def __call__(self, environ, start_response):
        identifier = environ.get(IDENTIFIER)
        if identifier is None:
            return self.application(environ, start_response)
        # A second attempt waits for the first one.
        with self.locks[identifier]:
            if identifier in self.answers:
                self.repeated += 1
            else:
                answer = self.ask(environ)
                # A failure of the server may be tried again.
                if answer[0].startswith("5"):
                    start_response(answer[0], answer[1])
                    return [answer[2]]
                self.answers[identifier] = answer
        status, headers, body = self.answers[identifier]
        start_response(status, headers)
        return [body]

    def ask(self, environ) -> tuple[str, list, bytes]:
        started = {}

        def remember(status, headers, exc_info=None):
            started["status"], started["headers"] = status, list(headers)

        parts = self.application(environ, remember)
        try:
            body = b"".join(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        return started["status"], started["headers"], body
