"""Rules about releases, configuration and watching."""

import functools
import json
import re
import urllib.parse

import yaml
from manifests import EVERY, EXTENDED, OPTIONS, REAL, ROOT, daemon, look, pod_of, seconds, selects, source
from rules import rule


@rule("pinned-images")
def pinned_images(site):
    version = re.search(r'static let text = "([^"]+)"', source("Sources/ProgramEdge/BuildVersion.swift"))[1]
    for title, pod in site.pods():
        for container in pod["spec"]["containers"]:
            image = container["image"]
            tag = image.rsplit("/", 1)[-1].partition(":")[2]
            if "@sha256:" not in image and tag in ("", "latest"):
                yield f"{title}: {image} may be another image tomorrow"
            if image.split("/")[-1].startswith(("reconciled:", "provider-simulator:")) and tag != version:
                yield f"{title}: {image} is not the version {version} of these sources"


@rule("generated-configuration")
def generated_configuration(site):
    names = {item["metadata"]["name"] for item in site.of_kind("ConfigMap")}
    for title, pod in site.our_pods():
        volumes = [look(v, "configMap", "name") for v in pod["spec"]["volumes"] if v["name"] == "config"]
        variables = [look(source, "configMapRef", "name") for source in daemon(pod).get("envFrom", [])]
        used = set(volumes + variables[:1])
        if len(used) != 2 or not used <= names:
            yield f"{title} does not use both generated ConfigMaps"
        for name in used:
            if not re.fullmatch(r".*-[a-z0-9]{10}", name or ""):
                yield f"{title}: a change of {name} would not replace the pods"


@rule("site-proof", REAL + EXTENDED)
def site_proof(site):
    said = {key.removeprefix("RECONCILED_SITE_"): value for key, value in site.site_variables().items()}
    if not said.get("PEER_NAME") or said["PEER_NAME"] == said.get("NAME"):
        yield "the site does not know the other one"
    if not said.get("PEER_URL", "").startswith("https://"):
        yield "callers who come to the wrong site are not told the address of the other one"
    if said.get("REPLICATION") not in ("synchronous", "asynchronous"):
        yield "nothing says how the other site's database follows"
    proof = said.get("PROOF", "none")
    if proof == "standby" and said.get("REPLICATION") != "synchronous":
        yield "a standby that is not waited for proves nothing"
    elif proof == "postgres":
        url = said.get("WITNESS_URL", "")
        if "sslmode=verify-full" not in url or "password" in url:
            yield "the witness is not verified, or its password is in the configuration"
        if not said.get("WITNESS_PASSWORD_FILE", "").startswith("/etc/reconciled/secrets/"):
            yield "the witness's password does not come from the mounted secret"
    elif proof == "kubernetes":
        yield from lease_findings(site, said)
    elif proof != "standby" and len(said.get("UNFENCED", "")) < 8:
        yield "nothing stops the site when it is cut off, and no words say what does"


def lease_findings(site, said):
    """What is wrong with a witness that is a Lease of a third cluster."""
    url = urllib.parse.urlsplit(said.get("WITNESS_URL", ""))
    if url.scheme != "https" or not url.hostname or "@" in url.netloc:
        yield "the witness is not an address by TLS, or a password is in it"
    for key in ("TOKEN_FILE", "CA_BUNDLE"):
        if not said.get(f"WITNESS_{key}", "").startswith("/etc/reconciled/secrets/"):
            yield f"the witness's {key} does not come from the mounted secret"
    # What every token of Kubernetes begins with: {" as base64.
    if "WITNESS_TOKEN" in said or re.search(r"\beyJ", str(said)):
        yield "the witness's token is in the configuration"
    policy = site.get("NetworkPolicy", "witness") or {}
    open_ports = [port["port"] for port in look(policy, "spec", "egress", 0, "ports", default=[])]
    if open_ports != [url.port or 443]:
        yield f"the witness answers at port {url.port or 443}, and the way to it is open at {open_ports}"


@rule("selectors")
def selectors(site):
    templates = [pod["metadata"]["labels"] for _, pod in site.pods()]
    for kind in ("Deployment", "StatefulSet"):
        for item in site.of_kind(kind):
            if not selects(look(item, "spec", "selector", "matchLabels"), pod_of(item)["metadata"]["labels"]):
                yield f"{kind} {item['metadata']['name']} does not select its own pods"
    for kind, path in (("Service", ("spec", "selector")), ("PodDisruptionBudget", ("spec", "selector", "matchLabels"))):
        for item in site.of_kind(kind):
            if not any(selects(look(item, *path), labels) for labels in templates):
                yield f"{kind} {item['metadata']['name']} selects nothing"
    for item in site.objects:
        if item["kind"] not in ("Namespace", "PriorityClass") and item["metadata"].get("namespace") != "reconciled":
            yield f"{item['kind']} {item['metadata']['name']} is in no namespace of ours"


@rule("migration")
def migration(site):
    writable = site.overlay in ("active", *EXTENDED, "local-postgres")
    jobs = [item for item in site.of_kind("Job") if daemon(pod_of(item)).get("args", [])[:1] == ["migrate"]]
    if len(jobs) != (1 if writable else 0):
        yield f"there are {len(jobs)} migration jobs; a database that takes no writes has none, any other has one"
    for item in jobs:
        spec = item["spec"]
        if not spec.get("activeDeadlineSeconds") or not spec.get("ttlSecondsAfterFinished"):
            yield "the migration may hang for ever, or stays in the way of the next one"
        if "--wait" not in daemon(pod_of(item))["args"]:
            yield "the migration ends at once where the database is away, and is tried again ever later"
        if spec.get("backoffLimit", 6) < 3:
            yield "the migration gives up although the database was only away for a moment"


@rule("comparison", (OPTIONS,))
def comparison(site):
    jobs = [item for item in site.of_kind("CronJob") if daemon(pod_of(item)).get("args", [])[:1] == ["reconcile"]]
    if len(jobs) != 1:
        yield "there is no CronJob for the comparison"
    for item in jobs:
        spec = item["spec"]
        if spec.get("concurrencyPolicy") != "Forbid":
            yield "two comparisons may run at once"
        if not look(spec, "jobTemplate", "spec", "activeDeadlineSeconds") or not spec.get("startingDeadlineSeconds"):
            yield "a comparison that hangs keeps all that follow from running"
        elif waits_for(item) >= look(spec, "jobTemplate", "spec", "activeDeadlineSeconds"):
            yield "the deadline comes before the command says what became of the run"
        final = codes_that_end(look(spec, "jobTemplate", "spec", default={}))
        if final != {1, 2}:
            yield f"{sorted(final)} end the Job; a finding (1) and a wrong configuration (2) must, 3 must not"
        if {"type": "DisruptionTarget", "status": "True"} not in ignored(look(spec, "jobTemplate", "spec", default={})):
            yield "a drained node counts as a failure of the comparison"


def waits_for(job):
    """How long the command of a CronJob waits for a run, in seconds."""
    arguments = daemon(pod_of(job))["args"]
    return seconds(arguments[arguments.index("--wait") + 1]) if "--wait" in arguments else 600


def codes_that_end(job):
    """The exit codes of the daemon's container after which no other pod is made."""
    policies = look(job, "podFailurePolicy", "rules", default=[])
    found = [policy["onExitCodes"] for policy in policies if policy["action"] == "FailJob" and "onExitCodes" in policy]
    return {code for entry in found if entry["operator"] == "In" for code in entry["values"]}


def ignored(job):
    """The conditions of a pod that do not count as its failure."""
    policies = look(job, "podFailurePolicy", "rules", default=[])
    return [it for policy in policies if policy["action"] == "Ignore" for it in policy.get("onPodConditions", [])]


@rule("monitoring", REAL + EXTENDED)
def monitoring(site):
    monitors, alerts = site.of_kind("ServiceMonitor"), site.of_kind("PrometheusRule")
    if len(monitors) != 1 or {item["metadata"]["name"] for item in alerts} != {"reconciled", "reconciled-sites"}:
        yield "nobody watches: there is not one ServiceMonitor, and the alerts of a site and of a pair"
        return
    labels = {label["targetLabel"]: label["replacement"] for label in look(
        monitors[0], "spec", "endpoints", 0, "relabelings", default=[])}  # fmt: skip
    if labels != {"site": site.site_variables().get("RECONCILED_SITE_NAME")}:
        yield f"the series do not say which site they are of: {labels}"
    service = site.get("Service", "reconciled-admin")
    spec = monitors[0]["spec"]
    if not selects(look(spec, "selector", "matchLabels"), service["metadata"]["labels"]):
        yield "the ServiceMonitor does not select the operators' Service"
    others = [s for s in site.of_kind("Service") if s is not service]
    if any(selects(spec["selector"]["matchLabels"], other["metadata"]["labels"]) for other in others):
        yield "the ServiceMonitor selects another Service as well: every pod would count twice"
    names = {port["name"] for port in service["spec"]["ports"]}
    if any(end.get("port") not in names or end.get("path") != "/metrics" for end in spec["endpoints"]):
        yield "the ServiceMonitor asks a port or path that is not there"
    if set(service["spec"]["selector"]) != {"app.kubernetes.io/name", "reconciled.io/admin"}:
        yield "the operators' Service does not reach front and batch"


@rule("alerts", REAL + EXTENDED)
def alerts(site):
    found = {}
    for item in site.of_kind("PrometheusRule"):
        for group in item["spec"]["groups"]:
            for entry in group["rules"]:
                found[entry["alert"]] = entry
                if entry.get("labels", {}).get("severity") not in ("page", "ticket"):
                    yield f"{entry['alert']} calls nobody"
                words = entry.get("annotations", {})
                if set(words) - {"runbook"} != {"summary", "description"}:
                    yield f"{entry['alert']} does not say what is wrong"
                page = ROOT / words.get("runbook", "docs/runbooks/README.md")
                if not page.is_file():
                    yield f"{entry['alert']} names a runbook that is not there"
                elif group["name"] == "reconciled-sites" and (
                    "runbook" not in words or entry["alert"] not in page.read_text(encoding="utf-8")
                ):
                    yield f"{entry['alert']} names no runbook, or one that does not know it"
                for metric in re.findall(r"\breconciled_[a-z_]+", entry["expr"]):
                    if metric not in metrics():
                        yield f"{entry['alert']}: the daemon has no metric {metric}"
    expected = (
        "PaymentUnsettled", "StandbyUnconfirmed", "WaitsForPeople", "BacklogGrows", "StoreFails", "NotWatched",
        "RedundancyLost", "ProviderClockOff", "MoneyDiffers", "DiscrepancyForgotten", "ComparisonLate",
        "ComparisonNotTakenUp", "TwoSitesActive", "NoSiteActive", "LeaseLost", "LeaseEnds", "StandbyBehind",
        "StandbyGone", "PromotionEvidenceMissing", "CertificateExpires", "CertificateExpiresSoon",
        "KeySetOld",
    )
    for name in expected:
        if f"Reconciled{name}" not in found:
            yield f"no alert tells of {name}"
    objective = seconds(look(yaml.safe_load(site.configuration()), "objectives", "settle_within", default="5m"))
    if f"> {objective:.0f}" not in look(found, "ReconciledPaymentUnsettled", "expr", default=""):
        yield f"the alert of unsettled payments is not at the objective of {objective:.0f} s"


@rule("dashboard", (OPTIONS,))
def dashboard(site):
    """Every sample that a panel asks for is one of the daemon's."""
    item = site.get("ConfigMap", "reconciled-dashboard")
    if not item or look(item, "metadata", "labels", "grafana_dashboard") != "1":
        yield "Grafana finds no dashboard"
        return
    panels = [panel for panel in json.loads(item["data"]["reconciled.json"])["panels"] if panel["type"] != "row"]
    if len(panels) < 10:
        yield "the dashboard shows next to nothing"
    for panel in panels:
        asked = {name for target in panel["targets"] for name in re.findall(r"\breconciled_[a-z_]+", target["expr"])}
        if not asked:
            yield f"{panel['title']} asks for nothing"
        for metric in sorted(asked - metrics()):
            yield f"{panel['title']}: the daemon has no metric {metric}"


@rule("external-secrets", (OPTIONS,))
def external_secrets(site):
    """The keys that the shipped configuration reads are those that the secret store gives."""
    found = site.of_kind("ExternalSecret")
    if len(found) != 1 or look(found[0], "spec", "target", "name") != "reconciled-secrets":
        yield "no external secret makes the Secret that the pods mount"
        return
    given = {entry["secretKey"] for entry in found[0]["spec"]["data"]}
    text = site.configuration() + str(site.get("Deployment", "reconciled-front"))
    wanted = set(re.findall(r"/etc/reconciled/secrets/([a-z.-]+)", text))
    if given != wanted:
        yield f"the secret store gives {sorted(given)}, and the pods read {sorted(wanted)}"
    if look(found[0], "spec", "secretStoreRef", "kind") != "SecretStore":
        yield "other namespaces may read the same store"
    account = site.get("ServiceAccount", "reconciled")
    if account.get("imagePullSecrets") != [{"name": "reconciled-registry"}]:
        yield "the kubelet has no login at the registry"


#: What the names of a metric's samples end in.
ENDINGS = {"Counter": ("_total",), "Gauge": ("",), "Timer": ("_seconds_bucket", "_seconds_count", "_seconds_sum")}


@functools.cache
def metrics():
    """The names of the daemon's samples, from its sources."""
    names = set()
    for path in (ROOT / "Sources").rglob("*.swift"):
        text = path.read_text(encoding="utf-8")
        for kind, name in re.findall(r'\b(Counter|Gauge|Timer)\(\s*label: "(reconciled_[a-z_]+)"', text):
            names.update(name + ending for ending in ENDINGS[kind])
        # Where one function makes the gauges of a file.
        names.update(re.findall(r'\bgauge\(\s*"(reconciled_[a-z_]+)"', text))
    return names


assert EVERY
