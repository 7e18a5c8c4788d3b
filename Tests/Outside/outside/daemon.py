"""One daemon: a process of its own, which a story starts, kills and asks."""

import os
import shutil
import signal
import socket
import subprocess
import time

import requests


class DaemonFailed(Exception):
    """The daemon did not start, or refused its configuration."""


class Daemon:
    """Runs `program serve` on a configuration. It listens on ports that were free."""

    def __init__(self, program, settings):
        self.program = program
        self.settings = settings
        self.process = None
        self.log = settings.directory / "daemon.log"
        self.public_port, self.admin_port = free_ports(2)
        settings.listen(self.public_port, self.admin_port)

    @property
    def public(self):
        return f"http://127.0.0.1:{self.public_port}"

    @property
    def admin(self):
        return f"http://127.0.0.1:{self.admin_port}"

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def books(self):
        """The SQLite file."""
        return self.settings.directory / "books.sqlite"

    def check(self):
        """What `check-config` says: exit code and words."""
        done = self.command("check-config")
        return done.returncode, (done.stdout + done.stderr).strip()

    def command(self, *words, timeout=20):
        path = self.settings.write()
        return subprocess.run(
            [self.program, *words, "--config", path], env=self._environment(), capture_output=True, text=True,
            timeout=timeout, check=False)

    def start(self, timeout=15):
        path = self.settings.write()
        if self.settings.schema and not self.process:
            done = self.command("migrate")
            if done.returncode != 0:
                raise DaemonFailed(f"migrate: {done.stderr.strip()}")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--config", path], env=self._environment(), stdout=log, stderr=log)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise DaemonFailed(f"ended with {self.process.returncode}: {self.last_words()}")
            if self._is_ready():
                return self
            time.sleep(0.05)
        raise DaemonFailed(f"not ready within {timeout} s: {self.last_words()}")

    def kill(self):
        """As a power cut would."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        if self.process:
            self.process.wait(10)

    def freeze(self):
        """As a machine that is paused."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """As an operator would; killed if it does not end."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()

    def save_books(self, name):
        """A copy of the store while no daemon runs on it."""
        for path in self.settings.directory.glob("books.sqlite*"):
            shutil.copy(path, path.with_name(name + path.name))

    def restore_books(self, name):
        for path in self.settings.directory.glob("books.sqlite*"):
            path.unlink()
        for path in self.settings.directory.glob(name + "books.sqlite*"):
            shutil.copy(path, path.with_name(path.name.removeprefix(name)))

    def words(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def last_words(self, count=4):
        return " | ".join(self.words().strip().splitlines()[-count:])

    def ask(self, path):
        """A question to the operators' listener: status and JSON."""
        headers = {"Authorization": f"Bearer {self.settings.operator_token}"}
        answer = requests.get(self.admin + path, headers=headers, timeout=5)
        return answer.status_code, answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.text

    def order(self, path, body):
        """A request of an operator: status and JSON."""
        headers = {"Authorization": f"Bearer {self.settings.operator_token}"}
        answer = requests.post(self.admin + path, json=body, headers=headers, timeout=5)
        return answer.status_code, answer.json()

    def _is_ready(self):
        try:
            return requests.get(self.admin + "/readyz", timeout=1).status_code == 200
        except requests.RequestException:
            return False

    def _environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RECONCILED_")}
        return {**kept, **self.settings.environment()}


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
