"""The Debian package: its files and fields, that the same input gives the same bytes, what is refused, and its unit."""

import gzip
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import package
from package import TIME, UNIT, checkouts, field, make, missing, output_of, program

#: As the container runs: without rights, and with one directory to write to.
HARDENED = {
    "User": "reconciled", "Group": "reconciled", "UMask": "0077", "StateDirectory": "reconciled",
    "StateDirectoryMode": "0700", "CapabilityBoundingSet": "", "AmbientCapabilities": "", "NoNewPrivileges": "yes",
    "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
    "PrivateUsers": "yes", "ProtectKernelModules": "yes", "ProtectKernelTunables": "yes",
    "ProtectControlGroups": "yes", "MemoryDenyWriteExecute": "yes", "RestrictNamespaces": "yes",
    "RestrictSUIDSGID": "yes", "LockPersonality": "yes", "SystemCallArchitectures": "native",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX AF_NETLINK", "LimitCORE": "0",
}  # fmt: skip
#: What systemd-analyze may give at most; 10 is a unit without any setting.
EXPOSURE = 2.0


def without(what, needed):
    """Leaves a test out, or fails it where nothing may be left out."""
    if needed and os.environ.get("REQUIRE_ALL"):
        raise AssertionError(f"{what}: {', '.join(needed)} missing")
    if needed:
        raise unittest.SkipTest(f"{what}: {', '.join(needed)} missing")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        without("no package can be made", missing())
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="package-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.licences = checkouts(cls.directory / "checkouts")
        cls.program = program(cls.directory / "built")
        good, text = make(cls.program, cls.directory / "first", cls.licences)
        if not good:
            raise AssertionError(text)
        (cls.package,) = (cls.directory / "first").glob("*.deb")

    def extracted(self):
        directory = tempfile.mkdtemp(dir=self.directory)
        output_of("dpkg-deb", "--extract", self.package, directory)
        return pathlib.Path(directory)

    def refused(self, made, licences=None, **variables):
        output = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        good, text = make(made, output, licences or self.licences, **variables)
        self.assertFalse(good)
        self.assertEqual(list(output.glob("*.deb")), [])
        return text

    def test_fields_name_what_the_program_is_linked_with(self):
        architecture = output_of("dpkg", "--print-architecture").strip()
        self.assertEqual(self.package.name, f"reconciled_1.2.3-1_{architecture}.deb")
        self.assertEqual(field(self.package, "Version"), "1.2.3-1")
        self.assertEqual(field(self.package, "Architecture"), architecture)
        needs = [need.split(" ")[0] for need in field(self.package, "Depends").split(", ")]
        for name in ("libc6", "libpq5", "libcurl4", "libsqlite3-0", "ca-certificates", "systemd"):
            self.assertIn(name, [need.removesuffix("t64") for need in needs])
        self.assertLess(int(field(self.package, "Installed-Size")), 1000)

    def test_files_are_where_debian_has_them_and_belong_to_root(self):
        lines = [line.split(maxsplit=5) for line in output_of("dpkg-deb", "--contents", self.package).splitlines()]
        files = {line[5].removeprefix("./"): line[0] for line in lines if not line[5].endswith("/")}
        doc = "usr/share/doc/reconciled"
        self.assertEqual(set(files), {
            "usr/bin/reconciled", "lib/systemd/system/reconciled.service", "usr/lib/sysusers.d/reconciled.conf",
            "usr/share/lintian/overrides/reconciled", f"{doc}/README.Debian", f"{doc}/copyright",
            f"{doc}/changelog.gz", f"{doc}/changelog.Debian.gz", f"{doc}/licences/one.LICENSE",
            f"{doc}/licences/two.LICENSE.txt", f"{doc}/licences/two.NOTICE.txt",
        })  # fmt: skip
        for name, mode in files.items():
            self.assertEqual(mode, "-rwxr-xr-x" if name == "usr/bin/reconciled" else "-rw-r--r--", name)
        self.assertEqual({line[1] for line in lines}, {"root/root"})
        self.assertEqual({line[3] for line in lines}, {"2026-01-01"})

    def test_the_program_of_the_package_runs_and_its_sums_are_right(self):
        root = self.extracted()
        self.assertEqual(output_of(root / "usr/bin/reconciled", "version").splitlines()[0], "reconciled 1.2.3")
        output_of("dpkg-deb", "--control", self.package, root / "DEBIAN")
        sums = root / "DEBIAN" / "md5sums"
        check = ["md5sum", "--check", "--strict", "--quiet", sums]
        subprocess.run(check, cwd=root, check=True, capture_output=True)
        (root / "usr/bin/reconciled").write_bytes(b"other")
        self.assertNotEqual(subprocess.run(check, cwd=root, check=False, capture_output=True).returncode, 0)
        listed = {line.split("  ", 1)[1] for line in sums.read_text(encoding="utf-8").splitlines()}
        there = {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}
        self.assertEqual(listed, {name for name in there if not name.startswith("DEBIAN/")})

    def test_the_same_input_gives_the_same_bytes(self):
        other = self.directory / "elsewhere" / "reconciled"
        other.parent.mkdir()
        shutil.copy(self.program, other)
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        good, text = make(other, self.directory / "second", self.licences, TZ="Asia/Tokyo", LC_ALL="C.UTF-8")
        self.assertTrue(good, text)
        (second,) = (self.directory / "second").glob("*.deb")
        self.assertEqual(self.package.read_bytes(), second.read_bytes())
        later = {"SOURCE_DATE_EPOCH": str(int(TIME) + 86400)}
        good, text = make(other, self.directory / "later", self.licences, **later)
        self.assertTrue(good, text)
        (third,) = (self.directory / "later").glob("*.deb")
        self.assertNotEqual(self.package.read_bytes(), third.read_bytes())

    def test_its_documents_name_version_licences_and_who_maintains_it(self):
        doc = self.extracted() / "usr/share/doc/reconciled"
        entry = gzip.decompress((doc / "changelog.Debian.gz").read_bytes()).decode()
        self.assertTrue(entry.startswith("reconciled (1.2.3-1) "), entry)
        self.assertIn(f" -- {field(self.package, 'Maintainer')}  Thu, 01 Jan 2026 00:00:00 +0000", entry)
        self.assertEqual(
            gzip.decompress((doc / "changelog.gz").read_bytes()), (package.ROOT / "CHANGELOG.md").read_bytes()
        )
        self.assertIn("License: Apache-2.0", (doc / "copyright").read_text(encoding="utf-8"))
        good, text = make(
            self.program, self.directory / "named", self.licences, DEBFULLNAME="A B", DEBEMAIL="ab@example.com"
        )
        self.assertTrue(good, text)
        (named,) = (self.directory / "named").glob("*.deb")
        self.assertEqual(field(named, "Maintainer"), "A B <ab@example.com>")

    def test_a_version_before_a_release_sorts_before_it(self):
        made = program(self.directory / "candidate", says="reconciled 1.2.3-rc.1")
        good, text = make(made, self.directory / "third", self.licences)
        self.assertTrue(good, text)
        (candidate,) = (self.directory / "third").glob("*.deb")
        self.assertEqual(field(candidate, "Version"), "1.2.3~rc.1-1")
        subprocess.run(["dpkg", "--compare-versions", "1.2.3~rc.1-1", "lt", "1.2.3-1"], check=True)

    def test_a_library_that_no_package_has_is_refused(self):
        place = self.directory / "stranger"
        place.mkdir()
        (place / "runtime.c").write_text("int runtime(void) { return 0; }\n", encoding="utf-8")
        library = place / "libswiftCore.so"
        output_of(package.compiler(), "-shared", "-fPIC", "-o", library, place / "runtime.c")
        made = program(place, extra=["-Wl,--no-as-needed", library, f"-Wl,-rpath,{place}"])
        self.assertIn("needs libswiftCore.so, which no package has", self.refused(made))

    def test_a_build_of_the_daemon_that_needs_the_runtime_is_refused(self):
        built = os.environ.get("RECONCILED_PROGRAM")
        if not built or "libswiftCore.so" not in output_of("ldd", built):
            self.skipTest("RECONCILED_PROGRAM names no build with the runtime beside it")
        self.assertIn("libswiftCore.so", self.refused(built))

    def test_a_program_that_is_not_ours_or_has_no_licences_is_refused(self):
        other = program(self.directory / "other", says="other 1.2.3")
        self.assertIn("says 'other 1.2.3'", self.refused(other))
        self.assertIn("there is no program", self.refused(self.directory / "nowhere"))
        bare = checkouts(self.directory / "bare")
        (bare / "one" / "LICENSE").unlink()
        self.assertIn("has no licence", self.refused(self.program, bare))
        self.assertIn("has no licence", self.refused(self.program, self.directory / "empty"))

    def test_an_installation_makes_the_user_and_starts_nothing_and_a_purge_keeps_the_data(self):
        needed = [tool for tool in ("dpkg", "systemd-sysusers") if shutil.which(tool) is None]
        without("it cannot be installed", needed + ([] if os.geteuid() == 0 else ["root"]))
        root = self.directory / "system"
        for place in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/reconciled", "etc"):
            (root / place).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        (root / "var/lib/reconciled/payments.sqlite").write_text("payments", encoding="utf-8")
        dpkg = ["dpkg", f"--root={root}", "--force-script-chrootless", "--force-depends"]
        output_of(*dpkg, "--install", self.package)
        self.assertIn("reconciled:x:", (root / "etc/passwd").read_text(encoding="utf-8"))
        wanted = root / "etc/systemd/system"
        self.assertFalse(wanted.exists(), "the unit was enabled")
        output_of(*dpkg, "--purge", "reconciled")
        self.assertFalse((root / "usr/bin/reconciled").exists())
        self.assertTrue((root / "var/lib/reconciled/payments.sqlite").exists())


class Unit(unittest.TestCase):
    def problems(self, text):
        """Which settings are missing or otherwise."""
        service = {}
        for section, key, value in package.unit(text):
            if section == "Service":
                service.setdefault(key, []).append(value)
        return [key for key, value in HARDENED.items() if service.get(key) != [value]]

    def test_it_is_hardened_and_each_missing_setting_is_noticed(self):
        text = UNIT.read_text(encoding="utf-8")
        self.assertEqual(self.problems(text), [])
        for key, value in HARDENED.items():
            with self.subTest(key):
                line = f"\n{key}={value}\n"
                self.assertIn(line, text)
                self.assertEqual(self.problems(text.replace(line, "\n")), [key])
                self.assertEqual(self.problems(text.replace(line, f"{line}{key}=other\n")), [key])

    def analyzed(self, text, *arguments):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "reconciled.service"
            # There is no such program on this machine.
            file.write_text(text.replace("/usr/bin/reconciled", "/bin/true"), encoding="utf-8")
            return subprocess.run(
                ["systemd-analyze", *arguments, file], capture_output=True, text=True, check=False, timeout=60
            )

    def test_systemd_finds_no_fault_and_little_exposure(self):
        without("systemd looks at nothing", [] if shutil.which("systemd-analyze") else ["systemd-analyze"])
        text = UNIT.read_text(encoding="utf-8")
        verify = ("verify", "--man=no")
        result = self.analyzed(text, *verify)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))
        misspelt = text.replace("ProtectSystem=", "ProtectSystems=")
        self.assertIn("ProtectSystems", self.analyzed(misspelt, *verify).stderr)
        limit = ("security", "--offline=true", "--no-pager", f"--threshold={int(EXPOSURE * 10)}")
        self.assertEqual(self.analyzed(text, *limit).returncode, 0)
        self.assertNotEqual(self.analyzed(text.replace("PrivateUsers=yes", "").replace(
            "CapabilityBoundingSet=\n", ""), *limit).returncode, 0)  # fmt: skip


if __name__ == "__main__":
    unittest.main()
