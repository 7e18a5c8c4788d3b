"""Things taken away or set wrong, each of which a rule must notice."""

from manifests import LEASE, OPTIONS, WITNESS, daemon, pod_of


class Mutation:
    """A change of one object of an overlay, and the rule that must fail afterwards."""

    def __init__(self, rule, title, overlay, kind, name, change):
        self.rule, self.title, self.overlay = rule, title, overlay
        self.kind, self.name, self.change = kind, name, change

    def __str__(self):
        return f"{self.rule}: {self.title} ({self.overlay})"

    def apply(self, site):
        """The site with the change; the change must change something."""
        changed = site.copy()
        item = changed.get(self.kind, self.name)
        assert item is not None, f"{self}: there is no {self.kind} {self.name}"
        before = str(changed.objects)
        if self.change is None:
            changed.objects.remove(item)
        else:
            self.change(item)
        assert str(changed.objects) != before, f"{self}: it changes nothing"
        return changed


ALL = []


def plant(rule, title, kind, name, change=None, overlay="active"):
    ALL.append(Mutation(rule, title, overlay, kind, name, change))


def without(*path):
    """Removes what lies at the end of a path."""

    def change(item):
        for key in path[:-1]:
            item = item[key]
        del item[path[-1]]

    return change


def to(value, *path):
    """Sets what lies at the end of a path."""

    def change(item):
        for key in path[:-1]:
            item = item[key]
        item[path[-1]] = value

    return change


def pod(inner):
    """A change of an object's pod."""
    return lambda item: inner(pod_of(item)["spec"])


def container(inner):
    """A change of the daemon's container."""
    return lambda item: inner(daemon(pod_of(item)))


def text(old, new, key="reconciled.yaml"):
    """A change of the configuration file, or of another file of a ConfigMap."""

    def change(item):
        item["data"][key] = item["data"][key].replace(old, new)

    return change


def without_alert(name):
    """Leaves one alert out, wherever it stands in its group."""

    def change(item):
        rules = item["spec"]["groups"][0]["rules"]
        [place] = [place for place, rule in enumerate(rules) if rule["alert"] == name]
        rules.pop(place)

    return change


def named(items, name):
    """The place of the item of this name in a list."""
    [place] = [place for place, item in enumerate(items) if item["name"] == name]
    return place


def forget(container, variable):
    """Takes a variable out of a container's environment."""
    container["env"].pop(named(container["env"], variable))


def swap(container, one, other):
    """Gives two variables of a container each other's values."""
    left, right = (container["env"][named(container["env"], name)] for name in (one, other))
    left["value"], right["value"] = right["value"], left["value"]


def listeners(spec):
    """The Secret of the listeners' certificate in a pod."""
    return spec["volumes"][named(spec["volumes"], "listeners")]["secret"]


D, FRONT, BATCH = "Deployment", "reconciled-front", "reconciled-batch"
TRUST = ("spec", "endpoints", 0, "tlsConfig")
PDB, NP, HOT, WARM = "PodDisruptionBudget", "NetworkPolicy", "standby-hot", "standby-warm"

plant("replicas", "one replica", D, FRONT, to(1, "spec", "replicas"))
plant("replicas", "a warm standby that runs", D, FRONT, to(3, "spec", "replicas"), overlay=WARM)
plant("replicas", "no batch", D, BATCH)
plant("disruption-budget", "budget removed", PDB, FRONT)
plant("disruption-budget", "budget of batch removed", PDB, BATCH)
plant("disruption-budget", "budget that blocks drains", PDB, FRONT, to({
    "minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow",
    "selector": {"matchLabels": {"app.kubernetes.io/name": "reconciled", "app.kubernetes.io/component": "front"}},
}, "spec"))  # fmt: skip
plant("disruption-budget", "budget that takes both", PDB, BATCH, to(2, "spec", "maxUnavailable"))
plant("disruption-budget", "unready pods block", PDB, FRONT, without("spec", "unhealthyPodEvictionPolicy"))
plant("disruption-budget", "budget of nobody", PDB, FRONT,
      to("other", "spec", "selector", "matchLabels", "app.kubernetes.io/component"), overlay=HOT)
plant("anti-affinity", "removed", D, FRONT, pod(without("affinity", "podAntiAffinity")))
plant("anti-affinity", "only preferred", D, BATCH, pod(to({}, "affinity", "podAntiAffinity")), overlay=HOT)
plant("anti-affinity", "by zone instead of host", D, FRONT, pod(to(
    "topology.kubernetes.io/zone", "affinity", "podAntiAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution", 0, "topologyKey")))  # fmt: skip
plant("anti-affinity", "against pods of the release before", D, FRONT, pod(without(
    "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 0, "matchLabelKeys")))
plant("zone-spread", "removed", D, FRONT, pod(without("topologySpreadConstraints")))
plant("zone-spread", "a condition, which nodes without the label never meet", D, BATCH,
      pod(to("DoNotSchedule", "topologySpreadConstraints", 0, "whenUnsatisfiable")), overlay=HOT)
plant("zone-spread", "a lost zone counts", D, FRONT, pod(without("topologySpreadConstraints", 0, "nodeTaintsPolicy")))
plant("node-pools", "front anywhere", D, FRONT, pod(without("affinity", "nodeAffinity")))
plant("node-pools", "batch without toleration", D, BATCH, pod(lambda spec: spec["tolerations"].pop()))
plant("node-pools", "front on batch nodes", D, FRONT,
      pod(lambda spec: spec["tolerations"].append({"operator": "Exists"})))
plant("roles", "front runs batch work", D, FRONT, container(to("api,settle,batch", "args", 2)))
plant("roles", "batch takes payments", D, BATCH, container(to("api", "args", 2)))
plant("rolling-update", "surge", D, FRONT, to(1, "spec", "strategy", "rollingUpdate", "maxSurge"))
plant("rolling-update", "two at a time", D, FRONT, to(2, "spec", "strategy", "rollingUpdate", "maxUnavailable"))
plant("rolling-update", "no settling time", D, BATCH, without("spec", "minReadySeconds"))
plant("single-writer", "rolling", D, FRONT, to({"type": "RollingUpdate"}, "spec", "strategy"), overlay="local")
plant("priority", "none", D, FRONT, pod(without("priorityClassName")))
plant("priority", "a class that is not there", "PriorityClass", "reconciled-batch")
plant("priority", "batch first", "PriorityClass", "reconciled-batch", to(2000000, "value"))
plant("priority", "batch pushes", "PriorityClass", "reconciled-batch", without("preemptionPolicy"), overlay=HOT)
plant("lost-node", "five minutes", D, FRONT, pod(without("tolerations")))
plant("resources", "no memory limit", D, FRONT, container(without("resources", "limits", "memory")))
plant("resources", "no requests", D, BATCH, container(without("resources", "requests")))
plant("resources", "job without limits", "Job", "reconciled-migrate", container(without("resources")))
for kind, rule in (
    ("startupProbe", "startup-probe"), ("livenessProbe", "liveness-probe"), ("readinessProbe", "readiness-probe"),
):  # fmt: skip
    plant(rule, "removed", D, FRONT, container(without(kind)))
    plant(rule, "removed from batch", D, BATCH, container(without(kind)), overlay=HOT)
    plant(rule, "at the callers' port", D, FRONT, container(to("http", kind, "httpGet", "port")))
    plant(rule, "less patient than the checks", D, FRONT, container(to(1, kind, "timeoutSeconds")))
plant("startup-probe", "too short", D, FRONT, container(to(3, "startupProbe", "failureThreshold")))
plant("liveness-probe", "asks the database", D, FRONT, container(to("/readyz", "livenessProbe", "httpGet", "path")))
plant("liveness-probe", "one failure kills", D, FRONT, container(to(1, "livenessProbe", "failureThreshold")))
plant("liveness-probe", "a hang is waited for", D, FRONT,
      container(without("livenessProbe", "terminationGracePeriodSeconds")))
plant("readiness-probe", "asks whether active", D, FRONT,
      container(to("/activez", "readinessProbe", "httpGet", "path")), overlay=HOT)
plant("readiness-probe", "slow", D, FRONT, container(to(30, "readinessProbe", "periodSeconds")))
plant("pre-stop", "removed", D, FRONT, container(without("lifecycle")))
plant("pre-stop", "by a shell", D, FRONT,
      container(to({"exec": {"command": ["sh", "-c", "sleep 5"]}}, "lifecycle", "preStop")))
plant("termination-grace", "the default", D, FRONT, pod(without("terminationGracePeriodSeconds")))
plant("termination-grace", "shorter than a stop", D, BATCH, pod(to(45, "terminationGracePeriodSeconds")))
plant("termination-grace", "sends longer than the stop", "ConfigMap", "reconciled-config",
      text("total: 15s", "total: 20s"))
plant("no-drift", "another limit", D, FRONT, container(to("1Gi", "resources", "limits", "memory")), overlay=HOT)
plant("no-drift", "another configuration", "ConfigMap", "reconciled-config",
      text("shutdown_grace: 20s", "shutdown_grace: 21s"), overlay=HOT)
plant("no-drift", "the active site's name", "ConfigMap", "reconciled-site",
      to("site-a", "data", "RECONCILED_SITE_NAME"), overlay=WARM)
plant("no-drift", "another proof", "ConfigMap", "reconciled-site",
      to("postgres", "data", "RECONCILED_SITE_PROOF"), overlay=HOT)
plant("no-drift", "the peer of somebody else", "ConfigMap", "reconciled-site",
      to("site-c", "data", "RECONCILED_SITE_PEER_NAME"), overlay=HOT)

plant("restricted-pods", "namespace without enforcement", "Namespace", "reconciled",
      without("metadata", "labels", "pod-security.kubernetes.io/enforce"))
plant("restricted-pods", "as root", D, FRONT, pod(to(0, "securityContext", "runAsUser")))
plant("restricted-pods", "root allowed", D, FRONT, pod(without("securityContext", "runAsNonRoot")))
plant("restricted-pods", "no seccomp", D, FRONT, pod(without("securityContext", "seccompProfile")))
plant("restricted-pods", "host network", D, FRONT, pod(to(True, "hostNetwork")))
plant("restricted-pods", "capabilities", D, BATCH, container(without("securityContext", "capabilities")))
plant("restricted-pods", "escalation", "Job", "reconciled-migrate",
      container(without("securityContext", "allowPrivilegeEscalation")))
plant("read-only-root", "writable", D, FRONT, container(without("securityContext", "readOnlyRootFilesystem")))
plant("read-only-root", "writable secrets", D, FRONT, container(without("volumeMounts", 1, "readOnly")))
plant("no-api-token", "token mounted", D, FRONT, pod(to(True, "automountServiceAccountToken")))
plant("no-api-token", "account with token", "ServiceAccount", "reconciled", without("automountServiceAccountToken"))
plant("no-service-links", "links", D, FRONT, pod(without("enableServiceLinks")))
plant("secrets-from-files", "token in the file", "ConfigMap", "reconciled-config",
      text("token_file: /etc/reconciled/secrets/provider-card-token", "token: abc"))
plant("secrets-from-files", "password in the environment", D, FRONT,
      container(lambda c: c["env"].append({"name": "RECONCILED_STORE_PASSWORD", "value": "x"})))
plant("secrets-from-files", "readable by all", D, FRONT, pod(to(0o444, "volumes", 1, "secret", "defaultMode")))
plant("secrets-from-files", "optional", D, BATCH, pod(to(True, "volumes", 1, "secret", "optional")))
plant("default-deny", "removed", NP, "default-deny")
plant("default-deny", "only one direction", NP, "default-deny", to(["Ingress"], "spec", "policyTypes"))
plant("default-deny", "a policy that opens all ports", NP, "database", without("spec", "egress", 0, "ports"))
plant("default-deny", "a policy that opens to everybody", NP, "callers", without("spec", "ingress", 0, "from"))
plant("default-deny", "a policy nobody knows", NP, "dns", to("all-of-it", "metadata", "name"))
plant("dns", "removed", NP, "dns")
plant("dns", "any server", NP, "dns", without("spec", "egress", 0, "to", 0, "podSelector"))
plant("database-egress", "removed", NP, "database")
plant("database-egress", "anywhere", NP, "database", to("0.0.0.0/0", "spec", "egress", 0, "to", 0, "ipBlock", "cidr"))
plant("database-egress", "removed", NP, "to-postgres", overlay="local-postgres")
plant("provider-egress", "removed", NP, "providers")
plant("provider-egress", "any port", NP, "providers", to(80, "spec", "egress", 0, "ports", 0, "port"))
plant("provider-egress", "the metadata service", NP, "providers",
      lambda item: item["spec"]["egress"][0]["to"][0]["ipBlock"]["except"].remove("169.254.0.0/16"))
plant("caller-ingress", "removed", NP, "callers")
plant("caller-ingress", "the operators' port", NP, "callers", to("admin", "spec", "ingress", 0, "ports", 0, "port"))
plant("caller-ingress", "every namespace", NP, "callers", to([{"podSelector": {}}], "spec", "ingress", 0, "from"))
plant("operator-ingress", "removed", NP, "operators")
plant("operator-ingress", "opened for callers", NP, "callers",
      lambda item: item["spec"]["ingress"][0]["ports"].append({"protocol": "TCP", "port": 8081}))
plant("operator-ingress", "open to the nodes' addresses", NP, "entry",
      lambda item: item["spec"]["ingress"][0]["ports"].append({"protocol": "TCP", "port": "admin"}))
plant("operator-ingress", "the address of who asks is lost", "Service", "reconciled-entry-activity",
      to("Cluster", "spec", "externalTrafficPolicy"), overlay=HOT)
plant("public-service", "operators' port exposed", "Service", "reconciled",
      lambda item: item["spec"]["ports"].append({"name": "admin", "port": 8081, "targetPort": "admin"}))
plant("public-service", "load balancer without TLS", "Service", "reconciled", to("LoadBalancer", "spec", "type"))
plant("public-service", "operators' port on nodes", "Service", "reconciled-admin", to("NodePort", "spec", "type"))
plant("public-service", "console on the Internet", "Ingress", "reconciled",
      to("/", "spec", "rules", 0, "http", "paths", 3, "path"), overlay=OPTIONS)
plant("public-service", "Ingress without TLS", "Ingress", "reconciled", without("spec", "tls"), overlay=OPTIONS)
for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
    plant("listener-certificates", f"the {kind} by plain HTTP", D, FRONT, container(without(kind, "httpGet", "scheme")),
          overlay=OPTIONS)
for title, change in (
    ("callers in the clear", container(lambda c: forget(c, "RECONCILED_HTTP_TLS_CERTIFICATE_FILE"))),
    ("no key", container(lambda c: forget(c, "RECONCILED_ADMIN_TLS_PRIVATE_KEY_FILE"))),
    ("certificate and key mistaken for each other", container(lambda c: swap(
        c, "RECONCILED_ADMIN_TLS_CERTIFICATE_FILE", "RECONCILED_ADMIN_TLS_PRIVATE_KEY_FILE"))),
    ("nothing mounted", container(lambda c: c["volumeMounts"].pop(named(c["volumeMounts"], "listeners")))),
    ("a file that is never replaced", container(lambda c: c["volumeMounts"][
        named(c["volumeMounts"], "listeners")].update(subPath="tls"))),
    ("a key that everybody reads", pod(lambda spec: listeners(spec).update(defaultMode=0o444))),
    ("a key that the daemon cannot read", pod(without("securityContext", "fsGroup"))),
    ("a Secret that may be missing", pod(lambda spec: listeners(spec).update(optional=True))),
    ("another Secret", pod(lambda spec: listeners(spec).update(secretName="reconciled-tls"))),
):  # fmt: skip
    plant("listener-certificates", title, D, FRONT, change, overlay=OPTIONS)
plant("listener-certificates", "batch in the clear", D, BATCH, container(to([], "env")), overlay=OPTIONS)
plant("listener-certificates", "a certificate for a listener that is not there", D, BATCH, container(
    lambda c: c["env"].append({"name": "RECONCILED_HTTP_TLS_CERTIFICATE_FILE",
                               "value": "/etc/reconciled/listeners/tls.crt"})), overlay=OPTIONS)
plant("listener-certificates", "probes by TLS at a listener without", D, FRONT,
      container(to("HTTPS", "livenessProbe", "httpGet", "scheme")))
plant("listener-certificates", "a Service that says plain HTTP", "Service", "reconciled",
      to("http", "spec", "ports", 0, "appProtocol"), overlay=OPTIONS)
for title, change in (
    ("by plain HTTP", without("spec", "endpoints", 0, "scheme")),
    ("which takes every certificate", to(True, *TRUST, "insecureSkipVerify")),
    ("at the pods' addresses", without(*TRUST, "serverName")),
    ("by public authorities", without(*TRUST, "ca")),
):  # fmt: skip
    plant("listener-certificates", f"Prometheus {title}", "ServiceMonitor", "reconciled", change, overlay=OPTIONS)
for title, change in (
    ("for another Secret", to("reconciled-tls", "spec", "secretName")),
    ("without the name that Prometheus asks for", lambda item: item["spec"]["dnsNames"].remove(
        "reconciled-admin.reconciled.svc")),
    ("of an issuer of the whole cluster", to("ClusterIssuer", "spec", "issuerRef", "kind")),
    ("that keeps its key", to("Never", "spec", "privateKey", "rotationPolicy")),
    ("of clients alone", to(["client auth"], "spec", "usages")),
    ("renewed after the alert", to("168h", "spec", "renewBefore")),
    ("renewed all the time", to("2160h", "spec", "renewBefore")),
):  # fmt: skip
    plant("issued-certificate", title, "Certificate", "reconciled-listeners", change, overlay=OPTIONS)
plant("issued-certificate", "removed", "Certificate", "reconciled-listeners", overlay=OPTIONS)
plant("no-simulator", "plain HTTP", "ConfigMap", "reconciled-config", text("https://card", "http://card"))
plant("no-simulator", "simulator", D, FRONT, container(to("provider-simulator:0.1.0", "image")))

plant("pinned-images", "latest", D, FRONT, container(to("reconciled:latest", "image")))
plant("pinned-images", "no tag", "Job", "reconciled-migrate", container(to("reconciled", "image")))
plant("pinned-images", "another version", D, BATCH, container(to("reconciled:0.0.9", "image")))
plant("generated-configuration", "name without hash", D, FRONT,
      pod(to("reconciled-config", "volumes", 0, "configMap", "name")))
plant("generated-configuration", "a ConfigMap that is not there", "ConfigMap", "reconciled-site")
for title, key, value in (
    ("none", "PROOF", "none"), ("asynchronous, and proven by the standby", "REPLICATION", "asynchronous"),
    ("a site that does not know the other one", "PEER_NAME", ""),
    ("an address without TLS", "PEER_URL", "http://site-b.payments.example.com"),
):  # fmt: skip
    plant("site-proof", title, "ConfigMap", "reconciled-site", to(value, "data", f"RECONCILED_SITE_{key}"))
plant("site-proof", "removed from the standby", "ConfigMap", "reconciled-site",
      without("data", "RECONCILED_SITE_PROOF"), overlay=WARM)
plant("site-proof", "a witness without a password of its own", "ConfigMap", "reconciled-site",
      without("data", "RECONCILED_SITE_WITNESS_PASSWORD_FILE"), overlay=OPTIONS)
plant("site-proof", "a witness that anybody may play", "ConfigMap", "reconciled-site",
      to("postgres:host=witness sslmode=require", "data", "RECONCILED_SITE_WITNESS_URL"), overlay=OPTIONS)
for title, change in (
    ("a Lease by plain HTTP", to("http://witness.example.net:6443", "data", "RECONCILED_SITE_WITNESS_URL")),
    ("a Lease nowhere", without("data", "RECONCILED_SITE_WITNESS_URL")),
    ("a Lease, with a password in the address",
     to("https://site-a:secret@witness.example.net:6443", "data", "RECONCILED_SITE_WITNESS_URL")),
    ("a Lease at a port that is closed", to("https://witness.example.net", "data", "RECONCILED_SITE_WITNESS_URL")),
    ("a Lease without a token", without("data", "RECONCILED_SITE_WITNESS_TOKEN_FILE")),
    ("a Lease with the token of the pod", to("/var/run/secrets/kubernetes.io/serviceaccount/token", "data",
                                             "RECONCILED_SITE_WITNESS_TOKEN_FILE")),
    ("a Lease with the token in the configuration", to("abc", "data", "RECONCILED_SITE_WITNESS_TOKEN")),
    ("a Lease with the token in place of its file",
     to("eyJhbGciOiJSUzI1NiJ9.e30.x", "data", "RECONCILED_SITE_WITNESS_NAME")),
    ("a Lease that anybody may play", without("data", "RECONCILED_SITE_WITNESS_CA_BUNDLE")),
):  # fmt: skip
    plant("site-proof", title, "ConfigMap", "reconciled-site", change, overlay=LEASE)
plant("site-proof", "a Lease that no pod reaches", NP, "witness", overlay=LEASE)
plant("restricted-pods", "third cluster without enforcement", "Namespace", "reconciled",
      without("metadata", "labels", "pod-security.kubernetes.io/enforce"), overlay=WITNESS)
plant("third-cluster", "no Lease", "Lease", "reconciled", overlay=WITNESS)
plant("third-cluster", "a Lease of another name", "Lease", "reconciled", to("site", "metadata", "name"),
      overlay=WITNESS)
plant("third-cluster", "a Lease that has a holder", "Lease", "reconciled", to({"holderIdentity": "site-a"}, "spec"),
      overlay=WITNESS)
plant("third-cluster", "a Lease with a state", "Lease", "reconciled",
      to({"reconciled.io/witness": "{}"}, "metadata", "annotations"), overlay=WITNESS)
plant("third-cluster", "a Lease elsewhere", "Lease", "reconciled", to("default", "metadata", "namespace"),
      overlay=WITNESS)
for title, change in (
    ("every Lease", without("rules", 0, "resourceNames")), ("every verb", to(["*"], "rules", 0, "verbs")),
    ("to make the Lease", to(["get", "patch", "create"], "rules", 0, "verbs")),
    ("to delete the Lease", to(["delete", "get", "patch"], "rules", 0, "verbs")),
    ("not to change it", to(["get"], "rules", 0, "verbs")), ("every kind", to(["*"], "rules", 0, "resources")),
    ("another group", to([""], "rules", 0, "apiGroups")), ("nothing", to([], "rules")),
    ("secrets as well", lambda item: item["rules"].append(
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]})),
):  # fmt: skip
    plant("third-cluster", f"a Role: {title}", "Role", "witness", change, overlay=WITNESS)
plant("third-cluster", "no Role", "Role", "witness", overlay=WITNESS)
for title, change in (
    ("of a role of the whole cluster", to({"kind": "ClusterRole", "name": "cluster-admin"}, "roleRef")),
    ("of one site only", lambda item: item["subjects"].pop()),
    ("for everybody who signs in", lambda item: item["subjects"].append(
        {"kind": "Group", "name": "system:authenticated"})),
    ("for an account elsewhere", to("default", "subjects", 0, "namespace")),
):  # fmt: skip
    plant("third-cluster", f"a binding {title}", "RoleBinding", "witness", change, overlay=WITNESS)
plant("third-cluster", "no binding", "RoleBinding", "witness", overlay=WITNESS)
plant("third-cluster", "a binding of the whole cluster", "RoleBinding", "witness", to("ClusterRoleBinding", "kind"),
      overlay=WITNESS)
plant("third-cluster", "one account for both sites", "ServiceAccount", "site-b", overlay=WITNESS)
plant("third-cluster", "an account with token", "ServiceAccount", "site-a", without("automountServiceAccountToken"),
      overlay=WITNESS)
plant("third-cluster", "no token", "Secret", "site-b-token", overlay=WITNESS)
for title, change in (
    ("of the other site", to("site-a", "metadata", "annotations", "kubernetes.io/service-account.name")),
    ("that Kubernetes does not make", to("Opaque", "type")), ("in the manifests", to({"token": "eA=="}, "data")),
):  # fmt: skip
    plant("third-cluster", f"a token {title}", "Secret", "site-b-token", change, overlay=WITNESS)
plant("selectors", "Deployment of other pods", D, FRONT,
      to("x", "spec", "selector", "matchLabels", "app.kubernetes.io/component"))
plant("selectors", "Service of nobody", "Service", "reconciled-admin",
      to("false", "spec", "selector", "reconciled.io/admin"))
plant("selectors", "default namespace", "Service", "reconciled", without("metadata", "namespace"))
plant("migration", "removed", "Job", "reconciled-migrate")
plant("migration", "without patience", "Job", "reconciled-migrate", container(to(["migrate"], "args")))
plant("migration", "without a deadline", "Job", "reconciled-migrate", without("spec", "activeDeadlineSeconds"))
plant("migration", "gives up at once", "Job", "reconciled-migrate", to(0, "spec", "backoffLimit"),
      overlay="local-postgres")
plant("comparison", "removed", "CronJob", "reconciled-compare", overlay=OPTIONS)
plant("comparison", "in parallel", "CronJob", "reconciled-compare", to("Allow", "spec", "concurrencyPolicy"),
      overlay=OPTIONS)
COMPARISON_JOB = ("spec", "jobTemplate", "spec")
for title, change in (
    ("without a deadline", without(*COMPARISON_JOB, "activeDeadlineSeconds")),
    ("a deadline before the command's own", to(1500, *COMPARISON_JOB, "activeDeadlineSeconds")),
    ("a finding is asked for again", without(*COMPARISON_JOB, "podFailurePolicy")),
    ("nothing compared, and no second try",
     to([1, 2, 3], *COMPARISON_JOB, "podFailurePolicy", "rules", 0, "onExitCodes", "values")),
    ("a finding does not count", to("Ignore", *COMPARISON_JOB, "podFailurePolicy", "rules", 0, "action")),
    ("a drain counts", lambda item: item["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"].pop()),
):  # fmt: skip
    plant("comparison", title, "CronJob", "reconciled-compare", change, overlay=OPTIONS)
plant("monitoring", "no ServiceMonitor", "ServiceMonitor", "reconciled")
plant("monitoring", "another path", "ServiceMonitor", "reconciled", to("/", "spec", "endpoints", 0, "path"))
plant("monitoring", "pods counted twice", "ServiceMonitor", "reconciled",
      to({"app.kubernetes.io/name": "reconciled"}, "spec", "selector", "matchLabels"))
plant("dashboard", "a metric that is not there", "ConfigMap", "reconciled-dashboard",
      text("reconciled_payments_due", "reconciled_payments_owed", "reconciled.json"), overlay=OPTIONS)
plant("dashboard", "no label that Grafana looks for", "ConfigMap", "reconciled-dashboard",
      without("metadata", "labels", "grafana_dashboard"), overlay=OPTIONS)
plant("external-secrets", "a key that nobody gives", "ExternalSecret", "reconciled-secrets",
      lambda item: item["spec"]["data"].pop(), overlay=OPTIONS)
plant("external-secrets", "a store of the whole cluster", "ExternalSecret", "reconciled-secrets",
      to("ClusterSecretStore", "spec", "secretStoreRef", "kind"), overlay=OPTIONS)
plant("external-secrets", "no login at the registry", "ServiceAccount", "reconciled", without("imagePullSecrets"),
      overlay=OPTIONS)
plant("alerts", "a metric that is not there", "PrometheusRule", "reconciled",
      to("reconciled_unknown > 1", "spec", "groups", 0, "rules", 0, "expr"))
plant("alerts", "no alert of quarantine", "PrometheusRule", "reconciled",
      without_alert("ReconciledWaitsForPeople"))
plant("alerts", "no alert of money that differs", "PrometheusRule", "reconciled",
      without_alert("ReconciledMoneyDiffers"))
plant("alerts", "no alert of a standby that does not confirm", "PrometheusRule", "reconciled",
      without_alert("ReconciledStandbyUnconfirmed"))
for alert in ("CertificateExpires", "CertificateExpiresSoon"):
    plant("alerts", f"no alert of {alert}", "PrometheusRule", "reconciled", without_alert(f"Reconciled{alert}"))
for alert in ("TwoSitesActive", "NoSiteActive", "LeaseLost", "StandbyGone", "PromotionEvidenceMissing"):
    plant("alerts", f"no alert of {alert}", "PrometheusRule", "reconciled-sites", without_alert(f"Reconciled{alert}"))
plant("alerts", "a pair's alert without a page", "PrometheusRule", "reconciled-sites",
      without("spec", "groups", 0, "rules", 0, "annotations", "runbook"))
plant("monitoring", "series of no site", "ServiceMonitor", "reconciled",
      without("spec", "endpoints", 0, "relabelings"))
plant("monitoring", "series of the other site", "ServiceMonitor", "reconciled",
      to("site-a", "spec", "endpoints", 0, "relabelings", 0, "replacement"), overlay=WARM)
plant("monitoring", "no alerts of a pair", "PrometheusRule", "reconciled-sites")
plant("alerts", "objective changed", "ConfigMap", "reconciled-config", text("settle_within: 5m", "settle_within: 9m"))
