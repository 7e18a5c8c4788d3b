"""Rules about pods that come, go and are lost."""

import re

import yaml
from manifests import EVERY, EXTENDED, REAL, daemon, look, pod_of, seconds, selects, source
from rules import rule

REAL_AND_EXTENDED = REAL + EXTENDED
RUNNING = ("active", "standby-hot") + EXTENDED


def name(item):
    return item["metadata"]["name"]


@rule("replicas")
def replicas(site):
    wanted = {"standby-warm": (0, 0)}.get(site.overlay, (2, 9) if site.is_real else (1, 1))
    names = {"reconciled-front", "reconciled-batch"} if site.is_real else {"reconciled-front"}
    if {name(item) for item in site.daemons()} != names:
        yield f"the deployments are not {sorted(names)}"
    for item in site.daemons():
        number = item["spec"].get("replicas")
        if number is None or not wanted[0] <= number <= wanted[1]:
            yield f"{name(item)} has {number} replicas; allowed: {wanted[0]} to {wanted[1]}"


@rule("disruption-budget")
def disruption_budget(site):
    for item in site.daemons():
        labels = pod_of(item)["metadata"]["labels"]
        budgets = [
            budget
            for budget in site.of_kind("PodDisruptionBudget")
            if selects(look(budget, "spec", "selector", "matchLabels"), labels)
        ]
        if len(budgets) != 1:
            yield f"{name(item)} has {len(budgets)} disruption budgets; two would block every eviction"
            continue
        spec = budgets[0]["spec"]
        if spec.get("maxUnavailable") != 1 or "minAvailable" in spec:
            yield f"the budget of {name(item)} is not maxUnavailable: 1: it blocks drains or takes more than one pod"
        if spec.get("unhealthyPodEvictionPolicy") != "AlwaysAllow":
            yield f"the budget of {name(item)} lets a pod that is not ready block a drain"


@rule("anti-affinity", REAL_AND_EXTENDED)
def anti_affinity(site):
    for item in site.daemons():
        pod = pod_of(item)
        terms = look(
            pod, "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", default=[]
        )
        fitting = [
            term
            for term in terms
            if term.get("topologyKey") == "kubernetes.io/hostname"
            and selects(look(term, "labelSelector", "matchLabels"), pod["metadata"]["labels"])
        ]
        if not fitting:
            yield f"two pods of {name(item)} may share a host"
        elif any(term.get("matchLabelKeys") != ["pod-template-hash"] for term in fitting):
            yield f"a release of {name(item)} needs a host that is free of the release before"


@rule("zone-spread", REAL_AND_EXTENDED)
def zone_spread(site):
    for item in site.daemons():
        pod = pod_of(item)
        fitting = [
            term
            for term in look(pod, "spec", "topologySpreadConstraints", default=[])
            if term.get("topologyKey") == "topology.kubernetes.io/zone"
            and term.get("maxSkew") == 1
            and selects(look(term, "labelSelector", "matchLabels"), pod["metadata"]["labels"])
        ]
        if not fitting:
            yield f"all pods of {name(item)} may run in one zone"
        elif not all(term.get("nodeTaintsPolicy") == "Honor" for term in fitting):
            yield f"a lost zone counts for {name(item)}: its pods could not move"
        if any(term.get("whenUnsatisfiable") != "ScheduleAnyway" for term in fitting):
            yield f"nodes without the label of a zone get no pod of {name(item)}"


def pools(pod):
    """The pools that a pod may run in, None for all."""
    terms = look(
        pod,
        *("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
        default=[],
    )
    values = [
        tuple(expression["values"])
        for term in terms
        for expression in term.get("matchExpressions", [])
        if expression["key"] == "reconciled.io/pool" and expression["operator"] == "In"
    ]
    return values[0] if len(terms) == 1 and len(values) == 1 else None


def tolerates_batch(pod):
    return any(
        toleration.get("key") in ("reconciled.io/pool", None) and toleration.get("effect") in ("NoSchedule", None)
        for toleration in look(pod, "spec", "tolerations", default=[])
    )


@rule("node-pools", REAL_AND_EXTENDED)
def node_pools(site):
    for title, pod in site.our_pods():
        wanted = "front" if title == "Deployment reconciled-front" else "batch"
        if pools(pod) != (wanted,):
            yield f"{title} is not held to the nodes of the pool {wanted}"
        if tolerates_batch(pod) != (wanted == "batch"):
            yield f"{title} {'does not tolerate' if wanted == 'batch' else 'tolerates'} the taint of the batch nodes"


@rule("roles")
def roles(site):
    wanted = {"reconciled-front": {"api", "settle"}, "reconciled-batch": {"batch"}}
    if not site.is_real:
        wanted = {"reconciled-front": {"api", "settle", "batch"}}
    for item in site.daemons():
        arguments = daemon(pod_of(item)).get("args", [])
        if len(arguments) != 3 or arguments[:2] != ["serve", "--roles"]:
            yield f"{name(item)} does not say which roles it serves"
        elif set(arguments[2].split(",")) != wanted.get(name(item)):
            yield f"{name(item)} serves {arguments[2]}"


@rule("rolling-update", REAL_AND_EXTENDED)
def rolling_update(site):
    for item in site.daemons():
        strategy = look(item, "spec", "strategy", "rollingUpdate", default={})
        if (strategy.get("maxSurge"), strategy.get("maxUnavailable")) != (0, 1):
            yield f"an update of {name(item)} needs a spare node, or takes more than one pod at a time"
        if item["spec"].get("minReadySeconds", 0) < 5:
            yield f"an update of {name(item)} goes on although the new pod fails after a moment"


@rule("single-writer", ("local", "local-postgres"))
def single_writer(site):
    for item in site.daemons():
        if look(item, "spec", "strategy", "type") != "Recreate":
            yield f"two pods of {name(item)} may want its volume at once"


@rule("priority")
def priority(site):
    classes = {name(item): item for item in site.of_kind("PriorityClass")}
    for title, pod in site.our_pods():
        wanted = "reconciled-front" if title == "Deployment reconciled-front" else "reconciled-batch"
        if pod["spec"].get("priorityClassName") != wanted or wanted not in classes:
            yield f"{title} has not the priority {wanted}"
    values = [look(classes, key, "value", default=0) for key in ("reconciled-front", "reconciled-batch")]
    if values[0] <= values[1]:
        yield "what nobody waits for comes before payments"
    if look(classes, "reconciled-batch", "preemptionPolicy") != "Never":
        yield "a comparison may push other pods off their nodes"


@rule("lost-node", REAL_AND_EXTENDED)
def lost_node(site):
    for item in site.daemons():
        tolerations = look(pod_of(item), "spec", "tolerations", default=[])
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
            allowed = [t.get("tolerationSeconds") for t in tolerations if t.get("key") == key]
            if len(allowed) != 1 or allowed[0] is None or allowed[0] > 60:
                yield f"the pods of {name(item)} stay on a node that is {key.split('/')[1]} for minutes"


@rule("resources")
def resources(site):
    for title, pod in site.pods():
        for container in pod["spec"]["containers"]:
            for side in ("requests", "limits"):
                for resource in ("cpu", "memory", "ephemeral-storage"):
                    if look(container, "resources", side, resource) is None:
                        yield f"{title}: {container['name']} has no {resource} in {side}"


def probe(site, kind, path):
    """Findings about one of the three probes."""
    for item in site.daemons():
        found = daemon(pod_of(item)).get(kind)
        if not found:
            yield f"{name(item)} has no {kind}"
            continue
        if look(found, "httpGet", "path") != path or look(found, "httpGet", "port") != "admin":
            yield f"the {kind} of {name(item)} does not ask {path} at the operators' port"
        if found.get("timeoutSeconds", 1) <= check_timeout():
            yield f"the {kind} of {name(item)} waits no longer than the daemon's own checks take"


def check_timeout():
    """How long the daemon gives a check, in seconds."""
    text = source("Sources/OperationsConsole/AdminAPI.swift")
    return int(re.search(r"checkTimeout: Duration = \.seconds\((\d+)\)", text)[1])


@rule("startup-probe")
def startup_probe(site):
    yield from probe(site, "startupProbe", "/startupz")
    for item in site.daemons():
        found = daemon(pod_of(item)).get("startupProbe", {})
        if not 60 <= found.get("periodSeconds", 10) * found.get("failureThreshold", 3) <= 300:
            yield f"the start of {name(item)} has not 1 to 5 minutes"


@rule("liveness-probe")
def liveness_probe(site):
    yield from probe(site, "livenessProbe", "/livez")
    for item in site.daemons():
        if daemon(pod_of(item)).get("livenessProbe", {}).get("failureThreshold", 3) < 3:
            yield f"one lost answer restarts a pod of {name(item)}"
        if daemon(pod_of(item)).get("livenessProbe", {}).get("terminationGracePeriodSeconds", 60) > 15:
            yield f"a pod of {name(item)} that hangs is waited for as if it were stopping"


@rule("readiness-probe")
def readiness_probe(site):
    yield from probe(site, "readinessProbe", "/readyz")
    for item in site.daemons():
        found = daemon(pod_of(item)).get("readinessProbe", {})
        if found.get("periodSeconds", 10) * found.get("failureThreshold", 3) > 15:
            yield f"a pod of {name(item)} that is not ready gets requests for too long"


def pre_stop(pod):
    return look(daemon(pod), "lifecycle", "preStop", "sleep", "seconds")


@rule("pre-stop")
def pre_stop_wait(site):
    for item in site.daemons():
        if not 3 <= (pre_stop(pod_of(item)) or 0) <= 15:
            yield f"the listeners of {name(item)} close before the load balancers know"
        if "exec" in look(daemon(pod_of(item)), "lifecycle", "preStop", default={}):
            yield f"preStop of {name(item)} needs a program that the image has not"


@rule("termination-grace")
def termination_grace(site):
    configuration = yaml.safe_load(site.configuration())
    grace = seconds(look(configuration, "reconcile", "shutdown_grace", default="20s"))
    for provider in configuration["providers"]:
        if seconds(look(provider, "timeouts", "total", default="15s")) >= grace:
            yield f"shutdown_grace is not above timeouts.total of {provider['name']}: its answer would not be awaited"
    text = source("Sources/ReconcileDaemon/Services/Daemon.swift")
    listeners = int(re.search(r"shutdownGrace \+ \.seconds\((\d+)\)", text)[1])
    cancellation = int(re.search(r"maximumCancellationDuration = \.seconds\((\d+)\)", text)[1])
    for item in site.daemons():
        longest = (pre_stop(pod_of(item)) or 0) + grace + listeners + cancellation
        if look(pod_of(item), "spec", "terminationGracePeriodSeconds", default=30) < longest + 5:
            yield f"{name(item)} is killed before its longest stop of {longest:.0f} s and 5 s of reserve are over"


#: What a site calls itself, and what the other one calls it.
PAIR = ("RECONCILED_SITE_NAME", "RECONCILED_SITE_PEER_NAME")
#: What two sites say differently.
OF_ONE_SITE = (*PAIR, "RECONCILED_SITE_PEER_URL", "RECONCILED_STORE_URL")


@rule("no-drift", ("standby-hot", "standby-warm"))
def no_drift(site):
    from manifests import Site

    active = Site("active")
    if site.configuration() != active.configuration():
        yield "the configuration of the standby is another one"
    for key in ("RECONCILED_SITE_NAME", "RECONCILED_STORE_URL"):
        if site.site_variables().get(key) in (None, active.site_variables().get(key)):
            yield f"the standby has the {key} of the active site"
    ours, theirs = site.site_variables(), active.site_variables()
    names = [(ours.get(own), theirs.get(other)) for own, other in (PAIR, PAIR[::-1])]
    if any(left is None or left != right for left, right in names):
        yield "the two sites do not name each other as peers"
    for key in sorted(set(ours) | set(theirs)):
        if key not in OF_ONE_SITE and ours.get(key) != theirs.get(key):
            yield f"the standby has another {key}: after a promotion it would act by other rules"
    for item in site.daemons():
        other = active.get("Deployment", name(item))
        if comparable(item) != comparable(other):
            yield f"{name(item)} differs from that of the active site in more than replicas and configuration"


def comparable(item):
    """A Deployment without what may differ between sites."""
    spec = {key: value for key, value in item["spec"].items() if key != "replicas"}
    return re.sub(r"reconciled-(config|site)-[a-z0-9]{10}", r"reconciled-\1", yaml.safe_dump(spec))
