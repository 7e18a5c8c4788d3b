"""What docs/gitops.md builds on: the components for Argo CD, for Flux and for numbers that somebody else owns."""

import pathlib
import re
import shutil
import tempfile
import unittest

import yaml
from manifests import EVERY, ROOT, Site, look, pod_of, rendered_at, source

WAVE = "argocd.argoproj.io/sync-wave"


def overlay(text, name="site"):
    """The objects of an overlay of one's own, where the page has it."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(ROOT / "deploy" / "k8s", pathlib.Path(directory) / "deploy" / "k8s")
        place = pathlib.Path(directory) / "deploy" / "sites" / name
        place.mkdir(parents=True)
        (place / "kustomization.yaml").write_text(text, encoding="utf-8")
        return Site(name, list(yaml.safe_load_all(rendered_at(place))))


def documents(heading):
    """The YAML below a heading of the page."""
    text = source("docs/gitops.md").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"(?ms)^```yaml\n(.*?)^```", text)


class GitOps(unittest.TestCase):
    def setUp(self):
        self.active, self.warm = documents("An overlay of your own")

    def test_argo_cd_migrates_between_what_the_job_needs_and_the_daemons(self):
        site = overlay(self.active)
        waves = {
            (item["kind"], item["metadata"]["name"]): int(look(item, "metadata", "annotations", WAVE, default="0"))
            for item in site.objects
        }
        job = site.get("Job", "reconciled-migrate")
        notes = job["metadata"]["annotations"]
        self.assertEqual(notes["argocd.argoproj.io/hook"], "Sync")
        self.assertEqual(notes["argocd.argoproj.io/hook-delete-policy"], "BeforeHookCreation")
        here = waves["Job", "reconciled-migrate"]
        for (kind, name), wave in waves.items():
            with self.subTest(f"{kind} {name}"):
                if kind == "Deployment":
                    self.assertGreater(wave, here)
                elif kind != "Job":
                    self.assertLess(wave, here)

    def test_flux_replaces_the_job_and_does_not_make_it_again(self):
        job = overlay(self.active.replace("components/argo-cd", "components/flux")).get("Job", "reconciled-migrate")
        self.assertEqual(job["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/force"], "enabled")
        self.assertNotIn("ttlSecondsAfterFinished", job["spec"])
        self.assertEqual(pod_of(job), pod_of(Site("active").get("Job", "reconciled-migrate")))

    def test_a_warm_standby_says_nothing_of_the_number_of_its_pods(self):
        site, hot = overlay(self.warm), Site("standby-hot")
        self.assertFalse(site.of_kind("Job"))
        for name in ("reconciled-front", "reconciled-batch"):
            ours, theirs = site.get("Deployment", name), hot.get("Deployment", name)
            self.assertNotIn("replicas", ours["spec"])
            self.assertEqual({**ours["spec"], "replicas": theirs["spec"]["replicas"]}, theirs["spec"])

    def test_no_quantity_is_a_number_which_each_apply_would_change(self):
        for name in EVERY:
            for title, pod in Site(name).pods():
                for container in pod["spec"]["containers"]:
                    for side in ("requests", "limits"):
                        for resource, value in container["resources"][side].items():
                            self.assertIsInstance(value, str, f"{name}: {title}: {side}.{resource}")

    def test_the_page_applies_the_overlay_that_it_makes(self):
        (application,) = [yaml.safe_load(text) for text in documents("Argo CD")]
        (kustomization,) = [yaml.safe_load(text) for text in documents("Flux")]
        self.assertEqual(application["spec"]["source"]["path"], "deploy/sites/site-a")
        self.assertEqual(kustomization["spec"]["path"], "./deploy/sites/site-a")
        self.assertTrue(application["spec"]["syncPolicy"]["automated"]["selfHeal"])
        self.assertIn("gitops.md", source("docs/deploying.md"))
        for name in ("argo-cd", "flux", "replicas-elsewhere"):
            self.assertIn(f"`{name}`", source("deploy/k8s/README.md"))


if __name__ == "__main__":
    unittest.main()
