"""Who reaches whom, by the network policies: an evaluator of a few lines, which knows nothing of how the manifests are
made, asks for pods and addresses of the usual clusters."""

import ipaddress
import pathlib
import re
import shutil
import tempfile
import unittest

import yaml
from manifests import EXTENDED, LEASE, OPTIONS, REAL, ROOT, Site, pod_of, rendered_at, source

HTTP, ADMIN = 8080, 8081
#: What a namespace has that Kubernetes made.
NAME = "kubernetes.io/metadata.name"


class Peer:
    """Somebody on the network: an address, and what Kubernetes knows of it if it is a pod."""

    def __init__(self, address, namespace=None, labels=None, access=()):
        self.address = ipaddress.ip_address(address)
        self.is_pod = namespace is not None
        self.labels = labels or {}
        self.namespace = {NAME: namespace, **{f"access.reconciled.io/{kind}": "true" for kind in access}}


def matches(selector, labels):
    assert set(selector) <= {"matchLabels"}, f"the evaluator does not know {selector}"
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def is_peer(peer, rule, home):
    """Whether a peer is one that an entry of `from` or `to` means."""
    if "ipBlock" in rule:
        block = rule["ipBlock"]
        networks = [ipaddress.ip_network(text) for text in [block["cidr"], *block.get("except", [])]]
        inside = [peer.address.version == network.version and peer.address in network for network in networks]
        return inside[0] and not any(inside[1:])
    if not peer.is_pod:
        return False
    if "namespaceSelector" not in rule and peer.namespace[NAME] != home:
        return False
    return matches(rule.get("namespaceSelector", {}), peer.namespace) and matches(
        rule.get("podSelector", {}), peer.labels
    )


class Network:
    """The policies of an overlay, and its pods."""

    def __init__(self, objects):
        self.policies = [item for item in objects if item["kind"] == "NetworkPolicy"]
        self.pods = {
            item["metadata"]["name"]: pod_of(item)
            for item in objects if item["kind"] in ("Deployment", "Job", "CronJob")
        }  # fmt: skip

    def passes(self, pod, direction, peer, number, protocol="TCP"):
        """Whether one of our pods may hear from a peer at a port of its own, or reach one at a port of the peer's."""
        template = self.pods[pod]
        names = {
            port["name"]: port["containerPort"]
            for container in template["spec"]["containers"] for port in container.get("ports", [])
        }  # fmt: skip
        ours = [
            policy
            for policy in self.policies
            if direction in policy["spec"]["policyTypes"]
            and matches(policy["spec"]["podSelector"], template["metadata"]["labels"])
        ]
        if not ours:
            return True
        side = {"Ingress": "from", "Egress": "to"}[direction]
        for policy in ours:
            for opening in policy["spec"].get(direction.lower(), []):
                ports = [(port.get("protocol", "TCP"), port["port"]) for port in opening["ports"]]
                if (protocol, number) not in [(kind, names.get(port, port)) for kind, port in ports]:
                    continue
                if any(is_peer(peer, rule, policy["metadata"]["namespace"]) for rule in opening[side]):
                    return True
        return False

    def hears(self, pod, peer, port):
        return self.passes(pod, "Ingress", peer, port)

    def reaches(self, pod, peer, port, protocol="TCP"):
        return self.passes(pod, "Egress", peer, port, protocol)


FRONT, BATCH, MIGRATION = "reconciled-front", "reconciled-batch", "reconciled-migrate"
#: The private addresses of databases in the usual networks, the default VPC of AWS and that of docker among them.
DATABASES = ("10.10.248.7", "10.128.3.4", "172.31.5.6", "172.18.0.9", "192.168.7.7", "fd12:3456::7")


def kube_dns(**labels):
    return Peer("10.244.0.2", "kube-system", {"k8s-app": "kube-dns", **labels})


def middle(network):
    """An address in the middle of a network."""
    network = ipaddress.ip_network(network)
    return str(network[network.num_addresses // 2])


class Networks(unittest.TestCase):
    def every(self):
        """The network of each overlay, with an address of its nodes and one of its load balancer."""
        for overlay in (*REAL, *EXTENDED):
            site = Site(overlay)
            nodes, balancers = [opening["from"] for opening in site.get("NetworkPolicy", "entry")["spec"]["ingress"]]
            yield Network(site.objects), middle(nodes[0]["ipBlock"]["cidr"]), middle(balancers[0]["ipBlock"]["cidr"])

    def test_no_pod_of_the_cluster_asks_the_operators_port_without_the_label_of_its_namespace(self):
        for network, node, _ in self.every():
            # Pods with addresses of their own, and with those of the nodes' subnets, as in EKS.
            for address in ("10.244.3.4", "10.128.9.9", "100.64.1.1", "172.31.9.9", node):
                for access in ((), ("api",)):
                    peer = Peer(address, "shop", {"app": "cart"}, access)
                    for pod in (FRONT, BATCH):
                        self.assertFalse(network.hears(pod, peer, ADMIN), f"{address} reaches {pod}")
            for pod in (FRONT, BATCH):
                self.assertTrue(network.hears(pod, Peer("10.244.3.5", "monitoring", access=("admin",)), ADMIN))

    def test_the_load_balancer_asks_whether_the_site_is_active_and_nothing_of_batch(self):
        for network, node, balancer in self.every():
            node, balancer = Peer(node), Peer(balancer)
            self.assertTrue(network.hears(FRONT, balancer, ADMIN))
            self.assertFalse(network.hears(BATCH, balancer, ADMIN))
            # A node may be where a pod hides: what is passed on by it for callers, and nothing more.
            self.assertTrue(network.hears(FRONT, node, HTTP))
            self.assertFalse(network.hears(FRONT, node, ADMIN))
            self.assertFalse(network.hears(FRONT, Peer("203.0.113.5"), HTTP))

    def test_the_address_of_who_asks_for_activity_is_kept(self):
        for overlay in REAL:
            service = Site(overlay).get("Service", "reconciled-entry-activity")["spec"]
            self.assertEqual(service["externalTrafficPolicy"], "Local", overlay)

    def test_callers_inside_need_the_label(self):
        for network, *_ in self.every():
            self.assertTrue(network.hears(FRONT, Peer("10.244.3.4", "shop", access=("api",)), HTTP))
            self.assertFalse(network.hears(FRONT, Peer("10.244.3.4", "shop"), HTTP))
            self.assertFalse(network.hears(BATCH, Peer("10.244.3.4", "shop", access=("api",)), HTTP))

    @staticmethod
    def is_wide(network):
        """Whether databases may be at any private address, as shipped; else somebody narrowed the ranges."""
        (policy,) = [policy for policy in network.policies if policy["metadata"]["name"] == "database"]
        return {"ipBlock": {"cidr": "172.16.0.0/12"}} in policy["spec"]["egress"][0]["to"]

    def test_databases_are_reached_wherever_clusters_have_them_and_only_there(self):
        for network, *_ in self.every():
            for pod in set(network.pods) & {FRONT, BATCH, MIGRATION}:
                for address in DATABASES if self.is_wide(network) else ():
                    self.assertTrue(network.reaches(pod, Peer(address), 5432), f"{pod} to {address}")
                    self.assertFalse(network.reaches(pod, Peer(address), 22), f"{pod} to {address}")
                for address in ("198.51.100.7", "169.254.169.254", "2001:db8::7"):
                    self.assertFalse(network.reaches(pod, Peer(address), 5432), f"{pod} to {address}")

    def test_providers_are_reached_on_the_internet_of_both_kinds_and_nothing_inside_is(self):
        for network, *_ in self.every():
            for address in ("198.51.100.7", "2001:db8::7", "64:ff9b::c633:6407"):
                self.assertTrue(network.reaches(FRONT, Peer(address), 443), address)
                self.assertFalse(network.reaches(FRONT, Peer(address), 80), address)
            inside = (
                "10.1.2.3", "172.31.1.1", "192.168.1.1", "100.64.0.9", "169.254.169.254",
                "fd00:ec2::254", "fe80::1", "::1",
                # 169.254.169.254, 10.1.2.3 and 192.168.1.1 behind a NAT64.
                "64:ff9b::a9fe:a9fe", "64:ff9b::a01:203", "64:ff9b::c0a8:101",
            )  # fmt: skip
            for address in inside:
                self.assertFalse(network.reaches(FRONT, Peer(address), 443), address)

    def test_names_are_asked_of_the_clusters_dns_and_of_its_cache_on_the_node(self):
        for network, *_ in self.every():
            cache = Peer("10.244.0.3", "kube-system", {"k8s-app": "node-local-dns"})
            asked = (kube_dns(), cache, Peer("169.254.20.10"))
            for peer in asked:
                for protocol in ("UDP", "TCP"):
                    self.assertTrue(network.reaches(FRONT, peer, 53, protocol), peer.address)
            others = (
                Peer("198.51.100.53"), Peer("169.254.169.254"), Peer("10.244.0.9", "shop", {"k8s-app": "kube-dns"}),
            )  # fmt: skip
            for peer in others:
                self.assertFalse(network.reaches(FRONT, peer, 53, "UDP"), peer.address)

    def test_the_witness_is_reached_where_there_is_one(self):
        there, other = Peer("203.0.113.10"), Peer("203.0.113.11")
        for overlay, port in ((OPTIONS, 5432), (LEASE, 6443)):
            network = Network(Site(overlay).objects)
            for pod in (FRONT, BATCH, MIGRATION):
                self.assertTrue(network.reaches(pod, there, port))
                self.assertFalse(network.reaches(pod, other, port))
                self.assertFalse(network.reaches(pod, there, 22))
            self.assertFalse(Network(Site("active").objects).reaches(FRONT, there, port))

    def test_what_nobody_thought_of_is_closed(self):
        objects = [item for item in Site("active").objects if item["kind"] != "NetworkPolicy"]
        self.assertTrue(Network(objects).hears(FRONT, Peer("203.0.113.5"), 9999))
        network = Network(Site("active").objects)
        self.assertFalse(network.hears(FRONT, Peer("10.244.3.4", "reconciled", {"app": "x"}), HTTP))
        self.assertFalse(network.reaches(FRONT, Peer("10.244.3.4", "reconciled", {"app": "x"}), HTTP))


class UsualClusters(unittest.TestCase):
    """The table of docs/deploying.md: its ranges, put into an overlay as the page says."""

    def rows(self):
        text = source("docs/deploying.md").split("### Addresses\n", 1)[1].split("\n### ", 1)[0]
        lines = [line for line in text.splitlines() if line.startswith("| ")]
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
        self.assertEqual([cell.strip("` ") for cell in rows[0][:4]], ["cluster", "nodes", "load balancer", "pods"])
        for row in rows[1:]:
            yield row[0], *(re.findall(r"`([0-9a-f.:]+/\d+)`", cell) for cell in row[1:4])

    def test_every_row_lets_in_nodes_and_load_balancer_and_no_pod_to_the_operators_port(self):
        titles = []
        for title, nodes, balancers, pods in self.rows():
            titles.append(title.split(" ")[0])
            with self.subTest(title), tempfile.TemporaryDirectory() as directory:
                tree = pathlib.Path(directory) / "k8s"
                shutil.copytree(ROOT / "deploy" / "k8s", tree)
                file = tree / "overlays" / "active" / "networks" / "kustomization.yaml"
                text = file.read_text(encoding="utf-8")
                if "10.10.240.0/22" not in text:
                    self.skipTest("the overlay has other ranges than the one that is shipped")
                changed = text.replace("10.10.0.0/18", nodes[0]).replace("10.10.240.0/22", balancers[0])
                self.assertTrue(changed != text or nodes[0] == "10.10.0.0/18")
                file.write_text(changed, encoding="utf-8")
                network = Network(list(yaml.safe_load_all(rendered_at(tree / "overlays" / "active"))))
                self.assertTrue(network.hears(FRONT, Peer(middle(nodes[0])), HTTP))
                self.assertTrue(network.hears(FRONT, Peer(middle(balancers[0])), ADMIN))
                for pod in pods:
                    self.assertFalse(network.hears(FRONT, Peer(middle(pod), "shop"), ADMIN), pod)
                    if pod != nodes[0]:
                        self.assertFalse(network.hears(FRONT, Peer(middle(pod), "shop"), HTTP), pod)
        self.assertEqual(titles, ["EKS", "GKE", "AKS", "OpenShift", "kind"])

    def test_the_dns_of_openshift_is_reached_with_its_component(self):
        with tempfile.TemporaryDirectory() as directory:
            tree = pathlib.Path(directory) / "k8s"
            shutil.copytree(ROOT / "deploy" / "k8s", tree)
            file = tree / "overlays" / "active" / "kustomization.yaml"
            text = file.read_text(encoding="utf-8")
            text = text.replace("  - networks\n", "  - networks\n  - ../../components/dns-openshift\n")
            file.write_text(text, encoding="utf-8")
            network = Network(list(yaml.safe_load_all(rendered_at(tree / "overlays" / "active"))))
        labels = {"dns.operator.openshift.io/daemonset-dns": "default"}
        self.assertTrue(network.reaches(FRONT, Peer("10.128.0.5", "openshift-dns", labels), 5353, "UDP"))
        self.assertFalse(network.reaches(FRONT, kube_dns(), 53, "UDP"))


if __name__ == "__main__":
    unittest.main()
