"""What the CronJob of the comparison builds on: its arguments and the exit codes of the daemon's own command, which
RECONCILED_PROGRAM names. 0 and 1 need a provider; Tests/EndToEndTests has them."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from manifests import OPTIONS, Site, daemon, pod_of
from rules_operation import codes_that_end

PROGRAM = os.environ.get("RECONCILED_PROGRAM")
#: A provider that nobody asks: the command plans runs, and daemons execute them.
CONFIGURATION = """
store: {{url: 'sqlite:{directory}/books.sqlite'}}
callers: [{{name: checkout, token_sha256: "{digest}"}}]
providers: [{{name: card, url: 'http://127.0.0.1:1/card', allow_plain_http: true}}]
"""


class Comparison(unittest.TestCase):
    def setUp(self):
        self.assertTrue(PROGRAM, "RECONCILED_PROGRAM is not set; scripts/test-deployment sets it")
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = pathlib.Path(temporary.name) / "reconciled.yaml"
        self.file.write_text(CONFIGURATION.format(directory=temporary.name, digest="ab" * 32), encoding="utf-8")
        self.job = Site(OPTIONS).get("CronJob", "reconciled-compare")
        self.arguments = daemon(pod_of(self.job))["args"]

    def run_it(self, *arguments, **variables):
        """(exit code, standard error) of the daemon's program."""
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
        environment |= {"RECONCILED_CONFIG": str(self.file), "RECONCILED_PROVIDERS_CARD_TOKEN": "any", **variables}
        result = subprocess.run(
            [PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        return result.returncode, result.stderr

    def impatient(self):
        """The arguments of the CronJob, with as little patience as a test has."""
        at = self.arguments.index("--wait") + 1
        return [*self.arguments[:at], "1s", *self.arguments[at + 1 :]]

    def test_a_run_that_nobody_executes_is_asked_for_again(self):
        self.assertEqual(self.run_it("migrate")[0], 0)
        code, text = self.run_it(*self.impatient())
        self.assertEqual(code, 3, text)
        self.assertIn("no daemon with the role batch", text)
        self.assertNotIn(code, codes_that_end(self.job["spec"]["jobTemplate"]["spec"]))

    def test_a_store_that_is_away_is_asked_for_again(self):
        code, text = self.run_it(*self.arguments, RECONCILED_STORE_URL="postgres:host=127.0.0.1 port=1 dbname=x user=x")
        self.assertEqual(code, 3, text)
        self.assertNotIn(code, codes_that_end(self.job["spec"]["jobTemplate"]["spec"]))

    def test_comparisons_that_are_switched_off_end_the_job(self):
        self.assertEqual(self.run_it("migrate")[0], 0)
        code, text = self.run_it(*self.arguments, RECONCILED_RECONCILE_COMPARISON_ENABLED="false")
        self.assertEqual(code, 2, text)
        self.assertIn("switched off", text)
        self.assertIn(code, codes_that_end(self.job["spec"]["jobTemplate"]["spec"]))


if __name__ == "__main__":
    unittest.main()
