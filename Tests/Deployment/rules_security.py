"""Rules about what a pod may do, whom it may reach, and who may reach it."""

import ipaddress
import re

import yaml
from manifests import EVERY, EXTENDED, LOCAL, OPTIONS, REAL, WITNESS, Site, daemon, look, pod_of, seconds, selects
from rules import rule


@rule("restricted-pods", EVERY + (WITNESS,))
def restricted_pods(site):
    labels = look(site.get("Namespace", "reconciled") or {}, "metadata", "labels", default={})
    for mode in ("enforce", "audit", "warn"):
        if labels.get(f"pod-security.kubernetes.io/{mode}") != "restricted":
            yield f"the namespace does not {mode} the restricted profile"
    for title, pod in site.pods():
        spec = pod["spec"]
        context = spec.get("securityContext", {})
        if context.get("runAsNonRoot") is not True or not context.get("runAsUser"):
            yield f"{title} may run as root"
        if look(context, "seccompProfile", "type") != "RuntimeDefault":
            yield f"{title} may make every system call"
        if any(spec.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")):
            yield f"{title} shares a namespace of the host"
        if any("hostPath" in volume for volume in spec.get("volumes", [])):
            yield f"{title} mounts a path of the host"
        for container in spec["containers"] + spec.get("initContainers", []):
            context = container.get("securityContext", {})
            if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
                yield f"{title} may gain privileges"
            if look(context, "capabilities", "drop") != ["ALL"] or look(context, "capabilities", "add"):
                yield f"{title} keeps capabilities"


@rule("read-only-root")
def read_only_root(site):
    for title, pod in site.pods():
        for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
            if look(container, "securityContext", "readOnlyRootFilesystem") is not True:
                yield f"{title}: the image's files can be changed in {container['name']}"
    for title, pod in site.our_pods():
        for mount in daemon(pod).get("volumeMounts", []):
            if mount["name"] != "data" and mount.get("readOnly") is not True:
                yield f"{title} may write to {mount['mountPath']}"


@rule("no-api-token")
def no_api_token(site):
    for account in site.of_kind("ServiceAccount"):
        if account.get("automountServiceAccountToken") is not False:
            yield f"the account {account['metadata']['name']} gives its token to pods"
    for title, pod in site.pods():
        if pod["spec"].get("automountServiceAccountToken") is not False:
            yield f"{title} gets a token of the Kubernetes API"
    for title, pod in site.our_pods():
        if pod["spec"].get("serviceAccountName") != "reconciled":
            yield f"{title} runs under the namespace's default account"
    for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"):
        for item in site.of_kind(kind):
            yield f"{kind} {item['metadata']['name']}: the daemon needs no rights"


@rule("no-service-links")
def no_service_links(site):
    for title, pod in site.pods():
        if pod["spec"].get("enableServiceLinks") is not False:
            yield f"{title} gets variables named after Services, which the daemon refuses as unknown keys"


@rule("secrets-from-files")
def secrets_from_files(site):
    for item in site.of_kind("Secret"):
        yield f"Secret {item['metadata']['name']} is part of the manifests"
    configuration = yaml.safe_load(site.configuration())
    if "password" in configuration["store"] or "password=" in configuration["store"].get("url", ""):
        yield "the configuration holds the database's password"
    for provider in configuration["providers"]:
        if "token" in provider or not provider.get("token_file", "").startswith("/etc/reconciled/secrets/"):
            yield f"the token of provider {provider['name']} does not come from the mounted secret"
    for title, pod in site.pods():
        for container in pod["spec"]["containers"]:
            for variable in container.get("env", []):
                if secret_name(variable["name"]) or "secretKeyRef" in variable.get("valueFrom", {}):
                    yield f"{title}: {variable['name']} puts a secret into the environment"
    for title, pod in site.our_pods():
        mounted = [v["secret"] for v in pod["spec"].get("volumes", []) if v["name"] == "secrets" and "secret" in v]
        if not mounted or mounted[0].get("optional") or mounted[0].get("defaultMode") != 0o440:
            yield f"{title} does not mount the secret as files of mode 0440"


def secret_name(variable):
    return any(part in variable for part in ("PASSWORD", "TOKEN")) and not variable.endswith(("_FILE", "_SHA256"))


def policies(site, direction):
    """(name, selector, rule) of everything that is open in a direction: Ingress or Egress."""
    for item in site.of_kind("NetworkPolicy"):
        for opening in item["spec"].get(direction.lower(), []):
            yield item["metadata"]["name"], item["spec"]["podSelector"], opening


def ports(opening):
    found = ((port.get("protocol", "TCP"), port.get("port")) for port in opening.get("ports", []))
    return sorted(found, key=str)


def policy(site, wanted):
    """The policy of a name, with a finding when it is missing."""
    return site.get("NetworkPolicy", wanted)


@rule("default-deny")
def default_deny(site):
    item = policy(site, "default-deny")
    if not item or item["spec"] != {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}:
        yield "what no policy mentions is not denied"
    for direction in ("Ingress", "Egress"):
        for title, _, opening in policies(site, direction):
            if not opening.get("from" if direction == "Ingress" else "to") or not opening.get("ports"):
                yield f"the policy {title} opens every peer or every port"
    known = {
        "default-deny", "dns", "database", "providers", "callers", "operators", "entry", "site-activity",
        "simulator", "to-simulator", "postgres", "to-postgres", "witness",
    }  # fmt: skip
    for item in site.of_kind("NetworkPolicy"):
        if item["metadata"]["name"] not in known:
            yield f"the policy {item['metadata']['name']} has no rule"


@rule("dns")
def dns(site):
    item = policy(site, "dns")
    if not item or item["spec"]["podSelector"] != {} or item["spec"]["policyTypes"] != ["Egress"]:
        yield "names cannot be resolved"
    elif ports(item["spec"]["egress"][0]) != [("TCP", 53), ("UDP", 53)] or not look(
        item, "spec", "egress", 0, "to", 0, "podSelector"
    ):
        yield "DNS is not exactly port 53 of the cluster's DNS"


@rule("database-egress")
def database_egress(site):
    wanted = "to-postgres" if site.overlay == "local-postgres" else "database"
    item = policy(site, wanted)
    if not item or ports(item["spec"]["egress"][0])[0][1] not in (5432, "postgres"):
        yield "the database cannot be reached"
        return
    for peer in item["spec"]["egress"][0]["to"]:
        network = look(peer, "ipBlock", "cidr")
        if network and not ipaddress.ip_network(network).is_private:
            yield f"the database is looked for at {network}, which is not private"


@rule("provider-egress")
def provider_egress(site):
    item = policy(site, "providers")
    if not item or ports(item["spec"]["egress"][0]) != [("TCP", 443)]:
        yield "providers are not reached by port 443 alone"
        return
    refused = look(item, "spec", "egress", 0, "to", 0, "ipBlock", "except", default=[])
    for network in ("10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"):
        if network not in refused:
            yield f"a provider's address may lead to {network}, inside"


@rule("caller-ingress")
def caller_ingress(site):
    item = policy(site, "callers")
    if not item or look(item, "spec", "podSelector", "matchLabels", "app.kubernetes.io/component") != "front":
        yield "callers cannot reach the front, or reach more than it"
    elif ports(item["spec"]["ingress"][0]) != [("TCP", "http")]:
        yield "callers reach another port than the API's"
    elif "namespaceSelector" not in look(item, "spec", "ingress", 0, "from", 0, default={}):
        yield "every namespace may call"


@rule("operator-ingress")
def operator_ingress(site):
    item = policy(site, "operators")
    if not item or look(
        item, "spec", "ingress", 0, "from", 0, "namespaceSelector", "matchLabels", "access.reconciled.io/admin"
    ) != "true":
        yield "the operators' listener is not reserved for monitoring and operators"
    allowed = {"operators", "entry", "site-activity"}
    for title, selector, opening in policies(site, "Ingress"):
        ours = selector == {} or look(selector, "matchLabels", "app.kubernetes.io/name") == "reconciled"
        names = {port for _, port in ports(opening)}
        if ours and names & {"admin", 8081, None} and title not in allowed:
            yield f"the policy {title} opens the operators' listener"
        if title == "entry" and len(names) != 1:
            yield "the operators' listener is open to the addresses of nodes, which pods may have as well"
    activity = site.get("Service", "reconciled-entry-activity")
    if activity and activity["spec"].get("externalTrafficPolicy") != "Local":
        yield "who asks for activity comes with the address of a node"


@rule("public-service")
def public_service(site):
    service = site.get("Service", "reconciled")
    if not service or [port.get("targetPort") for port in service["spec"]["ports"]] != ["http"]:
        yield "the public Service has another port than the API's"
    front = site.get("Deployment", "reconciled-front")["spec"]["template"]["metadata"]["labels"]
    for item in site.of_kind("Service"):
        title, spec = item["metadata"]["name"], item["spec"]
        admin = any(port.get("targetPort") in ("admin", 8081) for port in spec["ports"])
        if selects(spec.get("selector"), front) and admin and len(spec["ports"]) > 1:
            yield f"the Service {title} has the operators' port beside another"
        if spec.get("type") == "LoadBalancer":
            yield f"the Service {title} puts plain HTTP on the Internet"
        if spec.get("type") == "NodePort" and admin and title != "reconciled-entry-activity":
            yield f"the Service {title} opens the operators' port on every node"
    for item in site.of_kind("Ingress"):
        if not look(item, "spec", "tls"):
            yield "the Ingress does not end TLS"
        for host in item["spec"]["rules"]:
            for path in host["http"]["paths"]:
                admin = path["backend"]["service"]["name"] != "reconciled"
                if admin and (path["path"], path["pathType"]) != ("/activez", "Exact"):
                    yield f"the Ingress shows {path['path']} of the operators' listener"


@rule("no-simulator", REAL + EXTENDED)
def no_simulator(site):
    for title, pod in site.pods():
        for container in pod["spec"]["containers"]:
            if "simulator" in container["image"]:
                yield f"{title} plays a provider beside real payments"
    for provider in yaml.safe_load(site.configuration())["providers"]:
        if provider.get("allow_plain_http") or not provider["url"].startswith("https://"):
            yield f"provider {provider['name']} is asked without TLS"


#: The variables of a listener's certificate and of its key, by the name of its port.
CERTIFICATE = {
    port: tuple(f"RECONCILED_{port.upper()}_TLS_{file}_FILE" for file in ("CERTIFICATE", "PRIVATE_KEY"))
    for port in ("http", "admin")
}


@rule("listener-certificates")
def listener_certificates(site):
    """Either all listeners speak TLS, and whoever is made here to ask them does, or none of them."""
    encrypted = site.overlay == OPTIONS
    for item in site.daemons():
        yield from listener_findings(item["metadata"]["name"], pod_of(item), encrypted)
    for title, pod in site.our_pods():
        yield from key_findings(title, pod)
    wanted = "https" if encrypted else "http"
    for name in ("reconciled", "reconciled-admin"):
        if look(site.get("Service", name) or {}, "spec", "ports", 0, "appProtocol") != wanted:
            yield f"the Service {name} does not say that its pods speak {wanted}"
    for monitor in site.of_kind("ServiceMonitor"):
        for endpoint in monitor["spec"]["endpoints"]:
            if endpoint.get("scheme", "http") != wanted:
                yield f"Prometheus does not ask the pods by {wanted}"
            elif encrypted:
                yield from trust_findings(endpoint.get("tlsConfig", {}))


def listener_findings(title, pod, encrypted):
    """What is wrong with the listeners of a daemon's pod, and with the probes that ask them."""
    container = daemon(pod)
    variables = {variable["name"] for variable in container.get("env", [])}
    ports = {port["name"] for port in container.get("ports", [])}
    for port, names in CERTIFICATE.items():
        for name in names:
            if (name in variables) != (encrypted and port in ports):
                yield f"{title} has {'no' if encrypted and port in ports else 'a needless'} {name}"
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        if look(container, kind, "httpGet", "scheme", default="HTTP") != ("HTTPS" if encrypted else "HTTP"):
            yield f"the {kind} of {title} does not speak what the operators' listener speaks"


def key_findings(title, pod):
    """What is wrong with the files of a listener's certificate and key in a pod."""
    container = daemon(pod)
    for variable in container.get("env", []):
        if not any(variable["name"] in names for names in CERTIFICATE.values()):
            continue
        place, _, file = variable.get("value", "").rpartition("/")
        wanted = "tls.key" if "PRIVATE_KEY" in variable["name"] else "tls.crt"
        mounts = [mount for mount in container.get("volumeMounts", []) if mount["mountPath"] == place]
        if not mounts or file != wanted:
            yield f"{title}: {variable['name']} is not {wanted} of a mounted Secret"
            continue
        if "subPath" in mounts[0] or mounts[0].get("readOnly") is not True:
            yield f"{title}: what is mounted at {place} is never replaced, or can be written"
        volumes = [volume for volume in pod["spec"]["volumes"] if volume["name"] == mounts[0]["name"]]
        secret = look(volumes, 0, "secret", default={})
        if secret.get("secretName") != "reconciled-listeners" or secret.get("optional"):
            yield f"{title} may start without the Secret reconciled-listeners"
        context = pod["spec"].get("securityContext", {})
        if secret.get("defaultMode") != 0o440 or not context.get("fsGroup"):
            yield f"{title}: the key is readable for more than the daemon's group, or not for it"


def trust_findings(tls):
    """What is wrong with how Prometheus knows a pod by its certificate."""
    if tls.get("insecureSkipVerify"):
        yield "Prometheus takes every certificate"
    if tls.get("serverName") != "reconciled-admin.reconciled.svc":
        yield "Prometheus looks for the address of a pod in its certificate, or for a name of somebody else"
    if look(tls, "ca", "secret") != {"name": "reconciled-listeners", "key": "ca.crt"}:
        yield "Prometheus trusts other authorities than the one that signed"


@rule("issued-certificate", (OPTIONS,))
def issued_certificate(site):
    """What cert-manager makes is what the pods mount, with the names that they are asked by."""
    found = site.of_kind("Certificate")
    if len(found) != 1 or found[0]["spec"].get("secretName") != "reconciled-listeners":
        yield "no certificate makes the Secret that the pods mount"
        return
    spec = found[0]["spec"]
    names = {f"{name}.reconciled.svc" for name in ("reconciled", "reconciled-admin")}
    if not names <= set(spec.get("dnsNames", [])):
        yield f"the certificate does not name {sorted(names)}"
    if look(spec, "issuerRef", "kind") != "Issuer":
        yield "other namespaces may use the same issuer"
    if look(spec, "privateKey", "rotationPolicy") != "Always":
        yield "a key that leaked stays in use for ever"
    if "server auth" not in spec.get("usages", []):
        yield "clients refuse it as the certificate of a server"
    [alert] = [
        entry for item in site.of_kind("PrometheusRule") for group in item["spec"]["groups"] for entry in group["rules"]
        if entry["alert"] == "ReconciledCertificateExpires"
    ]  # fmt: skip
    told = int(re.search(r"< (\d+)", alert["expr"])[1])
    if not told < seconds(spec.get("renewBefore", "0h")) < seconds(spec.get("duration", "2160h")):
        yield "the alert tells of certificates whose time to be renewed has not come, or they are renewed for ever"


#: The one right that a site has in the third cluster.
RIGHT = {
    "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["reconciled"],
    "verbs": ["get", "patch"],
}  # fmt: skip
OWNER = "kubernetes.io/service-account.name"


@rule("third-cluster", (WITNESS,))
def third_cluster(site):
    """One empty Lease, and for each site an account of its own that may read and change it, and nothing else."""
    leases = site.of_kind("Lease")
    if [item["metadata"]["name"] for item in leases] != ["reconciled"]:
        yield "there is not exactly the one Lease that the sites ask for, and they do not make it"
    for item in leases:
        if item.get("spec") or item["metadata"].get("annotations"):
            yield "an apply takes back what a site wrote into the Lease"
    accounts = {item["metadata"]["name"] for item in site.of_kind("ServiceAccount")}
    sites = {Site(overlay).site_variables()["RECONCILED_SITE_NAME"] for overlay in REAL}
    if accounts != sites:
        yield f"there are accounts for {sorted(accounts)}, and the sites are {sorted(sites)}"
    for item in site.of_kind("ServiceAccount"):
        if item.get("automountServiceAccountToken") is not False:
            yield f"the account {item['metadata']['name']} gives its token to pods"
    yield from rights(site, accounts)
    yield from tokens(site, accounts)
    known = {"Namespace", "Lease", "ServiceAccount", "Role", "RoleBinding", "Secret"}
    for item in site.objects:
        if item["kind"] not in known:
            yield f"{item['kind']} {item['metadata']['name']} has no business there"
        if item["kind"] != "Namespace" and item["metadata"].get("namespace") != "reconciled":
            yield f"{item['kind']} {item['metadata']['name']} is in no namespace of ours"


def rights(site, accounts):
    roles = site.of_kind("Role")
    for item in roles:
        if not item["rules"]:
            yield f"the Role {item['metadata']['name']} gives nothing"
        for given in item["rules"]:
            if {**given, "verbs": sorted(given["verbs"])} != RIGHT:
                yield f"the Role {item['metadata']['name']} gives more or less than to read and change the one Lease"
    bound = []
    for item in site.of_kind("RoleBinding"):
        if item["roleRef"]["kind"] != "Role" or not site.get("Role", item["roleRef"]["name"]):
            yield f"the RoleBinding {item['metadata']['name']} gives a role that is not among these"
        for subject in item.get("subjects", []):
            bound.append(subject["name"])
            if (subject["kind"], subject.get("namespace")) != ("ServiceAccount", "reconciled"):
                yield f"{subject['kind']} {subject['name']} has the right of a site"
    if sorted(bound) != sorted(accounts):
        yield f"the right to the Lease is given to {sorted(bound)}, and the accounts are {sorted(accounts)}"


def tokens(site, accounts):
    owners = []
    for item in site.of_kind("Secret"):
        title = item["metadata"]["name"]
        if item.get("type") != "kubernetes.io/service-account-token":
            yield f"Kubernetes puts no token into the Secret {title}"
        if item.get("data") or item.get("stringData"):
            yield f"Secret {title} has its content in the manifests"
        owners.append(look(item, "metadata", "annotations", OWNER))
    if sorted(owners, key=str) != sorted(accounts):
        yield f"there are tokens for {owners}, and the accounts are {sorted(accounts)}"


assert set(LOCAL) < set(EVERY)
