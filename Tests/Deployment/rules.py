"""What the manifests must keep. Each rule has the name of a row of the table in deploy/k8s/README.md."""

from manifests import EVERY

RULES = {}


class Rule:
    """A name, what finds the violations in a site, and the overlays that it is about."""

    def __init__(self, name, find, overlays):
        self.name, self.find, self.overlays = name, find, overlays

    def findings(self, site):
        """Sentences that say what is wrong; none where it does not apply."""
        return list(self.find(site)) if site.overlay in self.overlays else []


def rule(name, overlays=EVERY):
    """Registers a generator of findings as the rule of this name."""

    def register(find):
        assert name not in RULES, f"two rules are named {name}"
        RULES[name] = Rule(name, find, overlays)
        return find

    return register
