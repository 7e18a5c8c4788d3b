"""How an image is built where only copies of its parts can be reached: the mirror that deploy/image/local-base takes
from apt's sources, the copies that deploy/image/packages makes, and what scripts/image says when none come."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from manifests import ROOT, source

LOCAL_BASE = ROOT / "deploy" / "image" / "local-base"
DEBIAN = """\
# Made by the installer.
Types: deb deb-src
# Another one: https://old.example.net/debian
URIs: https://mirror.example.net/debian
Suites: bookworm
 bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEY865UxYJKwYBBAHaRw8BAQdAd7Z0srwuhlB6JKFkcf4HU4SSS/xcRfwEQWzr
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: https://security.example.net/debian-security
Suites: bookworm-security
Components: main
"""
OTHERS = """\
deb [arch=amd64 signed-by=/usr/share/keyrings/tool.gpg] https://tool.example.com/apt bookworm main
deb https://engine.example.com/linux/debian bookworm stable
"""


class Mirror(unittest.TestCase):
    def said(self, files, code=0, **variables):
        """What is written of a system with these files below /etc: its answer, or its error."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in {"os-release": "ID=debian\nVERSION_CODENAME=bookworm\n", **files}.items():
                file = pathlib.Path(root) / "etc" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            kept = {name: value for name, value in os.environ.items() if not name.startswith("DEBIAN_")}
            result = subprocess.run(
                [LOCAL_BASE, "--mirror", root],
                env={**kept, **variables}, capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
            return (result.stderr if code else result.stdout).replace(root, "").strip()

    def test_lines_and_stanzas_are_read_as_apt_reads_them(self):
        line = "deb\t[ trusted=yes arch=amd64,arm64 ]  http://a.example.net/debian/ bookworm contrib main # by hand\n"
        stable = "deb http://d.example.net/debian stable main\n"
        for files, answer in (
            ({"apt/sources.list.d/debian.sources": DEBIAN}, "https://mirror.example.net/debian"),
            ({"apt/sources.list.d/debian.sources": DEBIAN.replace("\n", "\r\n")}, "https://mirror.example.net/debian"),
            ({"apt/sources.list.d/x.sources": DEBIAN.lower()}, "https://mirror.example.net/debian"),
            ({"apt/sources.list": line}, "http://a.example.net/debian/"),
            ({"apt/sources.list": "# deb http://no.example.net/debian bookworm main\n" + stable},
             "http://d.example.net/debian"),
            ({"apt/sources.list.d/here.list": "deb file:/srv/debian bookworm main\n"}, "file:/srv/debian"),
            ({"apt/sources.list.d/here.list": "deb copy:/srv/debian bookworm main\n"}, "file:/srv/debian"),
        ):  # fmt: skip
            with self.subTest(files=files):
                self.assertEqual(self.said(files), f"{answer} bookworm")

    def test_what_apt_does_not_use_is_not_taken(self):
        for text in (
            DEBIAN.replace("Types: deb deb-src", "Types: deb-src"), DEBIAN.replace("main contrib", "contrib"),
            DEBIAN.replace("Suites: bookworm\n", "Suites: trixie\n"), "Enabled: no\n" + DEBIAN, "",
        ):  # fmt: skip
            with self.subTest(text):
                error = self.said({"apt/sources.list.d/debian.sources": text}, code=1)
                self.assertIn("name no mirror with bookworm and main; name one: DEBIAN_MIRROR", error)
        self.assertIn("DEBIAN_MIRROR", self.said({"apt/sources.list.d/debian.sources.off": DEBIAN}, code=1))

    def test_of_several_archives_it_is_the_one_with_the_updates_and_else_the_first(self):
        files = {"apt/sources.list.d/a.list": OTHERS, "apt/sources.list.d/debian.sources": DEBIAN}
        self.assertEqual(self.said(files), "https://mirror.example.net/debian bookworm")
        files["apt/sources.list.d/debian.sources"] = DEBIAN.replace(" bookworm-updates\n", "")
        self.assertEqual(self.said(files), "https://tool.example.com/apt bookworm")

    def test_a_list_of_mirrors_stands_for_its_first_and_what_cannot_be_asked_is_refused(self):
        listed = {"apt/sources.list.d/debian.sources": DEBIAN.replace(
            "https://mirror.example.net/debian", "mirror+file:///etc/apt/mirrors/debian.list"
        )}  # fmt: skip
        mirrors = "# ours\ntor+http://x/debian\nhttps://first.example.net/debian\tpriority:1\nhttps://b/debian\n"
        self.assertEqual(
            self.said({**listed, "apt/mirrors/debian.list": mirrors}), "https://first.example.net/debian bookworm"
        )
        for files in (
            listed, {**listed, "apt/mirrors/debian.list": "# none\n"},
            {"apt/sources.list": "deb mirror://mirrors.example.net/debian bookworm main\n"},
            {"apt/sources.list": "deb cdrom:[Debian]/ bookworm main\n"},
        ):  # fmt: skip
            with self.subTest(files=files):
                error = self.said(files, code=1)
                self.assertIn("which debootstrap cannot ask; name another mirror: DEBIAN_MIRROR", error)

    def test_mirror_and_release_can_be_said(self):
        mine = {"DEBIAN_MIRROR": "http://mine.example.net/debian"}
        self.assertEqual(self.said({}, **mine), "http://mine.example.net/debian bookworm")
        self.assertEqual(self.said({}, DEBIAN_RELEASE="trixie", **mine), "http://mine.example.net/debian trixie")
        self.assertIn("DEBIAN_RELEASE", self.said({"os-release": "ID=debian\n"}, code=1, **mine))

    def test_it_names_no_mirror_of_its_own(self):
        self.assertNotRegex(source("deploy/image/local-base"), r"://[a-z0-9]")


def git(*arguments, **variables):
    """git without the settings of whoever runs the tests."""
    alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **variables}
    person = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    subprocess.run(
        ["git", *person, *map(str, arguments)],
        env={**os.environ, **alone}, check=True, capture_output=True, timeout=60,
    )  # fmt: skip


class Packages(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="packages-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        script = self.directory / "project" / "deploy" / "image" / "packages"
        script.parent.mkdir(parents=True)
        shutil.copy(ROOT / "deploy" / "image" / "packages", script)
        self.script = script

    def run_script(self, *arguments):
        return subprocess.run(
            [self.script, *arguments], cwd=self.directory, capture_output=True, text=True, check=False, timeout=60
        )

    def resolved(self, name, address):
        """A package as SwiftPM keeps it."""
        first, kept = self.directory / name, self.directory / "project" / ".build" / "repositories" / f"{name}-1"
        git("init", "--quiet", first)
        git("-C", first, "commit", "--quiet", "--allow-empty", "--message", "first")
        git("-C", first, "tag", "1.0.0")
        git("clone", "--quiet", "--mirror", first, kept)
        git("-C", kept, "config", "remote.origin.url", address)

    def test_a_build_that_reaches_nothing_takes_the_copies(self):
        self.resolved("with", "https://example.com/owner/with.git")
        self.resolved("without", "https://example.com/owner/without")
        for _ in range(2):
            result = self.run_script("copies")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("2 packages", result.stdout)
        # As in the build, but for the place.
        config = self.directory / "copies" / "gitconfig"
        config.write_text(config.read_text(encoding="utf-8").replace("/packages/", f"{self.directory}/copies/"))
        for name in ("with", "with.git", "without", "without.git"):
            target = self.directory / f"clone-{name}"
            git("clone", f"https://example.com/owner/{name}", target, GIT_CONFIG_GLOBAL=str(config))
            git("-C", target, "checkout", "1.0.0")

    def test_the_options_mount_the_copies(self):
        self.resolved("one", "https://example.com/owner/one.git")
        self.assertNotEqual(self.run_script("--options", "copies").returncode, 0)
        self.run_script("copies")
        place = (self.directory / "copies").resolve()
        self.assertEqual(
            self.run_script("--options", "copies").stdout.strip(),
            f"--volume {place}:/packages:ro --volume {place}/gitconfig:/etc/gitconfig:ro",
        )

    def test_without_packages_it_says_how_they_come(self):
        result = self.run_script("copies")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("swift package resolve", result.stderr)


class Build(unittest.TestCase):
    """scripts/image, with a builder that fails."""

    HINT = "deploy/image/packages --options .build-packages"

    def failed(self, text):
        with tempfile.TemporaryDirectory() as directory:
            builder = pathlib.Path(directory) / "buildah"
            builder.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{text}\nEND\nexit 17\n", encoding="utf-8")
            builder.chmod(0o755)
            result = subprocess.run(
                [ROOT / "scripts" / "image"],
                env={**os.environ, "PATH": f"{directory}:{os.environ['PATH']}", "IMAGE_BUILDER": "buildah"},
                capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
        self.assertEqual(result.returncode, 17, result.stderr)
        self.assertIn(text, result.stderr)
        return result.stderr

    def test_packages_that_cannot_be_fetched_are_told_with_what_helps(self):
        for text in (
            'Error: building at STEP "RUN swift package resolve": exit status 1',
            'Error: building at STEP "RUN swift package resolve": while running runtime: exit status 1',
            "The command '/bin/sh -c swift package resolve' returned a non-zero code: 1",
            'ERROR: process "/bin/sh -c swift package resolve" did not complete successfully: exit code: 1',
        ):
            with self.subTest(text):
                self.assertIn(self.HINT, self.failed(text))

    def test_another_failure_is_not(self):
        for text in (
            'Error: building at STEP "RUN swift build": exit status 1',
            "STEP 6/13: RUN swift package resolve\nno space left on device",
        ):
            with self.subTest(text):
                self.assertNotIn(self.HINT, self.failed(text))


if __name__ == "__main__":
    unittest.main()
