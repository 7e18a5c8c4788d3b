"""Each alert fires for what it is about, and none while all is well; judged by promtool, whose path is PROMTOOL."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import yaml
from manifests import OPTIONS, Site

PROMTOOL = os.environ.get("PROMTOOL")

#: Series of a site that is well, as promtool writes them: value or start+step, then how often.
WELL = {
    'up{job="reconciled-admin",pod="a"}': "1x120",
    'reconciled_oldest_unsettled_seconds{namespace="reconciled",pod="a"}': "299x120",
    'reconciled_oldest_unsettled_seconds{namespace="reconciled",pod="b"}': "0x120",
    'reconciled_oldest_unconfirmed_seconds{namespace="reconciled",pod="a"}': "59x120",
    'reconciled_standby_missing{namespace="reconciled",pod="a"}': "0x120",
    'reconciled_standby_missing{namespace="reconciled",pod="b"}': "0x120",
    # It was set once, long ago.
    'reconciled_clock_steps_total{namespace="reconciled",pod="a"}': "1x120",
    'reconciled_clock_steps_total{namespace="reconciled",pod="b"}': "0x120",
    'reconciled_operations_waiting{namespace="reconciled",operation="create",for="people",pod="a"}': "0x120",
    'reconciled_operations_waiting{namespace="reconciled",operation="create",for="time",pod="a"}': "7x120",
    'reconciled_operations_waiting{namespace="reconciled",operation="refund",for="people",pod="a"}': "0x120",
    'reconciled_payments{namespace="reconciled",state="succeeded"}': "5+9x120",
    # A burst of late ones half an hour ago: fewer than one of a hundred.
    'reconciled_payments_settled_late_total{namespace="reconciled",state="succeeded",pod="a"}': "0x60 40x60",
    'reconciled_payment_settle_duration_seconds_count{namespace="reconciled",state="succeeded",pod="a"}': "0+100x120",
    'reconciled_payments_due{namespace="reconciled"}': "900x120",
    'reconciled_store_failures_total{namespace="reconciled",code="unavailable"}': "0+1x120",
    'reconciled_attempts_total{namespace="reconciled",provider="card",outcome="accepted"}': "0+90x120",
    'reconciled_attempts_total{namespace="reconciled",provider="card",outcome="indeterminate"}': "0+10x120",
    'reconciled_provider_clock_in_doubt{namespace="reconciled",provider="card",pod="a"}': "0x120",
    # Two payments waited for another configuration, hours ago.
    'reconciled_provider_missing_total{namespace="reconciled",provider="card",reason="other_key_space",pod="a"}':
        "2x120",
    'reconciled_provider_key_space_differs{namespace="reconciled",provider="card",pod="a"}': "0x120",
    'reconciled_alerts_total{namespace="reconciled",provider="card"}': "3x120",
    'reconciled_discrepancies_open{namespace="reconciled",provider="card",class="duplicate",pod="a"}': "0x120",
    'reconciled_discrepancies_open{namespace="reconciled",provider="card",class="status_differs",pod="a"}': "2x120",
    'reconciled_oldest_discrepancy_seconds{namespace="reconciled",provider="card",pod="a"}': "86400+30x120",
    'reconciled_comparison_lag_seconds{namespace="reconciled",provider="card",pod="a"}': "4025x120",
    'reconciled_comparison_runs{namespace="reconciled",provider="card",state="planned",pod="a"}': "0x50 1x60 0x10",
    'reconciled_comparison_runs{namespace="reconciled",provider="card",state="completed",pod="a"}': "50x120",
    # One was replaced half an hour ago, on its last day; the other one has just above two weeks left when it is judged.
    'reconciled_certificate_expiry_time_seconds{namespace="reconciled",listener="callers"}': "90000x60 7776000x60",
    'reconciled_certificate_expiry_time_seconds{namespace="reconciled",listener="operators"}': "1213100x120",
    # Read every five minutes, but for half an hour in which the issuer was away.
    'reconciled_key_set_read_time_seconds{namespace="reconciled",pod="a"}': "0+60x60 3600x30 5400+60x30",
    # Sealed again after half an hour.
    'reconciled_oldest_unsealed_seconds{namespace="reconciled",pod="a"}': "0+30x60 8x60",
    # A receiver that was away for half an hour, and one that has all of its webhooks.
    'reconciled_oldest_webhook_seconds{namespace="reconciled",caller="shop",pod="a"}': "0+30x60 0x60",
    'reconciled_oldest_webhook_seconds{namespace="reconciled",caller="kiosk",pod="a"}': "0x120",
    'reconciled_webhooks_open{namespace="reconciled",caller="shop",state="waiting",pod="a"}': "40x60 0x60",
    'reconciled_webhooks_open{namespace="reconciled",caller="shop",state="given_up",pod="a"}': "0x120",
    'kube_deployment_status_replicas_available{deployment="reconciled-front"}': "2x120",
    'kube_deployment_spec_replicas{deployment="reconciled-front"}': "3x120",
    # A warm standby and a deployment of somebody else.
    'kube_deployment_status_replicas_available{deployment="reconciled-batch"}': "0x120",
    'kube_deployment_spec_replicas{deployment="reconciled-batch"}': "0x120",
    'kube_deployment_status_replicas_available{deployment="other"}': "0x120",
    'kube_deployment_spec_replicas{deployment="other"}': "3x120",
}

#: The same of a pair: site-a is active and leads with a lease, site-b follows. Prometheus sees both.
PAIR = {
    'reconciled_site_active{namespace="reconciled",site="site-a",pod="a"}': "1x120",
    'reconciled_site_active{namespace="reconciled",site="site-a",pod="b"}': "1x120",
    'reconciled_site_active{namespace="reconciled",site="site-b",pod="c"}': "0x120",
    'reconciled_site_epoch{namespace="reconciled",site="site-a",pod="a"}': "3x120",
    'reconciled_site_epoch{namespace="reconciled",site="site-b",pod="c"}': "3x120",
    'reconciled_site_lease_seconds{namespace="reconciled",site="site-a",pod="a"}': "5.7x120",
    'reconciled_site_lease_seconds{namespace="reconciled",site="site-a",pod="b"}': "8.9x120",
    'reconciled_site_database_writable{namespace="reconciled",site="site-a",pod="a"}': "1x120",
    'reconciled_site_database_writable{namespace="reconciled",site="site-b",pod="c"}': "0x120",
    'reconciled_replication_lag_bytes{namespace="reconciled",site="site-a",pod="a"}': "2000000x120",
    'reconciled_replication_lag_bytes{namespace="reconciled",site="site-b",pod="c"}': "0x120",
    'reconciled_replication_lag_seconds{namespace="reconciled",site="site-a",pod="a"}': "1x120",
    'reconciled_replication_lag_seconds{namespace="reconciled",site="site-b",pod="c"}': "0x120",
    'reconciled_objective_seconds{namespace="reconciled",site="site-a",objective="rpo",pod="a"}': "0x120",
    'reconciled_objective_seconds{namespace="reconciled",site="site-b",objective="rpo",pod="c"}': "0x120",
    'reconciled_objective_seconds{namespace="reconciled",site="site-a",objective="rto",pod="a"}': "60x120",
}

ACTIVE, EPOCH, LEASE = "reconciled_site_active", "reconciled_site_epoch", "reconciled_site_lease_seconds"
WRITABLE = "reconciled_site_database_writable"
BYTES, LAG = "reconciled_replication_lag_bytes", "reconciled_replication_lag_seconds"
GONE = "_x120"


def pair(*changes):
    """The series of a pair, with some of them changed: (metric, site, values); all pods of the site."""
    changed = dict(PAIR)
    for metric, site, values in changes:
        names = [name for name in PAIR if name.startswith(metric + "{") and f'site="{site}"' in name]
        assert names, (metric, site)
        changed.update({name: values for name in names})
    return changed


def without_site(site):
    """The changes by which a site is not seen at all, and never was."""
    return [(name.split("{")[0], site, GONE) for name in PAIR if f'site="{site}"' in name]


#: What happens to a pair, and which alerts tell it.
STORIES = {
    "two sites act": (pair((ACTIVE, "site-b", "0x60 1x60")), ["ReconciledTwoSitesActive"]),
    "two sites act, one of them in a newer term": (
        pair((ACTIVE, "site-b", "0x60 1x60"), (EPOCH, "site-b", "3x60 4x60")),
        ["ReconciledTwoSitesActive", "ReconciledPromotionEvidenceMissing"],
    ),
    "the active site stops": (
        pair((ACTIVE, "site-a", "1x60 0x60")), ["ReconciledNoSiteActive", "ReconciledPromotionEvidenceMissing"],
    ),
    "the active site is lost with all that it shows": (
        pair(*(
            (name.split("{")[0], "site-a", values.split("x")[0] + "x60 stale _x58")
            for name, values in PAIR.items() if 'site="site-a"' in name
        )),
        ["ReconciledNoSiteActive"],
    ),
    "the active site is cut off": (
        pair((ACTIVE, "site-a", "1x60 0x60"), (LEASE, "site-a", "6x60 0x60")),
        ["ReconciledNoSiteActive", "ReconciledLeaseLost"],
    ),
    "a renewal of one daemon is late": (
        {**PAIR, next(name for name in PAIR if LEASE in name): "6x112 2x8"}, ["ReconciledLeaseEnds"],
    ),
    "the standby is behind in time": (pair((LAG, "site-a", "31x120")), ["ReconciledStandbyBehind"]),
    "the standby takes nothing in": (pair((BYTES, "site-a", "0+5000000x120")), ["ReconciledStandbyBehind"]),
    "the standby does not apply what arrives": (
        pair((LAG, "site-b", "0+15x120"), (BYTES, "site-b", "2000000x120")), ["ReconciledStandbyBehind"],
    ),
    "nobody follows": (pair((BYTES, "site-a", GONE), (LAG, "site-a", GONE)), ["ReconciledStandbyGone"]),
    "the standby's row is of an older term": (pair((EPOCH, "site-b", "2x120")), ["ReconciledPromotionEvidenceMissing"]),
    "the standby's database follows nobody": (
        pair((WRITABLE, "site-b", "1x120")), ["ReconciledPromotionEvidenceMissing"],
    ),
    # What is well.
    "a pair": (pair(), []),
    "a pair whose standby has no pods": (pair(*without_site("site-b")), []),
    "the standby alone is seen": (pair(*without_site("site-a")), []),
    "within the objective of what may be lost": (
        {**pair((LAG, "site-a", "50x120")),
         'reconciled_objective_seconds{namespace="reconciled",site="site-a",objective="rpo",pod="a"}': "60x120"}, [],
    ),
    "a switch to the other site, whose old one keeps the last value of its lease": (
        pair((ACTIVE, "site-a", "1x60 0x60"), (ACTIVE, "site-b", "0x60 1x60"), (LEASE, "site-a", "6x60 0x60"),
             (EPOCH, "site-a", "3x60 4x60"), (EPOCH, "site-b", "3x60 4x60"),
             (WRITABLE, "site-a", "1x60 0x60"), (WRITABLE, "site-b", "0x60 1x60")), [],
    ),
    "a switch to a site that is not seen from here": (
        pair(*without_site("site-b"), (ACTIVE, "site-a", "1x60 0x60"), (EPOCH, "site-a", "3x60 4x60"),
             (WRITABLE, "site-a", "1x60 0x60")), [],
    ),
}  # fmt: skip

#: What goes wrong, as the series of WELL that it changes, and which alert tells it.
WRONG = {
    "ReconciledPaymentUnsettled": ("reconciled_oldest_unsettled_seconds", 'pod="b"', "301x120"),
    "ReconciledSettlesLate": ("reconciled_payments_settled_late_total", "", "0+3x120"),
    "ReconciledSettlesLateForHours": ("reconciled_payments_settled_late_total", "", "0+1x120"),
    "ReconciledStandbyUnconfirmed": ("reconciled_oldest_unconfirmed_seconds", "", "0+30x120"),
    "ReconciledStandbyMissing": ("reconciled_standby_missing", 'pod="b"', "1x120"),
    "ReconciledClockSet": ("reconciled_clock_steps_total", 'pod="b"', "0x100 1x20"),
    "ReconciledWaitsForPeople": ("reconciled_operations_waiting", 'operation="refund",for="people"', "1x120"),
    "ReconciledBacklogGrows": ("reconciled_payments_due", "", "1000+5x120"),
    "ReconciledStoreFails": ("reconciled_store_failures_total", "", "0+30x120"),
    "ReconciledProviderInDoubt": ("reconciled_attempts_total", "indeterminate", "0+30x120"),
    "ReconciledProviderClockOff": ("reconciled_provider_clock_in_doubt", "", "1x120"),
    "ReconciledProviderMissing": ("reconciled_provider_missing_total", "other_key_space", "0x60 1x60"),
    "ReconciledKeySpaceDiffers": ("reconciled_provider_key_space_differs", "", "1x120"),
    "ReconciledInquiryOverdue": ("reconciled_alerts_total", "", "3x100 4x20"),
    "ReconciledMoneyDiffers": ("reconciled_discrepancies_open", "duplicate", "0x60 1x60"),
    "ReconciledDiscrepancyForgotten": ("reconciled_oldest_discrepancy_seconds", "", "259000+30x120"),
    "ReconciledComparisonLate": ("reconciled_comparison_lag_seconds", "", "11226x120"),
    "ReconciledComparisonNotTakenUp": ("reconciled_comparison_runs", "planned", "1x120"),
    "ReconciledCertificateExpires": ("reconciled_certificate_expiry_time_seconds", "operators", "1212600x120"),
    "ReconciledCertificateExpiresSoon": ("reconciled_certificate_expiry_time_seconds", "callers", "0x120"),
    # Time begins at 0 here.
    "ReconciledKeySetOld": ("reconciled_key_set_read_time_seconds", "", "-1800x120"),
    "ReconciledSealsMissing": ("reconciled_oldest_unsealed_seconds", "", "1800+30x120"),
    "ReconciledWebhooksLate": ("reconciled_oldest_webhook_seconds", 'caller="kiosk"', "1800+30x120"),
    "ReconciledWebhooksGivenUp": ("reconciled_webhooks_open", "given_up", "0x100 1x20"),
    "ReconciledNotWatched": ("up", "", "0x120"),
    "ReconciledRedundancyLost": ("kube_deployment_status_replicas_available", "reconciled-front", "1x120"),
}


def story(changes, firing):
    """A test of promtool: after an hour these alerts fire and no other."""
    return {
        "interval": "30s",
        "input_series": [{"series": name, "values": values} for name, values in {**WELL, **changes}.items()],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": "58m",
                "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(firing)],
            }
        ],
    }


class Alerts(unittest.TestCase):
    def setUp(self):
        if not PROMTOOL:
            self.skipTest("there is no promtool; scripts/test-deployment says why")
        rules = [item["spec"] for item in Site("active").of_kind("PrometheusRule")]
        self.rule = {"groups": [group for rule in rules for group in rule["groups"]]}

    def judge(self, *stories):
        with tempfile.TemporaryDirectory() as directory:
            (pathlib.Path(directory) / "rules.yaml").write_text(yaml.safe_dump(self.rule), encoding="utf-8")
            file = pathlib.Path(directory) / "tests.yaml"
            file.write_text(
                yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "30s", "tests": list(stories)}),
                encoding="utf-8",
            )
            result = subprocess.run(
                [PROMTOOL, "test", "rules", file], capture_output=True, text=True, check=False, timeout=60
            )
            return result.returncode, result.stdout + result.stderr

    def test_none_fires_while_all_is_well(self):
        code, text = self.judge(story({}, []))
        self.assertEqual(code, 0, text)

    def test_each_fires_for_what_it_is_about_and_no_other_does(self):
        alerts = {entry["alert"] for group in self.rule["groups"] for entry in group["rules"]}
        of_pairs = {alert for _, firing in STORIES.values() for alert in firing}
        self.assertEqual(alerts, set(WRONG) | of_pairs)
        for alert, (metric, label, values) in WRONG.items():
            with self.subTest(alert):
                names = [name for name in WELL if name.startswith(metric) and label in name]
                self.assertEqual(len(names), 1, names)
                code, text = self.judge(story({names[0]: values}, [alert]))
                self.assertEqual(code, 0, text)

    def test_what_happens_to_a_pair_is_told_by_these_alerts_and_no_others(self):
        for title, (changes, firing) in STORIES.items():
            with self.subTest(title):
                code, text = self.judge(story(changes, firing))
                self.assertEqual(code, 0, text)

    def test_prometheus_understands_every_panel_of_the_dashboard(self):
        text = Site(OPTIONS).get("ConfigMap", "reconciled-dashboard")["data"]["reconciled.json"]
        targets = [target["expr"] for panel in json.loads(text)["panels"] for target in panel.get("targets", [])]
        rules = [{"record": f"panel:{number}", "expr": expr} for number, expr in enumerate(targets)]
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "rules.yaml"
            for changed, code in ((rules, 0), ([*rules, {"record": "panel:broken", "expr": "max by (site"}], 1)):
                file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": changed}]}), encoding="utf-8")
                result = subprocess.run(
                    [PROMTOOL, "check", "rules", file], capture_output=True, text=True, check=False, timeout=60
                )
                self.assertEqual(result.returncode, code, result.stdout + result.stderr)

    def test_an_alert_that_does_not_fire_is_noticed(self):
        names = [name for name in WELL if 'operation="create",for="people"' in name]
        code, _ = self.judge(story({names[0]: "1x120"}, []))
        self.assertNotEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
