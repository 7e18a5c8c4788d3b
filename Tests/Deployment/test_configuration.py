"""The configuration of each overlay, judged by the daemon itself: RECONCILED_PROGRAM is its path."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml
from manifests import EVERY, LEASE, REAL, ROOT, Site, daemon, look, rendered_at, seconds, source

PROGRAM = os.environ.get("RECONCILED_PROGRAM")


@functools.cache
def pair(number):
    """A certificate and its key as PEM, another one for each number."""
    with tempfile.TemporaryDirectory() as directory:
        files = [pathlib.Path(directory) / name for name in ("tls.crt", "tls.key")]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-days", "2", "-subj", f"/CN=listener {number}", "-out", files[0], "-keyout", files[1]],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip
        return tuple(file.read_text(encoding="utf-8") for file in files)


def check(site, change=lambda text: text, deployment="reconciled-front", listeners=None, **variables):
    """(exit code, output) of check-config, as the container of a Deployment would run it.

    The mounts of Secrets are played by directories: every path below them is replaced, in the file and in the
    environment. `listeners` are the files of the listeners' certificate; without it, they are a pair that matches.
    """
    with tempfile.TemporaryDirectory() as directory:
        secrets, certificates = (pathlib.Path(directory) / name for name in ("secrets", "listeners"))
        secrets.mkdir()
        certificates.mkdir()
        for key, text in (listeners or dict(zip(("tls.crt", "tls.key"), pair(0)))).items():
            (certificates / key).write_text(text, encoding="utf-8")
        (secrets / "clients.pem").write_text(pair(1)[0], encoding="utf-8")
        for key in ("store-password", "provider-card-token", "witness-password", "witness-token"):
            (secrets / key).write_text("for-the-test\n", encoding="utf-8")
        for key in ("database-ca.pem", "witness-ca.pem"):
            (secrets / key).write_text("-----BEGIN CERTIFICATE-----\n", encoding="utf-8")
        file = pathlib.Path(directory) / "reconciled.yaml"

        def here(text):
            for mounted, played in (
                ("/etc/reconciled/secrets", secrets), ("/etc/reconciled/listeners", certificates),
                ("/etc/reconciled/config/reconciled.yaml", file),
            ):  # fmt: skip
                text = text.replace(mounted, str(played))
            return text

        file.write_text(change(here(site.configuration())), encoding="utf-8")
        environment = {"PATH": os.environ["PATH"]}
        for name in ("LD_LIBRARY_PATH", "HOME"):
            if name in os.environ:
                environment[name] = os.environ[name]
        for name, value in site.site_variables().items():
            environment[name] = here(value)
        container = daemon(site.get("Deployment", deployment)["spec"]["template"])
        for variable in container["env"]:
            environment[variable["name"]] = here(variable["value"])
        environment.update(variables)
        result = subprocess.run(
            [PROGRAM, "check-config"], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        return result.returncode, result.stdout + result.stderr


#: An overlay of one's own with the component `witness-lease`.
LEASE_OVERLAY = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: reconciled
resources: [../../k8s/overlays/OVERLAY]
components: [../../k8s/components/witness-lease]
configMapGenerator:
  - name: reconciled-site
    behavior: merge
    literals:
      - RECONCILED_SITE_REPLICATION=asynchronous
      - RECONCILED_SITE_WITNESS_URL=https://witness.example.net
patches:
  - target: {kind: NetworkPolicy, name: witness}
    patch: |
      - {op: replace, path: /spec/egress/0/to/0/ipBlock/cidr, value: 198.51.100.7/32}
      - {op: replace, path: /spec/egress/0/ports/0/port, value: 443}
"""


class Configuration(unittest.TestCase):
    def setUp(self):
        self.assertTrue(PROGRAM, "RECONCILED_PROGRAM is not set; scripts/test-deployment sets it")

    def test_the_daemon_accepts_the_configuration_of_every_overlay(self):
        for overlay in EVERY:
            with self.subTest(overlay):
                code, text = check(Site(overlay))
                self.assertEqual(code, 0, text)
                self.assertIn("the configuration is valid", text)

    def test_the_alert_of_a_late_comparison_is_at_three_windows_and_the_delay(self):
        for overlay in REAL:
            site = Site(overlay)
            said = re.search(r"in windows of (\d+[smhd]), each (\d+[smhd]) after its end", check(site)[1])
            late = 3 * seconds(said[1]) + seconds(said[2])
            groups = site.get("PrometheusRule", "reconciled")["spec"]["groups"]
            entries = [entry for group in groups for entry in group["rules"]]
            (alert,) = [entry for entry in entries if entry["alert"] == "ReconciledComparisonLate"]
            with self.subTest(overlay):
                self.assertTrue(alert["expr"].endswith(f"> {late:.0f}"), f"{alert['expr']}: {said[0]}")

    def test_the_ports_of_the_containers_are_those_of_the_configuration(self):
        for overlay in EVERY:
            configuration = yaml.safe_load(Site(overlay).configuration())
            ports = daemon(Site(overlay).get("Deployment", "reconciled-front")["spec"]["template"])["ports"]
            with self.subTest(overlay):
                self.assertEqual(
                    {port["name"]: port["containerPort"] for port in ports},
                    {"http": configuration["http"]["port"], "admin": configuration["admin"]["port"]},
                )
                self.assertEqual({configuration[key]["host"] for key in ("http", "admin")}, {"0.0.0.0"})

    def test_the_digest_of_a_callers_token_can_come_from_the_environment(self):
        code, text = check(Site("active"), RECONCILED_CALLERS_CHECKOUT_TOKEN_SHA256="ab" * 32)
        self.assertEqual(code, 0, text)
        code, text = check(Site("active"), RECONCILED_CALLERS_CHECKOUT_TOKEN_SHA256="short")
        self.assertEqual(code, 2, text)

    def test_a_pair_that_nothing_fences_is_refused(self):
        for overlay in REAL:
            with self.subTest(overlay):
                code, text = check(Site(overlay), RECONCILED_SITE_PROOF="none")
                self.assertEqual(code, 2, text)
                self.assertIn("site.proof", text)

    def test_variables_of_service_links_would_stop_the_start(self):
        code, text = check(Site("active"), RECONCILED_SERVICE_HOST="10.0.0.1")
        self.assertEqual(code, 2)
        self.assertIn("RECONCILED_SERVICE_HOST", text)

    def test_an_unknown_key_and_an_unsafe_provider_are_refused(self):
        code, text = check(Site("active"), lambda text: text.replace("shutdown_grace", "shutdown_grase"))
        self.assertEqual(code, 2)
        self.assertIn("reconcile.shutdown_grase", text)
        code, text = check(Site("active"), lambda text: text.replace("base: reference", "base: paypay"))
        self.assertEqual(code, 2)
        self.assertIn("undo-impossible", text)

    def test_the_store_of_a_real_site_verifies_the_servers_certificate(self):
        for overlay in REAL:
            url = look(Site(overlay).site_variables(), "RECONCILED_STORE_URL", default="")
            with self.subTest(overlay):
                self.assertIn("sslmode=verify-full", url)
                self.assertIn("sslrootcert=/etc/reconciled/secrets/", url)

    def test_one_site_alone_needs_no_proof_and_has_no_alerts_of_a_pair(self):
        with tempfile.TemporaryDirectory() as directory:
            shutil.copytree(ROOT / "deploy" / "k8s", pathlib.Path(directory) / "k8s")
            place = pathlib.Path(directory) / "site"
            place.mkdir()
            (place / "kustomization.yaml").write_text(
                "resources: [../k8s/overlays/active]\ncomponents: [../k8s/components/one-site]\n", encoding="utf-8"
            )
            site = Site("alone", list(yaml.safe_load_all(rendered_at(place))))
        self.assertEqual({key for key in site.site_variables() if "SITE" in key}, {"RECONCILED_SITE_NAME"})
        self.assertEqual([item["metadata"]["name"] for item in site.of_kind("PrometheusRule")], ["reconciled"])
        code, text = check(site)
        self.assertEqual(code, 0, text)

    def test_the_daemon_accepts_the_overlay_with_a_witness_that_the_page_shows(self):
        section = source("docs/deploying.md").split("### The databases\n", 1)[1].split("\n### ", 1)[0]
        (text,) = re.findall(r"(?ms)^```yaml\n(.*?)^```", section)
        for overlay in ("active", "standby-hot"):
            with self.subTest(overlay), tempfile.TemporaryDirectory() as directory:
                shutil.copytree(ROOT / "deploy" / "k8s", pathlib.Path(directory) / "deploy" / "k8s")
                place = pathlib.Path(directory) / "deploy" / "sites" / "ours"
                place.mkdir(parents=True)
                text = re.sub(r"overlays/(active|standby-hot)", f"overlays/{overlay}", text)
                (place / "kustomization.yaml").write_text(text, encoding="utf-8")
                site = Site("ours", list(yaml.safe_load_all(rendered_at(place))))
                self.assertEqual(site.site_variables()["RECONCILED_SITE_PROOF"], "postgres")
                self.assertEqual(site.site_variables()["RECONCILED_SITE_REPLICATION"], "asynchronous")
                self.assertIn("witness.example.net", site.site_variables()["RECONCILED_SITE_WITNESS_URL"])
                code, output = check(site)
                self.assertEqual(code, 0, output)

    def test_the_daemon_accepts_a_lease_as_the_witness_of_each_site(self):
        for overlay in ("active", "standby-hot"):
            with self.subTest(overlay), tempfile.TemporaryDirectory() as directory:
                shutil.copytree(ROOT / "deploy" / "k8s", pathlib.Path(directory) / "deploy" / "k8s")
                place = pathlib.Path(directory) / "deploy" / "sites" / "ours"
                place.mkdir(parents=True)
                (place / "kustomization.yaml").write_text(LEASE_OVERLAY.replace("OVERLAY", overlay), encoding="utf-8")
                site = Site("ours", list(yaml.safe_load_all(rendered_at(place))))
                self.assertEqual(site.site_variables()["RECONCILED_SITE_PROOF"], "kubernetes")
                opening = site.get("NetworkPolicy", "witness")["spec"]["egress"][0]
                self.assertEqual(opening["to"], [{"ipBlock": {"cidr": "198.51.100.7/32"}}])
                self.assertEqual(opening["ports"], [{"protocol": "TCP", "port": 443}])
                code, output = check(site)
                self.assertEqual(code, 0, output)

    def test_a_lease_without_address_token_or_authority_is_refused(self):
        for key, value in (
            ("URL", ""), ("URL", "https://site-a:secret@witness.example.net:6443"),
            ("TOKEN_FILE", ""), ("TOKEN_FILE", "/nowhere/witness-token"), ("CA_BUNDLE", "/nowhere/witness-ca.pem"),
            ("TOKEN", "abc"),
        ):  # fmt: skip
            with self.subTest(key, value=value):
                code, text = check(Site(LEASE), **{f"RECONCILED_SITE_WITNESS_{key}": value})
                self.assertEqual(code, 2, text)
                self.assertRegex(text, "site.witness|RECONCILED_SITE_WITNESS")
                self.assertNotRegex(text, "secret@|'abc'")


class Cloud(unittest.TestCase):
    """The overlays that docs/deploying-cloud.md writes, by its own lines and by terraform/commands.sh."""

    # What an apply would print: `terraform/run PLACE output -json site`.
    OUTPUTS = {
        "store_url": "postgres:host=db dbname=payments user=reconciled sslmode=verify-full",
        "database_cidrs": ["10.10.248.0/24"], "node_cidrs": ["10.10.0.0/20", "10.10.16.0/20"],
        "entry_cidrs": ["10.10.240.0/24"],
    }  # fmt: skip
    SHARED = {
        "witness_url": {"value": "postgres:host=witness dbname=witness user=reconciled sslmode=verify-full"},
        "witness_cidrs": {"value": ["10.30.0.0/28", "10.30.0.16/28"]},
    }

    def setUp(self):
        self.assertTrue(PROGRAM, "RECONCILED_PROGRAM is not set; scripts/test-deployment sets it")

    def project(self, directory):
        """What the lines need of the project, with a terraform/run that answers as after an apply."""
        shutil.copytree(ROOT / "deploy" / "k8s", directory / "deploy" / "k8s")
        (directory / "terraform" / "environments").mkdir(parents=True)
        (directory / "deploy" / "sites").mkdir()
        shutil.copy(ROOT / "terraform" / "commands.sh", directory / "terraform")
        shutil.copy(
            ROOT / "terraform" / "environments" / "sites.tfvars.json.example",
            directory / "terraform" / "environments" / "sites.tfvars.json",
        )
        (directory / "deploy" / "sites" / "shared.json").write_text(json.dumps(self.SHARED), encoding="utf-8")
        run = directory / "terraform" / "run"
        run.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(self.OUTPUTS)}\nEND\n", encoding="utf-8")
        run.chmod(0o755)

    def test_the_daemon_accepts_the_overlays_that_the_page_writes(self):
        page = source("docs/deploying-cloud.md")
        calls = re.findall(r'(?m)^site_overlay "\$(?:FIRST|SECOND)" .*$', page)
        self.assertEqual(len(calls), 2)
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            self.project(directory)
            lines = ["set -eu", "FIRST=frankfurt SECOND=ireland", ". terraform/commands.sh", *calls]
            subprocess.run(["bash", "-c", "\n".join(lines)], cwd=directory, check=True, timeout=60)
            said = {}
            for name in ("frankfurt", "ireland"):
                text = rendered_at(directory / "deploy" / "sites" / name)
                site = Site(name, list(yaml.safe_load_all(text)))
                said[name] = site.site_variables()
                with self.subTest(name):
                    ranges = {
                        (policy, cidr)
                        for policy in ("database", "entry", "witness")
                        for cidr in re.findall(r"10\.[13]0\.[0-9./]+", str(site.get("NetworkPolicy", policy)))
                    }
                    self.assertEqual(ranges, {
                        ("database", "10.10.248.0/24"), ("entry", "10.10.0.0/20"), ("entry", "10.10.16.0/20"),
                        ("entry", "10.10.240.0/24"), ("witness", "10.30.0.0/28"), ("witness", "10.30.0.16/28"),
                    })  # fmt: skip
                    code, output = check(site)
                    self.assertEqual(code, 0, output)
            for own, other in (("frankfurt", "ireland"), ("ireland", "frankfurt")):
                self.assertEqual(said[own]["RECONCILED_SITE_NAME"], own)
                self.assertEqual(said[own]["RECONCILED_SITE_PEER_NAME"], other)
                self.assertEqual(said[own]["RECONCILED_SITE_REPLICATION"], "asynchronous")
                self.assertEqual(said[own]["RECONCILED_SITE_PROOF"], "postgres")
                self.assertIn("host=witness", said[own]["RECONCILED_SITE_WITNESS_URL"])


if __name__ == "__main__":
    unittest.main()
