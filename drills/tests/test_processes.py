"""The processes of a drill: ended by their ids, and only as long as these are their own."""

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = """
set -euo pipefail
source scripts/lib.sh
source drills/lib/timeline.sh
source drills/lib/processes.sh
place_prefix() { PLACE_PREFIX=(); }
mkdir -p "$DRILL_DIR/logs" "$DRILL_DIR/pids"
"""


class ProcessTests(unittest.TestCase):
    def run_in_drill(self, script: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as directory:
            return subprocess.run(
                ["bash", "-c", f"DRILL_DIR={directory}\n{PRELUDE}\n{script}"], cwd=ROOT, capture_output=True,
                text=True, timeout=60)

    def test_a_process_is_seen_and_ended(self):
        done = self.run_in_drill("""
            spawn one here sleep 50
            is_running one
            kill_hard one
            has_ended one
        """)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_all_that_is_left_is_ended_and_forgotten(self):
        done = self.run_in_drill("""
            spawn one here sleep 50
            spawn two here sleep 50
            freeze two
            ids="$(pid_of one) $(pid_of two)"
            processes_stop
            for id in $ids; do ! kill -0 "$id" 2>/dev/null; done
            [[ -z $(ls "$DRILL_DIR/pids") ]]
        """)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_id_that_another_process_got_meanwhile_is_left_alone(self):
        done = self.run_in_drill("""
            spawn one here sleep 50
            file=$DRILL_DIR/pids/one
            mine=$(pid_of one)
            setsid sleep 50 </dev/null >/dev/null 2>&1 &
            other=$!
            disown
            # As if the first had ended long ago and its id been given to the other.
            sed -i -e "1s/.*/$other/" -e '2s/.*/Mon Jan  1 00:00:00 2001/' "$file"
            status=0
            { has_ended one && kill_hard one && processes_stop && kill -0 "$other"; } || status=1
            kill "$mine" "$other"
            exit "$status"
        """)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_server_that_is_ended_takes_its_shared_memory_with_it(self):
        done = self.run_in_drill("""
            member_kill() { echo "$1" >"$DRILL_DIR/killed"; kill_hard "db-$1"; }
            spawn db-a1 here sleep 50
            processes_stop
            [[ $(cat "$DRILL_DIR/killed") == a1 ]]
        """)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
