"""The daemon's configuration for a story: everything is short, so that a story takes seconds."""

import copy
import hashlib
import json
import secrets

CALLER = "outside-shop"
OPERATOR = "outside-operator"

# Every span that a story does not name. The longest life of a request must exceed send_within + total by a second.
QUICK = {
    "reconcile": {
        "inquiry_schedule": ["200ms", "500ms", "1s", "1s"],
        "resend_schedule": ["200ms", "500ms", "1s"],
        "default_deadline": "20s",
        "send_within": "500ms",
        "contradiction_heals_after": "2s",
        "lease": "3s",
        "poll_every": "200ms",
        "seal_every": "5s",
        "shutdown_grace": "1s",
        "comparison": {"window": "1m", "settle_delay": "0s", "ask_again_after": "1s"},
    },
    "objectives": {"settle_within": "3s"},
    "telemetry": {"log_level": "info"},
}
QUICK_PROVIDER = {
    "allow_plain_http": True,
    "timeouts": {"connect": "500ms", "tls": "500ms", "first_byte": "800ms", "total": "1s"},
    "breaker": {"failure_percent": 100, "open_for": "300ms"},
}
QUICK_CONTRACT = {
    "max_request_life": "3s", "clock_skew": "100ms", "visibility_lag": "0s", "requests_per_second": 2000,
    "concurrency": 64,
}


class Settings:
    """A configuration that a story changes before the daemon reads it."""

    def __init__(self, directory):
        self.directory = directory
        self.caller_token = secrets.token_hex(16)
        self.operator_token = secrets.token_hex(16)
        self.provider_token = secrets.token_hex(16)
        self.schema = None  # of PostgreSQL; without one the store is SQLite
        self.tree = copy.deepcopy(QUICK)
        self.tree["store"] = {"url": f"sqlite:{directory}/books.sqlite"}
        self.tree["callers"] = [{"name": CALLER, "token_sha256": digest(self.caller_token)}]
        self.tree["providers"] = []

    def listen(self, public_port, admin_port):
        self.tree["http"] = {"host": "127.0.0.1", "port": public_port}
        self.tree["admin"] = {
            "host": "127.0.0.1", "port": admin_port,
            "operators": [{"name": OPERATOR, "token_sha256": digest(self.operator_token)}],
        }

    def beside(self, directory):
        """The same for another daemon on the same store."""
        twin = copy.deepcopy(self)
        twin.directory = directory
        return twin

    def provider(self, provider, **contract):
        """Names a provider, with what its contract has other than the quick one."""
        entry = {"name": provider.name, "url": provider.url, **copy.deepcopy(QUICK_PROVIDER)}
        entry["contract"] = {**QUICK_CONTRACT, **contract}
        self.tree["providers"].append(entry)

    def use_postgres(self, url, schema):
        """PostgreSQL instead of SQLite: a schema of its own, which `migrate` makes."""
        self.schema = schema
        self.tree["store"] = {"url": url, "schema": schema}

    def set(self, path, value):
        """Sets one key, such as `reconcile.default_deadline`."""
        *parents, last = path.split(".")
        node = self.tree
        for name in parents:
            node = node.setdefault(name, {})
        node[last] = value

    def write(self):
        path = self.directory / "reconciled.yaml"
        path.write_text(json.dumps(self.tree, indent=2))  # JSON is YAML.
        return path

    def environment(self):
        names = [entry["name"].upper() for entry in self.tree["providers"]]
        return {f"RECONCILED_PROVIDERS_{name}_TOKEN": self.provider_token for name in names}


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()
