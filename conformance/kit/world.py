"""The daemon and the simulator behind it, in a directory of their own, on free ports."""

import json
import pathlib
import subprocess
import threading
import urllib.request
from typing import Any

from kit.plans import PROVIDERS
from kit.programs import ProgramFailed, digest, environment_of, free_ports, start, stop

CALLER_TOKEN = "token-of-the-checkout"
JUDGE_TOKEN = "token-of-the-judge"
LOST = [
    {"fault": "response_lost", "rate": 0.4, "operations": ["authorize", "capture"]},
    {"fault": "request_lost", "rate": 0.2, "operations": ["authorize", "capture"]},
]
PENDING = {"fault": "pending", "rate": 1, "delay_ms": 1200, "operations": ["authorize"]}
RATES: dict[str, list[dict[str, Any]]] = {
    "late": [PENDING], "refusing": [PENDING | {"outcome": "declined"}], "lossy": LOST,
}


class World:
    """One daemon and one simulator. The daemon may be killed; the simulator stays."""

    def __init__(self, programs: pathlib.Path, directory: pathlib.Path, seed: int) -> None:
        self.programs, self.directory, self.seed = programs, directory, seed
        self.public, self.admin, self.simulator = free_ports(3)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.restarts = threading.Lock()
        self.times_killed = 0
        self.is_stopped = False
        # Why a killed daemon did not come back.
        self.broken: str | None = None

    @property
    def daemon_address(self) -> tuple[str, int]:
        return ("127.0.0.1", self.public)

    def configuration(self) -> str:
        # Short, so that what is in doubt settles within seconds, also after a kill of the daemon (`lease`).
        schedule = (
            "inquiry_schedule: [200ms, 500ms, 1s, 2s], resend_schedule: [200ms, 500ms, 1s], "
            "poll_every: 100ms, lease: 3s")
        lines = [
            f'store: {{url: "sqlite:{self.directory / "payments.sqlite"}"}}',
            f"http: {{host: 127.0.0.1, port: {self.public}}}",
            f"admin: {{host: 127.0.0.1, port: {self.admin}}}",
            "callers:",
            f"  - name: checkout\n    token_sha256: {digest(CALLER_TOKEN)}",
            f"    tokens: [{{name: judge, token_sha256: {digest(JUDGE_TOKEN)}, scopes: [read]}}]",
            f"reconcile: {{{schedule}}}",
            "providers:",
        ]
        for name in PROVIDERS:
            url = f"http://127.0.0.1:{self.simulator}/{name}"
            lines.append(f'  - {{name: {name}, url: "{url}", allow_plain_http: true}}')
        return "\n".join([*lines, "telemetry: {log_level: warning}", ""])

    def start(self) -> None:
        (self.directory / "reconciled.yaml").write_text(self.configuration())
        providers = [{"name": name, "rates": RATES.get(name, [])} for name in PROVIDERS]
        database = str(self.directory / "ledger.sqlite")
        simulator = {"port": self.simulator, "database": database, "seed": self.seed, "providers": providers}
        (self.directory / "simulator.json").write_text(json.dumps(simulator))
        self.launch("provider-simulator", "simulator.json", f"http://127.0.0.1:{self.simulator}/_control/health")
        self.start_daemon()

    def start_daemon(self) -> None:
        self.launch("reconciled", "reconciled.yaml", f"http://127.0.0.1:{self.admin}/readyz")

    def launch(self, program: str, configuration: str, url: str) -> None:
        command = [str(self.programs / program), "serve", "--config", str(self.directory / configuration)]
        log = self.directory / f"{program}.log"
        self.processes[program] = start(command, environment_of(PROVIDERS), log, url)

    def kill_daemon(self) -> None:
        process = self.processes["reconciled"]
        process.kill()
        process.wait()
        self.times_killed += 1

    def restart_daemon(self) -> None:
        if not self.is_stopped:
            self.start_daemon()

    def read(self, url: str, token: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
                return json.load(answer)
        except OSError as error:
            raise ProgramFailed(f"{url} cannot be read: {error}") from error

    def payments(self) -> list[dict[str, Any]]:
        """All payments of the checkout's caller, by a token that can only read."""
        found: list[dict[str, Any]] = []
        base = f"http://127.0.0.1:{self.public}/v1/payments?limit=200"
        cursor = ""
        while True:
            page = self.read(base + cursor, JUDGE_TOKEN)
            found += page["data"]
            if page["next_cursor"] is None:
                return found
            cursor = f"&cursor={page['next_cursor']}"

    def transactions(self) -> list[dict[str, Any]]:
        """The simulator's ledger, each transaction with the payment that its metadata names."""
        found: list[dict[str, Any]] = []
        for name in PROVIDERS:
            base = f"http://127.0.0.1:{self.simulator}/_control/{name}"
            names = self.read(f"{base}/metadata")["data"]
            for entry in self.read(f"{base}/ledger?format=json")["transactions"]:
                found.append(entry | {"provider": name, "payment": names.get(entry["key"], {}).get("payment")})
        return found

    def stop(self) -> None:
        self.is_stopped = True
        with self.restarts:
            stop(reversed(list(self.processes.values())))
