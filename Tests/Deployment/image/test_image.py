"""Runs the built image as a cluster would: no shell, no root, nothing to write to but a volume.

IMAGE names the image and SIMULATOR that of the provider simulator, RUNNER is podman or docker, RUNNER_OPTIONS goes to
its `run`. Needs nothing but Python.
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

IMAGE, SIMULATOR, RUNNER = os.environ["IMAGE"], os.environ["SIMULATOR"], os.environ["RUNNER"]
OPTIONS = os.environ.get("RUNNER_OPTIONS", "").split()
TOKEN = "token-of-the-image-test"
USER = 65532
#: The largest size of the image, in bytes: a third more than it was when this was written.
LARGEST = 150 * 1000 * 1000
#: The least that an orchestrator must be told; deploy/k8s gives 60 s. With nothing on the wire, a stop takes no time.
STOP_WITHIN = 10


def run(*arguments, ok=True):
    """The runner with arguments: what it wrote."""
    result = subprocess.run([RUNNER, *arguments], capture_output=True, text=True, check=False, timeout=120)
    if ok and result.returncode != 0:
        raise AssertionError(f"{RUNNER} {' '.join(arguments)}: {result.stdout}{result.stderr}")
    return result


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(condition, what, limit=30):
    """Waits for a condition, with a deadline."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"waited {limit} s: {what}"
        time.sleep(0.05)


def ask(port, path, body=None, **fields):
    """(status, body) of a request on this machine; 0 when nobody answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data)
    for name, value in fields.items():
        request.add_header(name.replace("_", "-"), value)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


class Facts(unittest.TestCase):
    """What the image says of itself."""

    @classmethod
    def setUpClass(cls):
        cls.image = json.loads(run("image", "inspect", IMAGE).stdout)[0]
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        created = run("create", IMAGE).stdout.strip()
        run("export", "--output", str(cls.directory / "image.tar"), created)
        run("rm", created)
        listing = subprocess.run(
            ["tar", "--list", "--verbose", "--file", cls.directory / "image.tar"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        cls.files = {line.split()[5].lstrip("./").rstrip("/"): line.split() for line in listing.stdout.splitlines()}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory)

    def test_it_runs_as_a_user_without_rights(self):
        self.assertEqual(self.image["Config"]["User"], f"{USER}:{USER}")

    def test_its_health_check_needs_no_shell(self):
        check = self.image.get("HealthCheck") or self.image.get("Healthcheck") or self.image["Config"]["Healthcheck"]
        self.assertEqual(check["Test"], ["CMD", "/usr/bin/reconciled", "healthcheck"])

    def test_it_says_what_it_is(self):
        labels = self.image["Config"]["Labels"]
        version = run("run", "--rm", *OPTIONS, "--network", "none", IMAGE, "version").stdout.split()[-1]
        self.assertEqual(labels["org.opencontainers.image.version"], version)
        for label in ("title", "description", "licenses", "revision", "created"):
            self.assertTrue(labels.get(f"org.opencontainers.image.{label}"), label)

    def test_it_holds_one_program_and_no_shell(self):
        programs = [
            name
            for name, line in self.files.items()
            if line[0][0] == "-" and "x" in line[0] and not name.startswith(("usr/lib/", "usr/lib64/"))
        ]
        self.assertEqual(programs, ["usr/bin/reconciled"])

    def test_no_file_gains_rights_or_is_writable_for_all(self):
        for name, line in self.files.items():
            mode = line[0]
            self.assertNotIn("s", mode[1:10].lower(), name)
            if mode[0] != "l":
                self.assertEqual(mode[8], "-", f"{name} is writable for all: {mode}")

    def test_it_names_the_packages_of_its_libraries(self):
        packages = {pathlib.Path(name).name for name in self.files if name.startswith("var/lib/dpkg/status.d/")}
        self.assertLessEqual({"libc6", "libpq5", "libcurl4", "libsqlite3-0"}, packages)

    def test_it_is_small(self):
        size = self.image["Size"]
        print(f"\nthe image has {size / 1e6:.0f} MB")
        self.assertLess(size, LARGEST)


class Running(unittest.TestCase):
    """A daemon in a container, with a provider in another."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        self.api, self.admin, provider = free_port(), free_port(), free_port()
        for name in ("data", "config"):
            (self.directory / name).mkdir()
        self.directory.chmod(0o755)
        os.chown(self.directory / "data", USER, USER)
        (self.directory / "config" / "token").write_text("provider-token")
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        (self.directory / "config" / "reconciled.yaml").write_text(
            "store: {url: 'sqlite:/var/lib/reconciled/reconciled.sqlite'}\n"
            f"http: {{host: 0.0.0.0, port: {self.api}}}\nadmin: {{host: 0.0.0.0, port: {self.admin}}}\n"
            f"callers: [{{name: checkout, token_sha256: {digest}}}]\n"
            f"providers: [{{name: card, url: 'http://127.0.0.1:{provider}/card', allow_plain_http: true,"
            " token_file: /etc/reconciled/config/token}]\n"
        )
        self.background("serve", "--port", str(provider), "--providers", "card", image=SIMULATOR)
        until(lambda: ask(provider, "/_control/health")[0] == 200, "the simulator answers")

    def arguments(self, *command, image=IMAGE):
        """What runs an image with everything taken away that the manifests take away."""
        tmpfs = ["--read-only-tmpfs=false"] if RUNNER == "podman" else []
        volumes = [
            "--volume", f"{self.directory}/data:/var/lib/reconciled",
            "--volume", f"{self.directory}/config:/etc/reconciled/config:ro",
        ]  # fmt: skip
        return [
            *OPTIONS, "--read-only", *tmpfs, "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            "--network", "host", "--no-healthcheck", *(volumes if image == IMAGE else []), image, *command,
        ]  # fmt: skip

    def once(self, *command):
        """Runs a command of the daemon to its end."""
        return run("run", "--rm", *self.arguments(*command), ok=False)

    def background(self, *command, image=IMAGE):
        """Starts a container, which goes when the test does: its id."""
        name = run("run", "--detach", *self.arguments(*command, image=image)).stdout.strip()
        self.addCleanup(run, "rm", "--force", name, ok=False)
        return name

    def start(self):
        """A daemon that is ready: its container."""
        name = self.background()

        def ready():
            if ask(self.admin, "/readyz")[0] == 200:
                return True
            self.assertTrue(self.state(name)["Running"], run("logs", name, ok=False).stderr)
            return False

        until(ready, "the daemon is ready")
        return name

    def state(self, name):
        return json.loads(run("container", "inspect", name).stdout)[0]["State"]

    def health(self, name):
        """Exit code and output of the image's health check."""
        result = run("exec", name, "/usr/bin/reconciled", "healthcheck", ok=False)
        return result.returncode, result.stdout + result.stderr

    def pay(self, key):
        body = {
            "amount": {"value": 1200, "currency": "JPY"}, "reference": key,
            "legs": [{"provider": "card", "instrument": "tok-1", "amount": {"value": 1200, "currency": "JPY"}}],
        }  # fmt: skip
        return ask(
            self.api, "/v1/payments", body, Authorization=f"Bearer {TOKEN}", Content_Type="application/json",
            Idempotency_Key=key, Prefer="wait=10",
        )  # fmt: skip

    def test_it_takes_a_payment_answers_its_probes_and_stops_in_time(self):
        name = self.start()
        for probe in ("livez", "readyz", "startupz", "activez"):
            self.assertEqual(ask(self.admin, f"/{probe}")[0], 200, probe)
        code, text = self.health(name)
        self.assertEqual(code, 0, text)
        status, text = self.pay("image-1")
        self.assertEqual((status, json.loads(text)["state"]), (201, "succeeded"), text)

        begin = time.monotonic()
        run("stop", "--time", "60", name)
        elapsed = time.monotonic() - begin
        state = self.state(name)
        print(f"\nstopped after {elapsed:.1f} s with {state['ExitCode']}")
        self.assertEqual(state["ExitCode"], 0, run("logs", name).stderr)
        self.assertLess(elapsed, STOP_WITHIN)

        self.start()
        self.assertEqual(self.pay("image-1"), (status, text), "the volume kept the payment and its answer")

    def test_its_process_has_no_rights_and_cannot_change_its_files(self):
        name = self.start()
        process = pathlib.Path("/proc") / str(self.state(name)["Pid"])
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        self.assertEqual(status["Uid"].split(), [str(USER)] * 4)
        self.assertEqual(status["Gid"].split(), [str(USER)] * 4)
        self.assertEqual(int(status["CapEff"], 16), 0)
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        mounts = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
        self.assertIn("ro", [mount[5].split(",")[0] for mount in mounts if mount[4] == "/"])
        memory = ("/proc", "/dev", "/sys", "/run", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
        writable = [m[4] for m in mounts if m[5].startswith("rw") and not m[4].startswith(memory)]
        self.assertEqual(writable, ["/var/lib/reconciled"])

    def test_its_health_check_tells_a_process_that_hangs(self):
        name = self.start()
        pid = self.state(name)["Pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            code, text = self.health(name)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.assertEqual(code, 3, text)
        until(lambda: self.health(name)[0] == 0, "it is healthy again")

    def test_a_wrong_configuration_ends_it_at_once(self):
        file = self.directory / "config" / "reconciled.yaml"
        file.write_text(file.read_text() + "reconcile: {shutdown_grase: 20s}\n")
        result = self.once("serve")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("reconcile.shutdown_grase", result.stderr)

    def test_it_speaks_to_postgresql(self):
        file = self.directory / "config" / "reconciled.yaml"
        text = file.read_text().replace(
            "sqlite:/var/lib/reconciled/reconciled.sqlite", "postgres:host=127.0.0.1 port=1 dbname=payments user=x"
        )
        file.write_text(text)
        result = self.once("migrate")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("refused", result.stderr)


if __name__ == "__main__":
    unittest.main()
