"""checkov on manifests and Dockerfile, hadolint on the Dockerfile; each is shown to find something."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import yaml
from manifests import EVERY, ROOT, WITNESS, Site, containers, pod_of, rendered

PROGRAMS = pathlib.Path(sys.executable).parent


def run(program, *arguments):
    """A program of the tests' environment: (whether it found nothing, what it wrote)."""
    result = subprocess.run(
        [PROGRAMS / program, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode not in (0, 1):
        raise AssertionError(f"{program} failed: {result.stdout}{result.stderr}")
    return result.returncode == 0, result.stdout + result.stderr


def checkov(framework, *arguments):
    """Every finding fails, and so does a scan that looked at nothing."""
    clean, text = run(
        "checkov", "--config-file", "Tests/Deployment/checkov.yaml", "--framework", framework, *arguments
    )
    return clean, text


class Checkov(unittest.TestCase):
    def test_manifests_have_no_finding(self):
        with tempfile.TemporaryDirectory() as directory:
            for overlay in (*EVERY, WITNESS):
                (pathlib.Path(directory) / f"{overlay}.yaml").write_text(rendered(overlay), encoding="utf-8")
            clean, text = checkov("kubernetes", "--directory", directory)
            self.assertTrue(clean, text)

    def test_a_privileged_pod_without_limits_is_found(self):
        site = Site("active").copy()
        container = containers(pod_of(site.get("Deployment", "reconciled-front")))["reconciled"]
        container["securityContext"] = {"privileged": True}
        del container["resources"]["limits"]
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "site.yaml"
            file.write_text(yaml.safe_dump_all(site.objects), encoding="utf-8")
            clean, text = checkov("kubernetes", "--file", file)
        self.assertFalse(clean)
        for check in ("CKV_K8S_16", "CKV_K8S_13", "CKV_K8S_22"):  # privileged, memory limit, read-only root
            self.assertIn(check, text)

    def test_dockerfile_has_no_finding(self):
        clean, text = checkov("dockerfile", "--file", "Dockerfile")
        self.assertTrue(clean, text)

    def test_a_dockerfile_of_root_without_health_check_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "Dockerfile"
            text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
            lines = [line for line in text.splitlines() if not line.startswith(("USER", "HEALTHCHECK", "    CMD"))]
            file.write_text("\n".join(lines), encoding="utf-8")
            clean, text = checkov("dockerfile", "--file", file)
        self.assertFalse(clean)
        self.assertIn("CKV_DOCKER_2", text)
        self.assertIn("CKV_DOCKER_3", text)


class Hadolint(unittest.TestCase):
    def lint(self, path):
        return run("hadolint", "--config", ".hadolint.yaml", path)

    def test_dockerfile_has_no_finding(self):
        clean, text = self.lint("Dockerfile")
        self.assertTrue(clean, text)

    def test_a_base_without_a_version_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "Dockerfile"
            file.write_text("FROM docker.io/library/swift:latest\nRUN cd /source\n", encoding="utf-8")
            clean, text = self.lint(file)
        self.assertFalse(clean)
        self.assertIn("DL3007", text)
        self.assertIn("DL3003", text)


if __name__ == "__main__":
    unittest.main()
