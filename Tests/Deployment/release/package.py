"""Makes a Debian package by scripts/package-deb, of a small program that is linked as the daemon is."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
UNIT = ROOT / "deploy" / "debian" / "reconciled.service"
TIME = "1767225600"  # 2026-01-01
PROGRAM = """\
#include <curl/curl.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>

int main(void) {
    printf("%s\\nschema 12 on PostgreSQL, 8 on SQLite\\n", VERSION);
    return PQlibVersion() == 0 || curl_version() == NULL || sqlite3_libversion_number() == 0;
}
"""


def compiler():
    return next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)


def missing():
    """What making a package needs and is not there."""
    tools = [tool for tool in ("dpkg-deb", "dpkg-shlibdeps", "strip", "pkg-config") if shutil.which(tool) is None]
    return tools + ([] if compiler() else ["a C compiler"])


def program(directory, says="reconciled 1.2.3", extra=()):
    """A program that says its version, and is linked with what the daemon is linked with."""
    directory.mkdir(parents=True, exist_ok=True)
    source = directory / "reconciled.c"
    source.write_text(PROGRAM, encoding="utf-8")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "libcurl", "libpq", "sqlite3"], capture_output=True, text=True, check=True
    ).stdout.split()
    made = directory / "reconciled"
    subprocess.run(
        [compiler(), "-g", "-o", made, f'-DVERSION="{says}"', source, *flags, *extra], check=True, cwd=directory
    )
    return made


def checkouts(directory):
    """Sources of linked packages, with their licences."""
    for name, file in (("one", "LICENSE"), ("two", "LICENSE.txt"), ("two", "NOTICE.txt")):
        place = directory / name / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{file} of {name}\n", encoding="utf-8")
    return directory


def make(made, output, licences, **variables):
    """Runs the script: (whether it succeeded, what it wrote)."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DEB")}
    result = subprocess.run(
        [ROOT / "scripts" / "package-deb", made, output],
        env={**kept, "CHECKOUTS": str(licences), "SOURCE_DATE_EPOCH": TIME, **variables},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    return result.returncode == 0, result.stdout + result.stderr


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def field(package, name):
    return output_of("dpkg-deb", "--field", package, name).strip()


def unit(text):
    """(section, key, value) of each line of a unit; systemd reads a key again as one more value."""
    section = None
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, value = line.split("=", 1)
            yield section, key, value
