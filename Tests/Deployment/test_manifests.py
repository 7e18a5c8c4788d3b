"""The overlays against the schemas of Kubernetes and against the project's own rules."""

import re
import unittest

import kubernetes_validate
import mutations
import rules
import rules_availability  # noqa: F401
import rules_operation  # noqa: F401
import rules_security  # noqa: F401
import yaml
from manifests import EVERY, EXTENDED, LOCAL, WITNESS, Site, look, pod_of, source

#: The oldest version that the manifests are meant for, and the newest that the validator knows.
VERSIONS = ("1.30", kubernetes_validate.latest_version())
#: Kinds of operators, of which the validator has no schema; the rules look at them.
WITHOUT_SCHEMA = {"ServiceMonitor", "PrometheusRule", "ExternalSecret", "Certificate"}


def schema_findings(item, version):
    """What a version's schema says about an object; unknown fields count."""
    try:
        kubernetes_validate.validate(item, version, strict=True)
        return []
    except kubernetes_validate.ValidationError as error:
        return [f"{item['kind']} {item['metadata']['name']}: {error.message}"]


class Schemas(unittest.TestCase):
    def test_every_object_passes_the_strict_schemas(self):
        for overlay in (*EVERY, WITNESS):
            for version in VERSIONS:
                for item in Site(overlay).objects:
                    if item["kind"] not in WITHOUT_SCHEMA:
                        with self.subTest(overlay=overlay, version=version):
                            self.assertEqual(schema_findings(item, version), [])

    def test_a_misspelt_field_and_a_wrong_type_do_not_pass(self):
        item = Site("active").copy().get("Deployment", "reconciled-front")
        item["spec"]["template"]["spec"]["tolerationz"] = []
        self.assertTrue(schema_findings(item, VERSIONS[0]))
        item = Site("active").copy().get("PodDisruptionBudget", "reconciled-front")
        item["spec"]["unhealthyPodEvictionPolicy"] = 1
        self.assertTrue(schema_findings(item, VERSIONS[0]))


class Rules(unittest.TestCase):
    def test_every_overlay_keeps_every_rule(self):
        for overlay in (*EVERY, WITNESS):
            site = Site(overlay)
            for rule in rules.RULES.values():
                with self.subTest(overlay=overlay, rule=rule.name):
                    self.assertEqual(rule.findings(site), [])

    def test_every_planted_fault_is_noticed_by_its_rule(self):
        for mutation in mutations.ALL:
            with self.subTest(str(mutation)):
                rule = rules.RULES[mutation.rule]
                findings = rule.findings(mutation.apply(Site(mutation.overlay)))
                self.assertTrue(findings, f"nothing noticed {mutation}")

    def test_every_rule_has_a_planted_fault(self):
        self.assertEqual(set(rules.RULES), {mutation.rule for mutation in mutations.ALL})


class Documentation(unittest.TestCase):
    def rows(self, heading):
        text = source("deploy/k8s/README.md").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[1:]]

    def test_the_table_of_settings_has_a_row_for_each_rule(self):
        rows = self.rows("Each setting, and what it prevents")
        named = [re.search(r"\(`([a-z-]+)`\)$", row[0]) for row in rows]
        self.assertNotIn(None, named)
        self.assertEqual(sorted(match[1] for match in named), sorted(rules.RULES))
        for row in rows:
            self.assertEqual(len(row), 3, row)
            self.assertTrue(all(row), row)

    def test_each_single_point_of_failure_has_detection_and_answer(self):
        rows = self.rows("Single points of failure")
        self.assertGreater(len(rows), 8)
        for row in rows:
            self.assertEqual(len(row), 4, row)
            self.assertTrue(all(row), row)

    def test_each_overlay_and_component_is_described(self):
        text = source("deploy/k8s/README.md")
        for overlay in EVERY:
            self.assertTrue(overlay in EXTENDED or f"`{overlay}`" in text, overlay)
        self.assertIn("deploy/k8s/witness`", text)
        for name in re.findall(r"components/([a-z-]+)", "".join(source_of_overlays())):
            self.assertIn(f"`{name}`", text)


def source_of_overlays():
    from manifests import directory

    for overlay in EVERY:
        yield (directory(overlay) / "kustomization.yaml").read_text(encoding="utf-8")


class Release(unittest.TestCase):
    """docs/deploying.md applies everything but front and batch first, and waits for the migration."""

    SELECTOR = "app.kubernetes.io/component notin (front, batch)"

    def test_the_migration_has_what_it_needs_before_the_daemons_are_replaced(self):
        self.assertIn(f"-l '{self.SELECTOR}'", source("docs/deploying.md"))
        for overlay in ("active", "local-postgres"):
            site = Site(overlay)
            first = [item for item in site.objects if self.label(item) not in ("front", "batch")]
            job = site.get("Job", "reconciled-migrate")
            volumes = {look(volume, "configMap", "name") for volume in pod_of(job)["spec"]["volumes"]} - {None}
            for kind, name in [("ConfigMap", name) for name in volumes] + [
                ("ConfigMap", "reconciled-site"), ("Namespace", "reconciled"), ("ServiceAccount", "reconciled"),
                ("NetworkPolicy", "default-deny"), ("NetworkPolicy", "dns"), ("NetworkPolicy", "database"),
                ("Job", "reconciled-migrate"),
            ]:  # fmt: skip
                self.assertIsNotNone(Site(overlay, first).get(kind, name), f"{overlay}: {kind} {name}")
            for item in first:
                self.assertNotIn(item, site.daemons(), "a daemon of the new version starts before its schema is there")

    def test_everything_is_labelled(self):
        for overlay in (*EVERY, WITNESS):
            for item in Site(overlay).objects:
                self.assertTrue(self.label(item), f"{overlay}: {item['kind']} {item['metadata']['name']}")

    @staticmethod
    def label(item):
        return look(item, "metadata", "labels", "app.kubernetes.io/component")


class ThirdCluster(unittest.TestCase):
    def test_each_account_is_made_before_its_token_which_kubernetes_would_take_away(self):
        made = []
        for item in Site(WITNESS).objects:
            made.append((item["kind"], item["metadata"]["name"]))
            if item["kind"] == "Secret":
                owner = item["metadata"]["annotations"]["kubernetes.io/service-account.name"]
                self.assertIn(("ServiceAccount", owner), made)
        self.assertIn(("Secret", "site-a-token"), made)

    def test_the_lease_is_where_the_daemon_looks_by_default(self):
        lease = Site(WITNESS).get("Lease", "reconciled")["metadata"]
        text = source("Sources/ReconcileDaemon/Configuration/WitnessSettings.swift")
        for key in ("name", "namespace"):
            self.assertIn(f'name("{key}")', text)
            self.assertIn(f'default: "{lease[key]}"', text)


class Local(unittest.TestCase):
    def test_local_overlays_ask_for_no_pool_and_no_second_node(self):
        for overlay in LOCAL:
            for title, pod in Site(overlay).pods():
                self.assertFalse(pod["spec"].get("affinity"), title)
                self.assertFalse(pod["spec"].get("topologySpreadConstraints"), title)

    def test_sqlite_lies_on_the_volume(self):
        site = Site("local")
        url = yaml.safe_load(site.configuration())["store"]["url"]
        mounts = site.get("Deployment", "reconciled-front")["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
        paths = [mount["mountPath"] for mount in mounts if mount["name"] == "data"]
        self.assertTrue(paths and url.startswith(f"sqlite:{paths[0]}/"), url)


if __name__ == "__main__":
    unittest.main()
