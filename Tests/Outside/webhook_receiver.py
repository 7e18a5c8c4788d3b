#!/usr/bin/env python3
"""A receiver of webhooks that shares nothing with the daemon.

It verifies each delivery by itself, after the Standard Webhooks specification, appends what it heard to `heard.jsonl`
in its directory, and answers as the file `answer` there says: a status, `lose` (it ends the connection without an
answer), or a status and a location for a redirection. Without that file it answers 204.

    webhook_receiver.py DIRECTORY SECRET [SECRET]    prints its port
"""

import base64
import hashlib
import hmac
import http.server
import json
import pathlib
import sys
import threading
import time

directory = pathlib.Path(sys.argv[1])
secrets = sys.argv[2:]
lock = threading.Lock()


def signed_by(headers, body):
    """The positions of those secrets whose signature is there."""
    content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    given = headers["webhook-signature"].split(" ")
    found = []
    for index, secret in enumerate(secrets):
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        code = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        if f"v1,{code}" in given:
            found.append(index)
    return found


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        document = json.loads(body)
        path = directory / "answer"
        answer = path.read_text().split() if path.exists() else ["204"]
        heard = {
            "id": self.headers["webhook-id"],
            "age": time.time() - int(self.headers["webhook-timestamp"]),
            "signed_by": signed_by(self.headers, body),
            "content_type": self.headers["content-type"],
            "authorization": self.headers["authorization"],
            "path": self.path,
            "type": document["type"],
            "timestamp": document["timestamp"],
            "payment": document["data"],
            "answer": answer[0],
        }
        with lock, open(directory / "heard.jsonl", "a") as file:
            file.write(json.dumps(heard) + "\n")
        if answer[0] == "lose":
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(int(answer[0]))
        if len(answer) > 1:
            self.send_header("Location", answer[1])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
# Whoever started it ends it, also by ending: its input ends then.
threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
server.serve_forever()
