"""docs/deploying.md, followed by somebody who has nothing but the page: in its order, every directory is there, every
file and every variable comes from an earlier block, and every kind of resource that an apply needs is named."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml
from manifests import EVERY, EXTENDED, OPTIONS, REAL, ROOT, Site, rendered_at, source
from test_configuration import PROGRAM, check

PAGE = "docs/deploying.md"
FENCE = re.compile(r"(?ms)^( *)```(\w*)\n(.*?)^ *```$")
#: What a shell has by itself, and what a reader says before the line.
GIVEN = {"HOME", "PWD", "USER", "CARD_TOKEN"}
#: Groups of kinds that every Kubernetes knows.
BUILT_IN = re.compile(r"^(v1|\w+/v\d+|[\w.]+\.k8s\.io/v\d+)$")


def blocks(page=PAGE):
    """Each fenced block in the order of the page: (language, text without the indentation of its list)."""
    return [(kind, re.sub(rf"(?m)^{margin}", "", text)) for margin, kind, text in FENCE.findall(source(page))]


def shell(page=PAGE):
    """The blocks that are lines for a shell: they have no language, and are no lines of pg_hba.conf."""
    return [text for kind, text in blocks(page) if not kind and not text.startswith("hostssl")]


def assigned(text):
    """The variables that lines set."""
    return set(re.findall(r"(?m)(?:^|[\s;(])([A-Za-z_]\w*)=", text) + re.findall(r"\bfor (\w+) in\b", text)
               + re.findall(r"\bread -\w+ (\w+)", text))  # fmt: skip


def used(text):
    """The variables that lines use, but for the arguments of functions."""
    return set(re.findall(r"\$\{?([A-Za-z_]\w*)", text))


class Walk(unittest.TestCase):
    def test_every_block_is_a_line_for_a_shell(self):
        for page in (PAGE, "deploy/image/README.md"):
            for text in shell(page):
                with self.subTest(text):
                    result = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
                    self.assertEqual(result.stderr, "")

    def test_every_variable_and_function_is_set_before_it_is_used(self):
        for page in (PAGE, "deploy/image/README.md"):
            known, functions = set(GIVEN), set()
            for text in shell(page):
                known |= assigned(text)
                functions |= set(re.findall(r"(?m)^(\w+)\(\) \{", text))
                with self.subTest(text):
                    self.assertEqual(used(text) - known, set())
                    for name in ("digest", "pay"):
                        if re.search(rf"(?m)(^|\$\(){name} ", text):
                            self.assertIn(name, functions)

    def test_every_directory_is_there_or_made_before(self):
        text = "\n".join(shell())
        made = re.findall(r"(?m)^SITE=(\S+)", text) + re.findall(r"`SITE=([\w/-]+)`", source(PAGE))
        self.assertGreaterEqual(len(made), 4)
        ours = {name for name in made if name.startswith("deploy/sites/")}
        self.assertIn("deploy/kind/pair overlays", text)
        self.assertLessEqual(ours, {"deploy/sites/site-a", "deploy/sites/site-b"})
        named = re.findall(r"kubectl (?:apply|delete) -k (\S+)|kubectl kustomize (\S+)", text)
        self.assertGreater(len(named), 4)
        for name in set(made) - ours | {first or second for first, second in named} - {'"$SITE"'}:
            with self.subTest(name):
                self.assertTrue((ROOT / name / "kustomization.yaml").is_file())
        for name in re.findall(r"\$PWD/([\w/-]+):", text + "\n".join(shell("deploy/image/README.md"))):
            self.assertTrue((ROOT / name).exists(), name)

    def test_every_script_is_there(self):
        for page in (PAGE, "deploy/image/README.md"):
            for name in re.findall(r"(?:scripts|deploy/(?:image|kind))/[\w-]+(?=[\s`)])", source(page)):
                with self.subTest(name):
                    self.assertTrue(os.access(ROOT / name, os.X_OK) or (ROOT / name).is_dir(), name)

    def test_every_file_is_made_before_it_is_read(self):
        with tempfile.TemporaryDirectory() as home:
            found = False
            for kind, text in blocks():
                if "SECRETS=$HOME" in text:
                    subprocess.run(["bash", "-euc", text], env={**os.environ, "HOME": home}, capture_output=True,
                                   check=True, timeout=120)  # fmt: skip
                    found = True
                names = re.findall(r"\$SECRETS/([\w.-]+)", text)
                if kind == "sql":
                    names += re.findall(r"`cat (\S+)`", text)
                for name in names:
                    with self.subTest(text, file=name):
                        self.assertTrue(found)
                        self.assertTrue((pathlib.Path(home) / "reconciled-secrets" / name).is_file())
            given = set(re.findall(r'--from-file="\$SECRETS/([\w.-]+)"', source(PAGE)))
            self.assertEqual(given, secret_keys(Site("active")))
            for name in ("store-password", "site-a.key", "database-ca.key"):
                mode = (pathlib.Path(home) / "reconciled-secrets" / name).stat().st_mode
                self.assertEqual(mode & 0o077, 0, f"{name} can be read by others")

    def test_names_are_those_of_the_manifests(self):
        text = "\n".join(shell())
        names = {(item["kind"].lower(), re.sub(r"-[a-z0-9]{10}$", "", item["metadata"]["name"]))
                 for overlay in EVERY for item in Site(overlay).objects}  # fmt: skip
        for kind, name in re.findall(r"\b(deployment|job)[/ ]([\w-]+)", text):
            self.assertIn((kind, name), names)
        for namespace in re.findall(r"\s(?:-n|--namespace) (\S+)", text):
            self.assertEqual(namespace, "reconciled")
        mounted = {volume["configMap"]["name"] if "configMap" in volume else volume.get("secret", {}).get("secretName")
                   for _, pod in Site("active").our_pods() for volume in pod["spec"]["volumes"]}  # fmt: skip
        self.assertIn("reconciled-secrets", mounted)
        self.assertIn("create secret generic reconciled-secrets", text)
        account = Site(OPTIONS).get("ServiceAccount", "reconciled")
        for entry in account["imagePullSecrets"]:
            self.assertIn(f"create secret docker-registry {entry['name']}", text)

    def test_images_are_those_of_the_release(self):
        release = yaml.safe_load(source("deploy/k8s/components/release/kustomization.yaml"))["images"]
        released = {entry["newName"].rsplit("/", 1)[-1]: entry["newTag"] for entry in release}
        (version,) = re.findall(r'static let text = "([^"]+)"', source("Sources/ProgramEdge/BuildVersion.swift"))
        self.assertEqual({released["reconciled"], released["provider-simulator"]}, {version})
        for page in (PAGE, "deploy/image/README.md", "deploy/kind/pair"):
            for name, tag in re.findall(r"\b(reconciled|provider-simulator|postgres):(\d+\.[\w.-]+)", source(page)):
                with self.subTest(page, image=name):
                    self.assertEqual(tag, released[name])


def secret_keys(site):
    """The keys of the Secret that a site's configuration reads."""
    return set(re.findall(r"/etc/reconciled/secrets/([\w.-]+)", str(site.objects)))


class Kinds(unittest.TestCase):
    def test_the_page_names_every_kind_that_a_cluster_does_not_have_by_itself(self):
        text = source(PAGE)
        for overlay in REAL + EXTENDED:
            for item in Site(overlay).objects:
                if not BUILT_IN.match(item["apiVersion"]):
                    with self.subTest(item["kind"]):
                        self.assertIn(f"`{item['kind']}`", text)
                        self.assertIn(f"`{item['apiVersion']}`", text)
                        group = item["apiVersion"].split("/")[0]
                        if overlay not in EXTENDED:
                            self.assertIn(f"{item['kind'].lower()}s.{group}", text)
        for name in ("local", "local-postgres"):
            for item in Site(name).objects:
                self.assertRegex(item["apiVersion"], BUILT_IN)

    def test_the_page_names_what_belongs_to_the_whole_cluster(self):
        for item in Site("active").of_kind("PriorityClass"):
            self.assertIn(f"`{item['metadata']['name']}`", source(PAGE))

    def test_every_component_is_described_and_can_be_added(self):
        listed = source("deploy/k8s/README.md")
        options = ("grafana-dashboard", "external-secrets", "image-pull-secret", "one-site", "without-monitoring")
        for name in options:
            self.assertIn(f"`{name}`", source(PAGE))
        for place in sorted((ROOT / "deploy" / "k8s" / "components").iterdir()):
            with self.subTest(place.name):
                self.assertIn(f"`{place.name}`", listed)
                self.assertEqual(
                    yaml.safe_load((place / "kustomization.yaml").read_text(encoding="utf-8"))["kind"], "Component"
                )

    def test_without_monitoring_nothing_needs_an_operator(self):
        for overlay in REAL:
            for more in ("", ", ../../k8s/components/one-site"):
                text = (f"resources: [../../k8s/overlays/{overlay}]\n"
                        f"components: [../../k8s/components/without-monitoring{more}]\n")  # fmt: skip
                with self.subTest(overlay, more=more):
                    site = overlay_of_ones_own(text)
                    kinds = {item["kind"] for item in site.objects}
                    self.assertIn("Deployment", kinds)
                    self.assertEqual(kinds & {"ServiceMonitor", "PrometheusRule"}, set())


def overlay_of_ones_own(text):
    """The objects of an overlay in deploy/sites."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        shutil.copytree(ROOT / "deploy" / "k8s", directory / "deploy" / "k8s")
        place = directory / "deploy" / "sites" / "ours"
        place.mkdir(parents=True)
        (place / "kustomization.yaml").write_text(text, encoding="utf-8")
        return Site("ours", list(yaml.safe_load_all(rendered_at(place))))


class Kind(unittest.TestCase):
    """deploy/kind/pair: its overlays, and the statements that it takes out of the page."""

    def test_the_daemon_accepts_the_overlays_of_the_trial(self):
        self.assertTrue(PROGRAM, "RECONCILED_PROGRAM is not set; scripts/test-deployment sets it")
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            for part in ("k8s", "kind"):
                shutil.copytree(ROOT / "deploy" / part, directory / "deploy" / part)
            subprocess.run([directory / "deploy" / "kind" / "pair", "overlays"], check=True, timeout=60)
            for site in ("site-a", "site-b"):
                ours = Site(site, list(yaml.safe_load_all(rendered_at(directory / "deploy" / "sites" / site))))
                with self.subTest(site):
                    self.assertEqual(ours.site_variables()["RECONCILED_SITE_NAME"], site)
                    self.assertEqual([item["spec"]["replicas"] for item in ours.daemons()], [1, 1])
                    self.assertIn("8090", str(ours.get("NetworkPolicy", "providers")))
                    self.assertEqual(bool(ours.get("Job", "reconciled-migrate")), site == "site-a")
                    code, output = check(ours)
                    self.assertEqual(code, 0, output)

    def test_its_statements_are_those_of_the_page(self):
        (line,) = re.findall(r"(?m)^statements\(\) .*$", source("deploy/kind/pair"))
        statements = [text for kind, text in blocks() if kind == "sql"]
        self.assertEqual(len(statements), 2)
        for number, text in enumerate(statements, 1):
            result = subprocess.run(
                ["bash", "-euc", f"{line}\nstatements {number}"], cwd=ROOT, capture_output=True, text=True, check=True
            )
            self.assertEqual(re.sub(r"(?m)^ {3}", "", result.stdout), text)

    def test_without_the_files_of_the_page_it_begins_nothing(self):
        with tempfile.TemporaryDirectory() as empty:
            for place in ("", empty):
                result = subprocess.run(
                    [ROOT / "deploy" / "kind" / "pair", "databases"],
                    env={**os.environ, "SECRETS": place}, capture_output=True, text=True, check=False, timeout=60,
                )  # fmt: skip
                self.assertNotEqual(result.returncode, 0)
                self.assertIn("SECRETS", result.stderr)


if __name__ == "__main__":
    unittest.main()
