"""The scripts that workflows call: the notes of a release with the check of its tag, the choice of a version of
PostgreSQL, and seeds of the night with the report of a finding."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from package import ROOT

CHANGES = """\
# Changes

## Unreleased

### New
- Not yet.

## 1.3.0

### New
- A thing.

### Mended
- Another.

## 1.3.0-rc.1

- Earlier.

## 1.2.0
"""
LAB = """\
#!/bin/sh
echo "$*" >>"$0.arguments"
[ ! -f "$0.prints" ] || cat "$0.prints"
exit "$(cat "$0.status")"
"""


class Copy(unittest.TestCase):
    """Scripts in a tree of their own."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="release-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        self.version("1.3.0")

    def version(self, text):
        file = self.root / "Sources" / "ProgramEdge" / "BuildVersion.swift"
        file.parent.mkdir(parents=True, exist_ok=True)
        original = (ROOT / "Sources" / "ProgramEdge" / "BuildVersion.swift").read_text(encoding="utf-8")
        changed, count = re.subn(r'static let text = "[^"]+"', f'static let text = "{text}"', original)
        self.assertEqual(count, 1)
        file.write_text(changed, encoding="utf-8")

    def ran(self, script, *arguments, **variables):
        kept = {name: value for name, value in os.environ.items() if name not in ("SEEDS", "FROM", "LAB")}
        return subprocess.run(
            [self.root / "scripts" / script, *arguments],
            env={**kept, **variables}, cwd=self.root, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip


class Notes(Copy):
    def notes(self, tag, changes=CHANGES):
        (self.root / "CHANGELOG.md").write_text(changes, encoding="utf-8")
        return self.ran("release-notes", tag)

    def test_they_are_the_section_of_the_version(self):
        result = self.notes("v1.3.0")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "### New\n- A thing.\n\n### Mended\n- Another.\n")
        dated = self.notes("v1.3.0", CHANGES.replace("## 1.3.0\n", "## 1.3.0 (2026-01-01)\n"))
        self.assertEqual(dated.stdout, result.stdout)
        self.version("1.3.0-rc.1")
        self.assertEqual(self.notes("v1.3.0-rc.1").stdout, "- Earlier.\n")

    def test_a_tag_that_is_not_the_version_is_refused(self):
        for tag in ("v1.3.1", "v1.3", "1.3.0", "v1.3.0-rc.1", "v1.3.0;id", "v1x3.0", ""):
            with self.subTest(tag):
                result = self.notes(tag)
                self.assertEqual((result.returncode, result.stdout), (1, ""))

    def test_a_version_without_notes_is_refused(self):
        self.version("1.2.0")
        for changes in (CHANGES, CHANGES.replace("## 1.2.0\n", ""), CHANGES.replace("## 1.2.0", "## 1.2.01\n\nA")):
            with self.subTest(changes[-20:]):
                result = self.notes("v1.2.0", changes)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn("CHANGELOG.md says nothing under '## 1.2.0'", result.stderr)

    def test_the_present_version_has_notes(self):
        source = (ROOT / "Sources" / "ProgramEdge" / "BuildVersion.swift").read_text(encoding="utf-8")
        (version,) = re.findall(r'static let text = "([^"]+)"', source)
        result = subprocess.run(
            [ROOT / "scripts" / "release-notes", f"v{version}"], capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(result.returncode, 0, result.stderr)


class Versions(Copy):
    def test_a_version_of_postgresql_that_is_not_there_is_not_replaced_by_another(self):
        for version, words in (("9999", "apt-get install postgresql-9999"), ("", "usage:"), ("15/../15", "usage:")):
            with self.subTest(version):
                result = self.ran("test-postgresql", version)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)


class Seeds(Copy):
    def setUp(self):
        super().setUp()
        self.lab = self.root / "lab"
        self.lab.write_text(LAB, encoding="utf-8")
        self.lab.chmod(0o755)
        self.report = self.root / "new-seeds.md"

    def seeds(self, status, prints="", **variables):
        (self.root / "lab.status").write_text(str(status), encoding="utf-8")
        (self.root / "lab.prints").write_text(prints, encoding="utf-8")
        (self.root / "lab.arguments").unlink(missing_ok=True)
        result = self.ran("new-seeds", LAB=str(self.lab), **variables)
        arguments = self.root / "lab.arguments"
        return result, arguments.read_text(encoding="utf-8") if arguments.exists() else None

    def first(self, arguments):
        return int(re.search(r"--from (\d+)", arguments)[1])

    def test_each_night_draws_another_first_seed_and_prints_it(self):
        drawn = set()
        for _ in range(3):
            result, arguments = self.seeds(0)
            self.assertEqual(result.returncode, 0, result.stderr)
            drawn.add(self.first(arguments))
            self.assertIn(f"Seeds {self.first(arguments)} to ", result.stdout)
            self.assertFalse(self.report.exists())
        self.assertEqual(len(drawn), 3)

    def test_a_workflow_that_was_started_without_inputs_draws_too(self):
        _, arguments = self.seeds(0, SEEDS="", FROM="")
        self.assertIn("--seeds 20000 ", arguments)

    def test_a_finding_leaves_a_report_with_the_timeline(self):
        for status in (1, 133):
            result, _ = self.seeds(status, prints="the timeline\n", SEEDS="5", FROM="77")
            self.assertEqual(result.returncode, 1)
            text = self.report.read_text(encoding="utf-8")
            self.assertIn("the timeline\n", text)
            self.assertIn("`FROM=77 SEEDS=5 scripts/new-seeds`", text)
            self.assertIn("version: 1.3.0", text)
        self.seeds(0)
        self.assertFalse(self.report.exists(), "a report of an earlier night was left")

    def test_a_report_fits_into_an_issue_and_keeps_the_end(self):
        self.seeds(1, prints="a line of the run\n" * 20_000 + "the command that repeats it\n")
        text = self.report.read_text(encoding="utf-8")
        self.assertLess(len(text), 65_536)
        self.assertIn("the command that repeats it\n", text)

    def test_wrong_options_are_no_finding(self):
        for status, variables in ((2, {}), (0, {"SEEDS": "many"}), (0, {"FROM": "$(id)"}), (0, {"SEEDS": "0"})):
            with self.subTest(status=status, **variables):
                result, _ = self.seeds(status, **variables)
                self.assertEqual(result.returncode, 1)
                self.assertFalse(self.report.exists())


if __name__ == "__main__":
    unittest.main()
