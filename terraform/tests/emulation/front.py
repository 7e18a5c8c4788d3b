"""What stands before the emulation: it knows of each request which service and region it is for, remembers it, and can
close any of them, as the loss of a region or of a control plane does.
"""

import json
import re
import threading
import uuid
from collections import Counter

# AWS Signature Version 4: the scope names date, region and service.
SCOPE = re.compile(r"Credential=[^/]+/\d{8}/([^/]+)/([^/]+)/aws4_request")
UPDATE = re.compile(r"^/clusters/[^/]+/updates/[^/]+$")
# Services whose control plane is in one region for all regions.
WORLDWIDE = {"iam", "route53"}


class Front:
    """A WSGI application around another one."""

    def __init__(self, application):
        self.application = application
        self.lock = threading.Lock()
        self.closed = nothing
        self.asked = Counter()
        self.refused = Counter()

    def __call__(self, environ, start_response):
        scope = SCOPE.search(environ.get("HTTP_AUTHORIZATION", "") + environ.get("QUERY_STRING", "").replace("%2F", "/"))
        if scope is None:
            return self.application(environ, start_response)
        region, service = scope.groups()
        where = (service, "worldwide" if service in WORLDWIDE else region)
        with self.lock:
            refused = self.closed(*where)
            (self.refused if refused else self.asked)[where] += 1
        if refused:
            # Not tried again, so that a run ends soon; what the text says stands in the client's error.
            start_response("403 Forbidden", [("Content-Type", "text/xml")])
            return [f"<ErrorResponse><Error><Code>Closed</Code><Message>{where[0]} in {where[1]} is closed</Message></Error>"
                    f"<RequestId>{uuid.uuid4()}</RequestId></ErrorResponse>".encode()]
        if UPDATE.match(environ["PATH_INFO"]) and service == "eks":
            # moto changes a group of nodes at once, and has nothing to ask how it goes on.
            update = {"id": environ["PATH_INFO"].rsplit("/", 1)[1], "status": "Successful", "type": "ConfigUpdate"}
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps({"update": update}).encode()]
        return self.application(environ, start_response)

    def forget(self) -> None:
        with self.lock:
            self.asked, self.refused = Counter(), Counter()


def nothing(service: str, region: str) -> bool:
    return False


def all_but(region: str):
    """Everything is closed that is not in this region, and so is what is worldwide."""
    return lambda service, where: where != region


def only(service: str | None, region: str):
    """One service in one region, or with None all of a region."""
    return lambda asked, where: where == region and service in (None, asked)
