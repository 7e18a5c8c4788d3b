"""Who waits for people in a drill, and what they take out."""

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# One payment has a quarantined leg. The other one has a void that failed again and again: people are told, and it goes
# on by itself.
PRELUDE = """
set -euo pipefail
source scripts/lib.sh
source drills/lib/people.sh
OPERATOR_TOKEN=operator APPROVER_TOKEN=approver
mark() { :; }
await() { "${@:3}"; }
operator_get() {
    case $2 in
        */pay_1/explanation) echo '{"legs": [{"standing": "accepted"}, {"standing": "quarantined"}]}' ;;
        */pay_2/explanation) echo '{"legs": [{"standing": "accepted"}]}' ;;
        *waiting_for=people*) cat "$DRILL_DIR/waiting" ;;
    esac
}
take_out() { echo "taken out: $2" && echo '{"data": []}' >"$DRILL_DIR/waiting"; }
"""


class PeopleTests(unittest.TestCase):
    def take_out(self, *waiting: str) -> subprocess.CompletedProcess:
        data = ", ".join(f'{{"id": "{payment}"}}' for payment in waiting)
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "waiting").write_text(f'{{"data": [{data}]}}\n', encoding="utf-8")
            return subprocess.run(
                ["bash", "-c", f"DRILL_DIR={directory}\n{PRELUDE}\npeople_take_out a"], cwd=ROOT,
                capture_output=True, text=True, timeout=60)

    def test_only_what_is_quarantined_is_taken_out(self):
        done = self.take_out("pay_2", "pay_1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("taken out: pay_1", done.stdout)
        self.assertNotIn("taken out: pay_2", done.stdout)

    def test_nothing_to_take_out_is_said(self):
        done = self.take_out("pay_2")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("nothing waits for people", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
