"""The pair of docs/deploying.md on two PostgreSQL servers: the page's lines and statements make the files and the
databases, the rendered overlays configure the daemons, and the page's own command promotes the standby once the active
site is gone. Servers are asked by their names and prove them by their certificates, as at a real site."""

import glob
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

from manifests import Site, source

PROGRAM = os.environ.get("RECONCILED_PROGRAM")
SERVERS = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: float(path.split("/")[-2]))
#: Servers refuse to run as root.
USER = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
#: How long anything may take that is waited for.
LIMIT = 60


def blocks(page, heading):
    """The fenced blocks below a heading of a page, as (what is said to be in it, its text)."""
    text = source(page).split(f"\n{heading}\n", 1)[1]
    level = heading.split(" ")[0]
    text = re.split(rf"\n#{{1,{len(level)}}} ", text)[0]
    return [(kind, re.sub(r"(?m)^ {3}", "", body)) for kind, body in re.findall(r"(?ms)^ *```(\w*)\n(.*?)^ *```", text)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(SERVERS or os.environ.get("REQUIRE_ALL"), "there is no PostgreSQL server: the pair was not tried")
class Pair(unittest.TestCase):
    def setUp(self):
        self.assertTrue(PROGRAM, "RECONCILED_PROGRAM is not set; scripts/test-deployment sets it")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pair-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.directory.chmod(0o777)
        self.ports = {"site-a": free_port(), "site-b": free_port()}
        self.running = []

    def server(self, program, *arguments, directory=None, **options):
        """A program of PostgreSQL, as the user that may run servers."""
        result = subprocess.run(
            [f"{SERVERS[-1]}/{program}", *map(str, arguments)],
            cwd=directory or self.directory, env={**os.environ, "HOME": str(self.directory)},
            capture_output=True, text=True, check=False, timeout=LIMIT, **USER, **options,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, f"{program}: {result.stdout}{result.stderr}")
        return result.stdout

    def start(self, site):
        data = self.directory / site
        options = f"-p {self.ports[site]} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.directory}"
        # Its output goes to a file: a server that keeps this process's pipe open would be waited for.
        self.server("pg_ctl", "start", "-w", "-D", data, "-l", self.directory / f"{site}.log", "-o", options)
        self.addCleanup(self.stop, site)

    def stop(self, site, how="immediate"):
        subprocess.run(
            [f"{SERVERS[-1]}/pg_ctl", "stop", "-m", how, "-D", str(self.directory / site)],
            cwd=self.directory, capture_output=True, check=False, **USER,
        )  # fmt: skip

    def psql(self, site, text, directory=None):
        return self.server(
            "psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-p", self.ports[site],
            "-U", "postgres", "-d", "postgres", input=text, directory=directory,
        )  # fmt: skip

    def here(self, text, site):
        """A text of page or manifest, with a site's server here and files here; never a database that really is."""
        text = re.sub(r"\bhost=(\S+)", rf"host=\1 hostaddr=127.0.0.1 port={self.ports[site]}", text)
        return text.replace("/etc/reconciled/secrets", str(self.secrets))

    def lines(self, text, **variables):
        """Lines of the page in a shell, as whoever runs the servers, at home in the directory of the test."""
        environment = {"HOME": str(self.directory), "PATH": f"{SERVERS[-1]}:{os.environ['PATH']}", **variables}
        result = subprocess.run(
            ["bash", "-euc", text],
            env=environment, cwd=self.directory, capture_output=True, text=True, check=False, timeout=LIMIT, **USER,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    @property
    def secrets(self):
        """Where the page's first lines put the files."""
        return self.directory / "reconciled-secrets"

    def takes_certificate(self, site):
        """The first sentence of step 1: key and certificate in the data directory."""
        for end, mode in (("key", 0o600), ("crt", 0o644)):
            file = self.directory / site / f"server.{end}"
            shutil.copyfile(self.secrets / f"{site}.{end}", file)
            file.chmod(mode)
            if USER:
                shutil.chown(file, USER["user"], USER["group"])

    def knows_who_may_come(self, site, page):
        """The page's lines of pg_hba.conf, with addresses of this machine, and nobody else but the superuser."""
        text = "local all postgres trust\n" + re.sub(r"\b10\.\d+\.0\.0/16", "127.0.0.0/8", page)
        (self.directory / site / "pg_hba.conf").write_text(text, encoding="utf-8")

    def environment(self, overlay, place):
        """What a pod of the overlay has, with a server of this machine."""
        site = Site(overlay)
        file = self.directory / f"{overlay}.yaml"
        file.write_text(self.here(site.configuration(), place), encoding="utf-8")
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
        said = {name: self.here(value, place) for name, value in site.site_variables().items()}
        return {
            **kept, **said, "RECONCILED_CONFIG": str(file),
            "RECONCILED_STORE_PASSWORD_FILE": str(self.secrets / "store-password"),
            "RECONCILED_HTTP_PORT": "0", "RECONCILED_ADMIN_PORT": str(free_port()),
        }  # fmt: skip

    def reconciled(self, environment, *arguments):
        """(exit code, output) of a command in a pod."""
        result = subprocess.run(
            [PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=2 * LIMIT
        )
        return result.returncode, result.stdout + result.stderr

    def serve(self, environment, title):
        with open(self.directory / f"{title}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([PROGRAM, "serve"], env=environment, stdout=log, stderr=log)
        self.addCleanup(process.wait, LIMIT)
        self.addCleanup(process.kill)
        return process

    def becomes(self, what, condition):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end, f"not in time: {what}")
            time.sleep(0.2)

    def the_metrics_of_the_alerts_are_there(self, environment):
        """A daemon of the active site shows what the alerts of a pair ask for; how late the standby is, only then."""
        rules = Site("active").get("PrometheusRule", "reconciled-sites")["spec"]["groups"][0]["rules"]
        asked = {name for entry in rules for name in re.findall(r"\breconciled_[a-z_]+", entry["expr"])}
        url = f"http://127.0.0.1:{environment['RECONCILED_ADMIN_PORT']}/metrics"
        with urllib.request.urlopen(url, timeout=LIMIT) as answer:
            shown = answer.read().decode("utf-8")
        for name in sorted(asked - {"reconciled_replication_lag_seconds"}):
            self.assertRegex(shown, rf"(?m)^{name}[{{ ]")

    def test_the_pair_of_the_page_is_made_and_promoted_by_its_own_commands(self):
        shown = blocks("docs/deploying.md", "### The databases")
        roles, waits = [body for kind, body in shown if kind == "sql"]
        (files,) = [body for _, body in shown if "SECRETS=$HOME" in body]
        (entries,) = [body for _, body in shown if body.startswith("hostssl")]
        (copy,) = [body for _, body in shown if "pg_basebackup" in body]
        self.lines(files)
        active, standby = self.environment("active", "site-a"), self.environment("standby-hot", "site-b")
        if active["RECONCILED_SITE_PROOF"] != "standby":
            self.skipTest("the overlays have another proof than the one that they are shipped with")

        self.server("initdb", "-D", self.directory / "site-a", "-A", "trust", "-U", "postgres", "--no-sync")
        self.takes_certificate("site-a")
        self.knows_who_may_come("site-a", entries)
        self.start("site-a")
        self.psql("site-a", roles, self.secrets)
        self.stop("site-a", "fast")
        self.start("site-a")

        copy = self.here(copy, "site-a").replace(":5432:", f":{self.ports['site-a']}:")
        copy = re.sub(r"(?m)^DATA=\S+", f"DATA={self.directory}/site-b", copy)
        self.lines(copy, SECRETS=str(self.secrets))
        self.start("site-b")
        self.psql("site-a", waits)
        state = "SELECT sync_state FROM pg_stat_replication"
        self.becomes("the standby is synchronous", lambda: self.psql("site-a", state).strip() in ("sync", "quorum"))
        # As the page has it: the schema comes last, when commits already wait.
        code, text = self.reconciled(active, "migrate")
        self.assertEqual(code, 0, text)

        first = self.serve(active, "active")
        self.serve(standby, "standby")
        status = ("site", "status", "--output", "text")
        self.becomes("a lease", lambda: "proven by" in self.reconciled(active, *status)[1])
        self.becomes("a ready standby", lambda: self.reconciled(standby, "healthcheck", "--probe", "readyz")[0] == 0)
        self.assertEqual(self.reconciled(standby, "healthcheck", "--probe", "activez")[0], 1)

        self.the_metrics_of_the_alerts_are_there(active)

        # The site is lost: its daemons and its database.
        first.send_signal(signal.SIGKILL)
        self.stop("site-a")
        (command,) = [body for _, body in blocks("deploy/k8s/README.md", "## Promotion") if "site promote" in body]
        words = command.split("/usr/bin/reconciled", 1)[1].replace('"$USER"', "somebody")
        arguments = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', words)]
        code, text = self.reconciled(standby, *arguments)
        self.assertEqual(code, 0, text)
        is_active = ("healthcheck", "--probe", "activez")
        self.becomes("the other site is active", lambda: self.reconciled(standby, *is_active)[0] == 0)
        code, text = self.reconciled(standby, *status)
        self.assertIn(standby["RECONCILED_SITE_NAME"], text)
        self.assertNotIn("recovery", text, "a promotion that is proven complete opens no window")


if __name__ == "__main__":
    unittest.main()
