"""Renders the overlays and finds things in them."""

import copy
import functools
import pathlib
import re
import shutil
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
OVERLAYS = ROOT / "deploy" / "k8s" / "overlays"
#: Overlays of real sites, the same with the components that none of them uses, and those to try the daemon with.
REAL = ("active", "standby-hot", "standby-warm")
OPTIONS, LEASE = "options", "witness-lease"
EXTENDED = (OPTIONS, LEASE)
LOCAL = ("local", "local-postgres")
EVERY = REAL + EXTENDED + LOCAL
#: What is applied in the third cluster: no site, and no daemon.
WITNESS = "witness"


def directory(overlay):
    """Where an overlay's kustomization is."""
    if overlay == WITNESS:
        return ROOT / "deploy" / "k8s" / "witness"
    return (ROOT / "Tests" / "Deployment" / "overlays" if overlay in EXTENDED else OVERLAYS) / overlay


@functools.cache
def rendered(overlay):
    """The text that would be applied."""
    return rendered_at(directory(overlay))


def rendered_at(place):
    """The same of the kustomization in a directory."""
    command = ["kubectl", "kustomize"] if shutil.which("kubectl") else ["kustomize", "build"]
    result = subprocess.run(command + [str(place)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{place} cannot be rendered: {result.stderr}")
    return result.stdout


@functools.cache
def parsed(overlay):
    """The objects of an overlay; to be copied, not changed."""
    return list(yaml.safe_load_all(rendered(overlay)))


class Site:
    """The objects of one overlay."""

    def __init__(self, overlay, objects=None):
        self.overlay = overlay
        self.objects = objects if objects is not None else copy.deepcopy(parsed(overlay))

    def copy(self):
        """One that may be changed."""
        return Site(self.overlay, copy.deepcopy(self.objects))

    @property
    def is_real(self):
        """Whether it is meant for money."""
        return self.overlay not in LOCAL

    def of_kind(self, kind):
        return [item for item in self.objects if item["kind"] == kind]

    def get(self, kind, name):
        """The object, or None. The hash at the end of a generated name does not count."""
        for item in self.of_kind(kind):
            if item["metadata"]["name"] == name or (
                kind == "ConfigMap" and re.fullmatch(re.escape(name) + "-[a-z0-9]{10}", item["metadata"]["name"])
            ):
                return item
        return None

    def daemons(self):
        """The Deployments that run the daemon."""
        return [item for item in self.of_kind("Deployment") if "reconciled" in containers(pod_of(item))]

    def pods(self):
        """(name, pod) of everything that makes pods; the pod has metadata and spec."""
        found = []
        for kind in ("Deployment", "StatefulSet", "Job", "CronJob"):
            found += [(f"{kind} {item['metadata']['name']}", pod_of(item)) for item in self.of_kind(kind)]
        return found

    def our_pods(self):
        """Those that run the daemon's image."""
        return [(name, pod) for name, pod in self.pods() if "reconciled" in containers(pod)]

    def configuration(self):
        """The daemon's configuration file."""
        return self.get("ConfigMap", "reconciled-config")["data"]["reconciled.yaml"]

    def site_variables(self):
        """What is laid over the file."""
        return self.get("ConfigMap", "reconciled-site")["data"]


def pod_of(item):
    """The pod template of an object."""
    spec = item["spec"]
    return spec["jobTemplate"]["spec"]["template"] if item["kind"] == "CronJob" else spec["template"]


def containers(pod):
    """The pod's containers by name."""
    return {container["name"]: container for container in pod["spec"]["containers"]}


def daemon(pod):
    """The daemon's container of a pod."""
    return containers(pod)["reconciled"]


def look(value, *path, default=None):
    """What lies at the end of a path of keys, or the default."""
    for key in path:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return default
    return value


def selects(selector, labels):
    """Whether labels match a selector of equalities."""
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def seconds(text):
    """A duration of the daemon's configuration."""
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h|d)", str(text)).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}[unit]


def source(path):
    """A file of the project."""
    return (ROOT / path).read_text(encoding="utf-8")
