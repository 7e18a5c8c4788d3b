"""The invariants of docs/invariants.md that can be seen from outside: the providers' ledgers, the books, and what
callers were promised, held against each other. Nothing here derives a key or reads a table of the daemon."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from evidence import Evidence, Line

FINAL = {"succeeded", "canceled", "failed"}
WRITES = {"authorize", "sale", "capture", "void", "refund"}


@dataclass
class Verdict:
    """One invariant: whether it held, by how many it was judged, and what breaks it."""

    name: str
    sentence: str
    judged: int
    violations: list[str] = field(default_factory=list)
    # Where nothing could be judged, it did not hold.
    could_be_judged: bool = True

    @property
    def holds(self) -> bool:
        return self.could_be_judged and not self.violations

    def document(self) -> dict:
        return {
            "name": self.name, "sentence": self.sentence, "holds": self.holds, "judged": self.judged,
            "could_be_judged": self.could_be_judged, "violations": len(self.violations),
            "examples": self.violations[:10],
        }


def judge(evidence: Evidence) -> list[Verdict]:
    verdicts = [
        charged_twice(evidence), acknowledged_kept(evidence), told_stands(evidence), books_agree(evidence),
        sums_agree(evidence), states_mean(evidence), nothing_in_doubt(evidence), permitted(evidence),
        chain_unbroken(evidence),
    ]
    if evidence.repairs or forced(evidence):
        verdicts.append(taken_out_by_two(evidence))
    if site_promotions(evidence):
        verdicts.append(one_site(evidence))
    if evidence.has("recovery_window"):
        verdicts.append(asked_first(evidence))
    if not evidence.sides_were_read:
        for verdict in verdicts:
            verdict.could_be_judged = False
    return verdicts


def charged_twice(evidence: Evidence) -> Verdict:
    verdict = Verdict("charged-twice", "No leg is charged more than once.", len(evidence.transactions))
    places: dict[tuple, list[Line]] = defaultdict(list)
    for line in evidence.transactions:
        if line.charges > 1:
            verdict.violations.append(f"key {line.key}: {line.words()}")
        if line.payment is not None and line.charges:
            places[line.payment, line.leg].append(line)
    for (payment, leg), found in places.items():
        if len(found) > 1:
            verdict.violations.append(f"{payment} leg {leg}: " + " and ".join(line.words() for line in found))
    for provider, ledger in evidence.ledgers.items():
        verdict.violations += [f"{provider} says so of {key}" for key in ledger["charged_twice"]]
    return verdict


def forced(evidence: Evidence) -> set[str]:
    """Payments of which a provider recorded another amount than it was asked for: nothing that is done here makes that
    right, so they are for people, and only they are. The first request that is executed under a key records it."""
    owners = {(line.provider, line.key): line.payment for line in evidence.transactions}
    found = set()
    for provider, requests in evidence.requests.items():
        recorded: set[tuple] = set()
        for request in requests:
            place = (request["operation"], request["key"], request.get("entry_key"))
            if not request["executed"] or place in recorded:
                continue
            recorded.add(place)
            if request.get("fault") == "amount_changed" and request.get("result") in (201, 402):
                found.add(owners.get((provider, request["key"])))
    return found - {None}


def taken_out(evidence: Evidence) -> set[str]:
    """Payments about which one person proposed something, and another one approved it."""
    return {
        repair["payment_id"] for repair in evidence.repairs
        if repair["payment_id"] and repair["state"] == "approved"
        and repair["decision"]["by"] != repair["proposed_by"]
    }


def acknowledgements(evidence: Evidence) -> dict[str, dict]:
    """By payment, the first acknowledgement of each."""
    found: dict[str, dict] = {}
    for line in evidence.journal:
        if line["event"] == "acknowledged":
            found.setdefault(line["id"], line)
    return found


# Clocks of callers and databases may differ by so much.
CLOCKS_MS = 2000


def milliseconds_of(instant: str) -> int:
    return int(datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp() * 1000)


def made_anew(evidence: Evidence, acknowledged: dict[str, dict]) -> set[str]:
    """Payments whose row is younger than their acknowledgement: the row that was acknowledged was lost, and a caller
    who repeated or a comparison made another one."""
    return {
        identifier for identifier, line in acknowledged.items()
        if identifier in evidence.books
        and milliseconds_of(evidence.books[identifier]["created_at"]) > line["at"] + CLOCKS_MS
    }


def left_to_people(evidence: Evidence) -> set[str]:
    """Payments of which a row that was told is lost while the payment itself is there, a refund's for example: the
    provider knows more than the books. Where a loss is allowed, that is as it should be if the comparison has found it
    and keeps it for people; elsewhere it is nothing that may be."""
    if not evidence.drill["allowed_loss"]:
        return set()
    return {each["payment"] for each in evidence.discrepancies if each["payment"] in evidence.books}


def last_told(evidence: Evidence) -> dict[str, dict]:
    """The last that a caller was told of each payment."""
    return {line["id"]: line for line in evidence.journal if line["event"] == "told"}


def agrees(told: dict, booked: dict) -> bool:
    figures = (booked["captured"]["value"], booked["refunded"]["value"])
    return booked["state"] == told["state"] and figures == (told["captured"], told["refunded"])


def lost(evidence: Evidence) -> list[dict]:
    """The set difference: acknowledged, and its row not in the books, whatever became of it.

    A payment that was not there when its caller looked is lost even if the caller asked for it anew."""
    if not evidence.sides_were_read:
        return []
    acknowledged = acknowledgements(evidence)
    vanished = {line["id"] for line in evidence.journal if line["event"] == "vanished"}
    absent = {identifier for identifier in acknowledged if identifier not in evidence.books}
    gone = absent | (vanished & acknowledged.keys()) | made_anew(evidence, acknowledged)
    missing = [acknowledged[identifier] for identifier in sorted(gone)]
    promoted = evidence.last_mark("promoted")
    if not evidence.drill["allowed_loss"] or promoted is None:
        return missing
    # The payment is there, and what its caller was told last is not: a later row was lost, a cancel's for example. How
    # long ago that may have been is judged by the RPO.
    return missing + [
        line for identifier, line in sorted(last_told(evidence).items())
        if identifier not in gone and identifier in evidence.books and line["at"] <= promoted
        and not agrees(line, evidence.books[identifier])]


def acknowledged_kept(evidence: Evidence) -> Verdict:
    acknowledged = acknowledgements(evidence)
    verdict = Verdict(
        "acknowledged-kept", "Every acknowledged payment is readable afterwards (set difference).", len(acknowledged))
    missing = [f"{line['id']} ({line['key']}), acknowledged by {line['server'] or '?'}" for line in lost(evidence)]
    if evidence.drill["allowed_loss"]:
        # The replication of this drill may lose rows; how much is judged by the RPO, what becomes of it by the books.
        verdict.sentence += " This replication may lose some: judged by the RPO instead."
    else:
        verdict.violations = missing
    verdict.could_be_judged = bool(acknowledged)
    return verdict


def told_stands(evidence: Evidence) -> Verdict:
    """The last that a caller was told of a payment, against the books; a lost row is not a changed one."""
    last = last_told(evidence)
    verdict = Verdict("told-stands", "What callers were told is what the books say.", len(last))
    gone = {line["id"] for line in lost(evidence)} if evidence.drill["allowed_loss"] else set()
    decided = taken_out(evidence)
    for identifier, told in last.items():
        booked = evidence.books.get(identifier)
        # What was lost, where that is allowed, is judged by the RPO; that it is settled, by the books.
        if booked is None or identifier in gone:
            continue
        # What is with people has no end yet: they decided after its caller had stopped to ask.
        if told["state"] == "quarantined" and identifier in decided:
            continue
        if not agrees(told, booked):
            verdict.violations.append(
                f"{identifier}: told {told['state']} {told['captured']}/{told['refunded']}, books {booked['state']} "
                f"{booked['captured']['value']}/{booked['refunded']['value']}")
    verdict.could_be_judged = bool(last)
    return verdict


def books_agree(evidence: Evidence) -> Verdict:
    """Leg by leg, from the provider's own metadata. What moves no money need not be known to both."""
    verdict = Verdict("books-agree", "Ledgers and books agree, leg by leg.", 0)
    places: dict[tuple, list[Line]] = defaultdict(list)
    for line in evidence.transactions:
        if line.payment is None and (line.captured != line.refunded or line.held):
            verdict.violations.append(f"names no payment: {line.words()}")
        places[line.payment, line.leg].append(line)
    for (payment, leg), found in places.items():
        known = payment in evidence.books and leg is not None and leg < len(evidence.books[payment]["legs"])
        if payment is not None and not known and any(line.captured != line.refunded or line.held for line in found):
            text = " and ".join(line.words() for line in found)
            verdict.violations.append(f"{payment} leg {leg} is not in the books: {text}")
    contradicted = left_to_people(evidence)
    anew = made_anew(evidence, acknowledgements(evidence))
    for payment in evidence.books.values():
        if payment["id"] in contradicted:
            continue
        for leg in payment["legs"]:
            verdict.judged += 1
            found = places.get((payment["id"], leg["index"]), [])
            if payment["id"] in anew:
                # A comparison books an orphan's legs as it finds them; here no two legs are at one provider.
                found = [line for line in evidence.transactions
                         if (line.payment, line.provider) == (payment["id"], leg["provider"])]
            theirs = (sum(line.captured for line in found), sum(line.refunded for line in found))
            ours = (leg["captured"]["value"], leg["refunded"]["value"])
            held = sum(line.held for line in found)
            if ours != theirs or (payment["state"] in FINAL and held):
                verdict.violations.append(
                    f"{payment['id']} leg {leg['index']} ({payment['state']}): captured/refunded here "
                    f"{ours[0]}/{ours[1]}, there {theirs[0]}/{theirs[1]}, held there {held}")
    verdict.could_be_judged = verdict.judged > 0
    return verdict


def sums_agree(evidence: Evidence) -> Verdict:
    verdict = Verdict("sums-agree", "Captured less refunded is the same on both sides, by provider and currency.", 0)
    ours: dict[tuple, int] = defaultdict(int)
    contradicted = left_to_people(evidence)
    for payment in evidence.books.values():
        if payment["id"] in contradicted:
            continue
        for leg in payment["legs"]:
            currency = leg["amount"]["currency"]
            ours[leg["provider"], currency] += leg["captured"]["value"] - leg["refunded"]["value"]
    theirs: dict[tuple, int] = defaultdict(int)
    for provider, ledger in evidence.ledgers.items():
        for total in ledger["totals"]:
            theirs[provider, total["currency"]] += total["net"]
    for line in evidence.transactions:
        if line.payment in contradicted:
            theirs[line.provider, "JPY"] -= line.captured - line.refunded
    for place in sorted(ours.keys() | theirs.keys()):
        verdict.judged += 1
        if ours[place] != theirs[place]:
            verdict.violations.append(f"{place[0]} {place[1]}: here {ours[place]}, there {theirs[place]}")
    return verdict


def states_mean(evidence: Evidence) -> Verdict:
    verdict = Verdict(
        "states-mean-money", "Succeeded means captured as asked; failed and canceled mean nothing is kept.",
        len(evidence.books))
    for payment in evidence.books.values():
        captured, refunded = payment["captured"]["value"], payment["refunded"]["value"]
        if payment["state"] == "succeeded" and captured != payment["amount"]["value"]:
            verdict.violations.append(f"{payment['id']} succeeded with {captured} of {payment['amount']['value']}")
        if payment["state"] in ("failed", "canceled") and captured != refunded:
            verdict.violations.append(f"{payment['id']} {payment['state']} with {captured - refunded} kept")
    return verdict


def nothing_in_doubt(evidence: Evidence) -> Verdict:
    verdict = Verdict(
        "nothing-in-doubt",
        "At rest every payment is final, nothing waits for people, and every caller has its answer.",
        len(evidence.books))
    for payment in evidence.books.values():
        if payment["state"] not in FINAL:
            verdict.violations.append(f"{payment['id']} is {payment['state']}")
    given_up = [line for line in evidence.journal if line["event"] == "gave_up"]
    verdict.violations += [f"{line['key']} has no answer: {line['why']}" for line in given_up]
    ends = [line for line in evidence.journal if line["event"] == "ended"]
    verdict.could_be_judged = len(ends) == 1 and ends[0]["broken"] == 0
    refused = [line for line in evidence.journal if line["event"] == "refused"]
    verdict.violations += [f"{line['key']} was refused: {line['status']} {line['problem']}" for line in refused]
    return verdict


def taken_out_by_two(evidence: Evidence) -> Verdict:
    """What a provider contradicted went to people, two of them took it out, and nothing else was with them."""
    wanted = forced(evidence)
    verdict = Verdict(
        "two-people", "Exactly what a provider contradicted was with people, and two of them took each out.",
        len(wanted))
    found = taken_out(evidence)
    verdict.violations += [f"{payment} was not taken out by two people" for payment in sorted(wanted - found)]
    verdict.violations += [f"{payment} was with people for nothing" for payment in sorted(found - wanted)]
    for repair in evidence.repairs:
        if repair["state"] == "approved" and repair["decision"]["by"] == repair["proposed_by"]:
            verdict.violations.append(f"{repair['id']} was approved by {repair['proposed_by']}, who had proposed it")
    return verdict


def permitted(evidence: Evidence) -> Verdict:
    """What a payment permits is not refused, also right after rows were lost: a caller believes what it is told, and a
    hold that is not captured is left."""
    operations = [line for line in evidence.journal if line["event"] in ("operation", "refused_operation")]
    verdict = Verdict("nothing-refused-wrongly", "No operation is refused that its payment permits.", len(operations))
    for line in operations:
        booked = evidence.books.get(line["id"])
        if line["event"] == "refused_operation" and booked is not None and booked["state"] == "succeeded":
            verdict.violations.append(
                f"{line['id']}: {line['operation']} was refused ({line['problem']}), and it succeeded")
    return verdict


def chain_unbroken(evidence: Evidence) -> Verdict:
    verdict = Verdict("audit-chain", "Trails and seals are unbroken (reconciled payments verify).", len(evidence.books))
    verdict.could_be_judged = evidence.verify_status is not None
    if evidence.verify_status:
        said = evidence.verify_text.splitlines()[-5:] or ["nothing was said"]
        verdict.violations = [f"exit {evidence.verify_status}: {line}" for line in said]
    return verdict


def site_promotions(evidence: Evidence) -> list[tuple[int, str]]:
    """When which site was promoted, in order; servers are named by site and number."""
    marks = [mark for mark in evidence.marks if mark["mark"] == "promoted" and mark["text"].startswith("site ")]
    return sorted((mark["at"], mark["text"].removeprefix("site ")) for mark in marks)


def one_site(evidence: Evidence) -> Verdict:
    """From a promotion to the next one nobody gets an answer of another site."""
    promotions = site_promotions(evidence)
    answers = [
        line for line in evidence.journal
        if line["event"] in ("acknowledged", "told", "operation") and line.get("server")
        and line["at"] > promotions[0][0]
    ]
    verdict = Verdict("one-site", "After a promotion only the promoted site answers.", len(answers))
    for line in answers:
        since, site = [promotion for promotion in promotions if promotion[0] < line["at"]][-1]
        if not line["server"].startswith(site):
            verdict.violations.append(
                f"{line['key']} {line['event']} by {line['server']}, {line['at'] - since} ms after site {site} was "
                "promoted")
    verdict.could_be_judged = bool(answers)
    return verdict


def asked_first(evidence: Evidence) -> Verdict:
    """In a recovery window an effect that the store does not know is asked about before it is sent: so the first
    request about any key after the promotion is an inquiry."""
    since = evidence.mark("recovery_window")
    verdict = Verdict(
        "asked-before-sent", "In the recovery window every key is asked about before anything is sent under it.", 0)
    for provider, requests in evidence.requests.items():
        seen: set[str] = set()
        for request in requests:
            if request["origin"] != "client" or request["at"] <= since or request["key"] in seen:
                continue
            if request["operation"] == "list":
                continue
            seen.add(request["key"])
            verdict.judged += 1
            if request["operation"] in WRITES:
                verdict.violations.append(f"{provider} {request['key']}: {request['operation']} came first")
    verdict.could_be_judged = verdict.judged > 0
    return verdict
