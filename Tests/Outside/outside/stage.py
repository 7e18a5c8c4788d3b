"""Everything that a story plays on: providers, a daemon with its caller, the judge, and the checks."""

import pathlib
import secrets
import shutil
import subprocess
import tempfile
import time

from .caller import Caller
from .daemon import Daemon
from .judge import Judge
from .ledger import instant
from .provider import Provider
from .settings import Settings

# Clock skew and the longest life of a request in the quick configuration, and a little more.
JUDGED_AFTER = 3.6
# Seconds in which a run ends. One that a killed daemon left holds up the others, and is taken up within 30 seconds.
COMPARED_WITHIN = 50


class Skipped(Exception):
    """The story cannot be played with these options."""


class Stage:
    """Made for one story, and removed after it. `check` notes what was asserted."""

    def __init__(self, program, postgres=None):
        self.program = program
        self.postgres = postgres  # URL of a server in which schemas may be made; without it stores are SQLite files
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="outside-"))
        self.providers = []
        self.daemons = []
        self.callers = []
        self.checks = []
        self.began = time.time()

    @property
    def passed(self):
        return bool(self.checks) and all(good for good, _ in self.checks)

    @property
    def judge(self):
        return Judge(self.providers, self.callers)

    def check(self, good, text):
        self.checks.append((bool(good), text))
        return bool(good)

    def note(self, text):
        """Evidence that decides nothing."""
        self.checks.append((True, "note: " + text))

    def needs_sqlite(self):
        """For stories about the file."""
        if self.postgres:
            raise Skipped("the story is about an SQLite file")

    def provider(self, name, **terms):
        provider = Provider(name, **terms)
        self.providers.append(provider)
        return provider

    def daemon(self, *providers, name="store", change=None, start=True):
        """A daemon with a caller of its own. Each provider is one, or a pair of one and its contract's words."""
        directory = self.directory / name
        directory.mkdir()
        settings = Settings(directory)
        if self.postgres:
            settings.use_postgres(self.postgres, f"outside_{secrets.token_hex(6)}")
        daemon = Daemon(self.program, settings)
        for entry in providers:
            provider, words = entry if isinstance(entry, tuple) else (entry, {})
            settings.provider(provider, **words)
        if change:
            change(settings)
        self.daemons.append(daemon)
        caller = Caller(daemon)
        self.callers.append(caller)
        if start:
            daemon.start()
        return daemon, caller

    def daemon_beside(self, first, change=None):
        """Another daemon on the store of the first, with the same configuration but for `change`."""
        directory = self.directory / f"beside-{len(self.daemons)}"
        directory.mkdir()
        settings = first.settings.beside(directory)
        if change:
            change(settings)
        daemon = Daemon(self.program, settings)
        self.daemons.append(daemon)
        caller = Caller(daemon)
        self.callers.append(caller)
        return daemon.start(), caller

    def compare(self, daemon, provider, timeout=COMPARED_WITHIN):
        """Asks for a comparison of all until now, once it can be judged, and follows it to its end."""
        return self.compare_all(daemon, [provider], timeout)[0]

    def compare_all(self, daemon, providers, timeout=COMPARED_WITHIN):
        """The same at several providers at once."""
        end = time.time() + 0.01  # what happened in this very millisecond belongs to it
        time.sleep(JUDGED_AFTER + max(provider.contract.terms.visibility_lag for provider in providers))
        runs = [self._plan(daemon, provider, end) for provider in providers]

        def has_ended(run):
            return "id" not in run or self.run(daemon, run["id"])["state"] in ("completed", "abandoned")
        self.wait_until(lambda: all(has_ended(run) for run in runs), timeout)
        return [self.run(daemon, run["id"]) if "id" in run else run for run in runs]

    def _plan(self, daemon, provider, end):
        offset = provider.contract.terms.clock_offset
        window = {"from": instant(self.began - 60 + offset), "to": instant(end + offset)}
        status, run = daemon.order("/v1/reconciliations", {"provider": provider.name, **window, "again": True})
        return run if status == 202 else {"state": f"refused with {status}", "detail": run}

    @staticmethod
    def run(daemon, run):
        return daemon.ask(f"/v1/reconciliations/{run}")[1]

    @staticmethod
    def discrepancies(daemon):
        return daemon.ask("/v1/discrepancies?state=all&limit=200")[1]["data"]

    @staticmethod
    def wait_until(condition, timeout):
        """Looks until the condition holds. Returns whether it did."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def check_itself(self):
        """A story in which a provider broke by itself proves nothing."""
        for provider in self.providers:
            if provider.defects:
                self.check(False, f"the story's own provider broke: {provider.defects[0]}")

    def close(self, keep=False):
        for daemon in self.daemons:
            daemon.kill()
        for provider in self.providers:
            provider.stop()
        for schema in {daemon.settings.schema for daemon in self.daemons} - {None}:
            words = ["psql", "-qc", f"DROP SCHEMA IF EXISTS {schema} CASCADE", self.postgres]
            subprocess.run(words, capture_output=True, check=False)
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)
