"""Where pods may go: a scheduler of a few lines, which knows nothing of how the manifests are made, tries releases and
losses on nodes of all sorts."""

import unittest

from manifests import Site, pod_of

ZONE, HOST, POOL = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "reconciled.io/pool"


def nodes(number, zones=("a", "b", "c"), pool="front"):
    """Nodes of a pool, spread over zones; no zone: without the label."""
    made = []
    for index in range(number):
        labels = {HOST: f"node-{index}", POOL: pool}
        if zones:
            labels[ZONE] = zones[index % len(zones)]
        made.append(labels)
    return made


def matches(labels, selector):
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def alike(pod, other, term):
    """Whether a term of a pod counts another pod, the keys whose values must be the same included."""
    return matches(other, term["labelSelector"]) and all(
        pod.get(key) == other.get(key) for key in term.get("matchLabelKeys", [])
    )


def fits(spec, labels, node, placed, cluster):
    """Whether a pod may go to a node; placed: (labels, node) of the pods that are there."""
    affinity = spec["affinity"]
    terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    if not any(all(node.get(e["key"]) in e["values"] for e in term["matchExpressions"]) for term in terms):
        return False
    for term in affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]:
        key = term["topologyKey"]
        if any(place.get(key) == node.get(key) and alike(labels, other, term) for other, place in placed):
            return False
    for term in spec["topologySpreadConstraints"]:
        if term["whenUnsatisfiable"] != "DoNotSchedule":
            continue
        key = term["topologyKey"]
        if key not in node:
            return False
        counts = {place[key]: 0 for place in cluster if key in place}
        for other, place in placed:
            if key in place and alike(labels, other, term):
                counts[place[key]] += 1
        if counts[node[key]] + 1 - min(counts.values()) > term["maxSkew"]:
            return False
    return True


class Cluster:
    """Nodes, and the pods of one Deployment on them."""

    def __init__(self, deployment, there):
        self.spec, self.nodes, self.placed = deployment["spec"], list(there), []
        self.pod = pod_of(deployment)

    def place(self, release):
        """Puts one pod of a release somewhere; whether it may go anywhere."""
        labels = {**self.pod["metadata"]["labels"], "pod-template-hash": release}
        for node in self.nodes:
            if fits(self.pod["spec"], labels, node, self.placed, self.nodes):
                self.placed.append((labels, node))
                return True
        return False

    def lose(self, index):
        lost = self.nodes.pop(index)
        self.placed = [(labels, node) for labels, node in self.placed if node is not lost]

    def of(self, release):
        return sum(labels["pod-template-hash"] == release for labels, _ in self.placed)

    def roll(self, old, new):
        """An update without surge: pods of the old release go only as far as enough are left. How many are new then."""
        wanted = self.spec["replicas"]
        least = wanted - self.spec["strategy"]["rollingUpdate"]["maxUnavailable"]
        for _ in range(3 * wanted):
            while self.of(old) + self.of(new) < wanted and self.place(new):
                pass
            if self.of(old) == 0 or self.of(old) + self.of(new) <= least:
                break
            self.placed.remove(next(pod for pod in self.placed if pod[0]["pod-template-hash"] == old))
        return self.of(new)


class Scheduling(unittest.TestCase):
    def clusters(self, number, **options):
        for name, pool in (("reconciled-front", "front"), ("reconciled-batch", "batch")):
            deployment = Site("active").get("Deployment", name)
            yield name, Cluster(deployment, nodes(number, pool=pool, **options)), deployment["spec"]["replicas"]

    def test_one_pod_of_a_release_goes_to_a_host(self):
        for name, cluster, replicas in self.clusters(3):
            with self.subTest(name):
                self.assertEqual([cluster.place("old") for _ in range(replicas)], [True] * replicas)
                self.assertEqual(len({node[HOST] for _, node in cluster.placed}), replicas)
        front = Cluster(Site("active").get("Deployment", "reconciled-front"), nodes(2))
        self.assertEqual([front.place("old") for _ in range(3)], [True, True, False])

    def test_a_release_replaces_every_pod(self):
        for name, cluster, replicas in self.clusters(3):
            with self.subTest(name):
                for _ in range(replicas):
                    cluster.place("old")
                self.assertEqual(cluster.roll("old", "new"), replicas)

    def test_a_lost_node_of_three_does_not_stop_a_release(self):
        deployment = Site("active").get("Deployment", "reconciled-front")
        cluster = Cluster(deployment, nodes(3))
        for _ in range(3):
            cluster.place("old")
        cluster.lose(0)
        self.assertEqual(cluster.roll("old", "new"), 2)
        self.assertEqual(cluster.of("old"), 0)

    def test_nodes_without_the_label_of_a_zone_get_pods(self):
        for name, cluster, replicas in self.clusters(3, zones=()):
            with self.subTest(name):
                self.assertEqual([cluster.place("old") for _ in range(replicas)], [True] * replicas)

    def test_one_zone_that_is_left_takes_the_pods(self):
        for name, cluster, replicas in self.clusters(3, zones=("a",)):
            with self.subTest(name):
                self.assertEqual([cluster.place("old") for _ in range(replicas)], [True] * replicas)


if __name__ == "__main__":
    unittest.main()
