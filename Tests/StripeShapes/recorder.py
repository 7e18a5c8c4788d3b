"""Stands between the contract suite and the simulator, and writes down what both say, one exchange on a line.

    recorder.py PORT UPSTREAM FILE
"""

import http.server
import json
import sys
import threading
import urllib.error
import urllib.request

LEFT_OUT = {"connection", "content-length", "transfer-encoding", "host", "accept-encoding", "date", "server"}


def main(port, upstream, path):
    lock = threading.Lock()
    record = open(path, "w", encoding="utf-8")

    class Recorder(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            """Nothing but the record is written."""

        def exchange(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fields = {name: value for name, value in self.headers.items() if name.lower() not in LEFT_OUT}
            data = None if self.command == "GET" else body
            request = urllib.request.Request(upstream + self.path, data=data, headers=fields, method=self.command)
            try:
                answer = urllib.request.urlopen(request)
            except urllib.error.HTTPError as refusal:
                answer = refusal
            content = answer.read()
            line = {
                "method": self.command, "path": self.path, "body": body.decode(), "status": answer.status,
                "key": self.headers.get("Idempotency-Key"), "version": self.headers.get("Stripe-Version"),
                "answer": content.decode(),
            }
            with lock:
                record.write(json.dumps(line) + "\n")
                record.flush()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in LEFT_OUT:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = exchange

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Recorder).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
