"""Holds the providers' ledgers against what callers were told and what the daemon's books say."""

from .caller import FINAL


class Judge:
    """Judges one stage: `providers` (name -> Provider), one or more callers."""

    def __init__(self, providers, callers):
        self.providers = providers
        self.callers = callers

    def lines(self, payment):
        found = [(each.name, line) for each in self.providers for line in self._of(each, payment)]
        return found

    def net(self, payment):
        """What the providers keep of this payment's money."""
        return sum(line.net for _, line in self.lines(payment))

    def held(self, payment):
        return sum(line.held for _, line in self.lines(payment))

    def given_back(self, payment):
        return sum(line.given_back for _, line in self.lines(payment))

    def findings(self, still_moving=()):
        """Every harm that can be seen now, in plain words. Payments in `still_moving` are not held to be at rest."""
        self.read_all()
        found = self.charged_twice() + self.given_back_twice()
        for payment in sorted(self.payments()):
            found += self.two_finals(payment)
            if payment not in still_moving:
                found += self.misled(payment) + self.books_differ(payment)
        return found

    def read_all(self):
        """Asks for every payment once more, so that the daemon's books are those of now."""
        for caller in self.callers:
            if not caller.daemon.is_running:
                continue
            for payment in {told.payment for told in caller.told if told.payment}:
                caller.read(payment)

    def payments(self):
        return {told.payment for caller in self.callers for told in caller.told if told.payment}

    def charged_twice(self):
        """More than one line with money for one leg of one payment."""
        legs = {}
        for provider in self.providers:
            for line in provider.ledger.lines:
                if line.taken > 0 and line.payment and not line.metadata.get("planted"):
                    legs.setdefault((provider.name, line.payment, line.leg), []).append(line)
        return [
            f"charged twice: {payment} leg {leg} at {name}: {[line.taken for line in lines]}"
            for (name, payment, leg), lines in legs.items() if sum(line.net > 0 for line in lines) > 1]

    def given_back_twice(self):
        return [
            f"given back {line.given_back} of {line.taken}: {line.payment} at {provider.name}"
            for provider in self.providers for line in provider.ledger.lines if line.given_back > line.taken]

    def two_finals(self, payment):
        states = {told.state for told in self._told(payment) if told.operation != "refund" and told.state in FINAL}
        return [f"told two finals: {payment}: {sorted(states)}"] if len(states) > 1 else []

    def misled(self, payment):
        """The last final state that anybody was told, against the money."""
        finals = [told for told in self._told(payment) if told.operation != "refund" and told.state in FINAL]
        if not finals:
            return []
        state, net, held = finals[-1].state, self.net(payment), self.held(payment)
        if state in ("failed", "canceled") and (net or held):
            return [f"told {state}, and {net} charged, {held} held: {payment}"]
        if state == "succeeded":
            due = finals[-1].body["captured"]["value"] - self.refunds_told(payment)
            if net != due and not self._refund_is_open(finals[-1].body):
                return [f"told succeeded with {due} to keep, and {net} charged: {payment}"]
        return []

    def refunds_told(self, payment):
        """The money of refunds that were told succeeded."""
        latest = {told.body["id"]: told for told in self._told(payment) if told.operation == "refund" and told.state}
        reads = [told.body for told in self._told(payment) if "refunds" in told.body]
        refunds = {key: told.body for key, told in latest.items()}
        if reads:
            refunds.update({each["id"]: each for each in reads[-1]["refunds"]})
        return sum(each["amount"]["value"] for each in refunds.values() if each["state"] == "succeeded")

    def books_differ(self, payment):
        """Captured and refunded of each leg by the daemon, against the ledger, once the payment is final."""
        told = self._last_read(payment)
        if told is None or told.state not in FINAL or self._refund_is_open(told.body):
            return []
        found = []
        for leg in told.body["legs"]:
            net = sum(
                line.net for name, line in self.lines(payment)
                if name == leg["provider"] and line.leg in (None, str(leg["index"])))
            books = leg["captured"]["value"] - leg["refunded"]["value"]
            if books != net:
                found.append(f"books say {books}, the ledger {net}: {payment} leg {leg['index']}")
        return found

    def _of(self, provider, payment):
        """The lines that name the payment, and those that share a key with one that does."""
        keys = {line.key for line in provider.ledger.lines if line.payment == payment}
        return [
            line for line in provider.ledger.lines
            if line.payment == payment or (line.payment is None and line.key in keys)]

    def _told(self, payment):
        found = [told for caller in self.callers for told in caller.told if told.payment == payment]
        return sorted(found, key=lambda told: told.at)

    def _last_read(self, payment):
        reads = [
            told for told in self._told(payment)
            if told.status < 300 and "legs" in told.body and "refunds" in told.body]
        return reads[-1] if reads else None

    @staticmethod
    def _refund_is_open(body):
        return any(each["state"] in ("processing", "quarantined") for each in body.get("refunds", []))
