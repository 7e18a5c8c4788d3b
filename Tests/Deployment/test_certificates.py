"""The component `certificates` over every overlay and beside other components, and the overlay that its page shows."""

import re
import unittest

import rules_security  # noqa: F401
from manifests import LOCAL, OPTIONS, REAL, Site, daemon, look, pod_of, source
from rules import RULES
from test_configuration import PROGRAM, check, pair
from test_deploying import overlay_of_ones_own

COMPONENT = "../../k8s/components/certificates"
PAGE = "docs/operate/certificates.md"
AUTHORITIES = "RECONCILED_HTTP_TLS_CLIENT_CA_BUNDLE"


def with_certificates(overlay, before="", after=""):
    """An overlay with the component, and with others before and after it."""
    components = ", ".join(part for part in (before, COMPONENT, after) if part)
    return overlay_of_ones_own(f"resources: [../../k8s/overlays/{overlay}]\ncomponents: [{components}]\n")


class Component(unittest.TestCase):
    def setUp(self):
        self.assertTrue(PROGRAM, "RECONCILED_PROGRAM is not set; scripts/test-deployment sets it")

    def judged(self, site):
        """Holds a site against the rule as if its overlay had the component in the repository."""
        return RULES["listener-certificates"].findings(Site(OPTIONS, site.objects))

    def test_every_overlay_takes_it_and_the_daemon_accepts_what_it_sets(self):
        for overlay in REAL + LOCAL:
            site = with_certificates(overlay)
            with self.subTest(overlay):
                self.assertEqual(self.judged(site), [])
                for item in site.daemons():
                    code, text = check(site, deployment=item["metadata"]["name"])
                    self.assertEqual(code, 0, text)

    def test_it_goes_with_or_without_monitoring_and_another_site_in_any_order(self):
        for other in ("without-monitoring", "one-site"):
            for place in ("before", "after"):
                with self.subTest(other, place=place):
                    site = with_certificates("active", **{place: f"../../k8s/components/{other}"})
                    self.assertEqual(self.judged(site), [])
                    self.assertEqual(len(site.of_kind("ServiceMonitor")), 0 if other == "without-monitoring" else 1)

    def test_jobs_have_no_listener_and_mount_no_key(self):
        for title, pod in Site(OPTIONS).our_pods():
            if not title.startswith("Deployment"):
                with self.subTest(title):
                    self.assertNotIn("TLS", str(daemon(pod)["env"]))
                    self.assertNotIn("listeners", [volume["name"] for volume in pod["spec"]["volumes"]])

    def test_the_daemon_refuses_a_key_of_another_certificate(self):
        site = with_certificates("active")
        code, text = check(site, listeners={"tls.crt": pair(0)[0], "tls.key": pair(1)[1]})
        self.assertEqual(code, 2, text)
        for listener in ("http", "admin"):
            self.assertIn(f"{listener}.tls.private_key_file", text)

    def test_an_annotation_tells_a_controller_that_reads_nothing_else(self):
        self.assertIn("nginx.ingress.kubernetes.io/backend-protocol: HTTPS",
                      source("deploy/k8s/components/ingress/ingress.yaml"))  # fmt: skip
        hosts = Site(OPTIONS).get("Ingress", "reconciled")["spec"]["rules"]
        ports = [path["backend"]["service"]["port"] for host in hosts for path in host["http"]["paths"]]
        self.assertTrue(all("name" in port for port in ports), "the number of the Service's port differs with TLS")


class Page(unittest.TestCase):
    def setUp(self):
        section = source(PAGE).split("## In Kubernetes\n", 1)[1].split("\n## ", 1)[0]
        (overlay,) = re.findall(r"(?ms)^```yaml\n(.*?)^```", section)
        self.site = overlay_of_ones_own(overlay)

    def test_the_daemon_accepts_its_overlay_which_asks_callers_for_a_certificate(self):
        for item in self.site.daemons():
            name, variables = item["metadata"]["name"], [entry["name"] for entry in daemon(pod_of(item))["env"]]
            with self.subTest(name):
                self.assertEqual(AUTHORITIES in variables, name == "reconciled-front")
                code, text = check(self.site, deployment=name)
                self.assertEqual(code, 0, text)
        code, text = check(self.site, **{AUTHORITIES: "/nowhere/clients.pem"})
        self.assertEqual(code, 2, text)
        self.assertIn("http.tls.client_ca_bundle", text)

    def test_it_makes_the_secret_that_is_mounted_with_the_names_that_are_asked_for(self):
        (certificate,) = self.site.of_kind("Certificate")
        secret = certificate["spec"]["secretName"]
        text, runbook = source(PAGE), source("docs/runbooks/certificates.md")
        for page in (text, runbook):
            self.assertIn(f"create secret generic {secret} --type=kubernetes.io/tls", page)
            for key in ("tls.crt", "tls.key", "ca.crt"):
                self.assertIn(f"--from-file={key}=", page)
        asked = look(self.site.of_kind("ServiceMonitor")[0], "spec", "endpoints", 0, "tlsConfig", "serverName")
        for name in (asked, "reconciled.reconciled.svc"):
            self.assertIn(name, certificate["spec"]["dnsNames"])
            self.assertIn(f"DNS:{name}", runbook)
            self.assertIn(f"`{name}`", text)
        (port,) = self.site.get("Service", "reconciled")["spec"]["ports"]
        self.assertEqual(port["port"], 443)


class Alert(unittest.TestCase):
    def test_its_page_knows_it(self):
        rules = Site("active").get("PrometheusRule", "reconciled")["spec"]["groups"][0]["rules"]
        named = [rule for rule in rules if rule["alert"].startswith("ReconciledCertificate")]
        self.assertEqual(len(named), 2)
        for rule in named:
            page = source(rule["annotations"]["runbook"])
            self.assertIn(f"`{rule['alert']}`", page)
            self.assertIn(f"`{rule['alert']}`", source("docs/runbooks/README.md"))


if __name__ == "__main__":
    unittest.main()
