"""Judges what the adapter for Stripe sent, and what the simulator answered, by the types of Stripe's own library.

    shapes.py LIBRARY RECORD

LIBRARY is the directory of the package `stripe`, whose types are generated from Stripe's description of its API. They
are read as text: what the library does is of no concern. RECORD is what recorder.py wrote.
"""

import ast
import collections
import json
import pathlib
import re
import sys
import urllib.parse

#: Each request that the adapter may send: the type of its parameters.
ROUTES = [
    ("POST", r"/v1/payment_intents", "PaymentIntent.CreateParams"),
    ("POST", r"/v1/payment_intents/pi_\w+/confirm", "PaymentIntent.ConfirmParams"),
    ("POST", r"/v1/payment_intents/pi_\w+/capture", "PaymentIntent.CaptureParams"),
    ("POST", r"/v1/payment_intents/pi_\w+/cancel", "PaymentIntent.CancelParams"),
    ("GET", r"/v1/payment_intents/pi_\w+", "PaymentIntent.RetrieveParams"),
    ("POST", r"/v1/refunds", "Refund.CreateParams"),
    ("GET", r"/v1/refunds", "Refund.ListParams"),
    ("GET", r"/v1/charges", "Charge.ListParams"),
    ("GET", r"/v1/charges/(?:ch|py)_\w+", "Charge.RetrieveParams"),
    ("GET", r"/v1/balance_transactions", "BalanceTransaction.ListParams"),
    ("GET", r"/v1/disputes", "Dispute.ListParams"),
]
OBJECTS = {
    "payment_intent": "PaymentIntent", "charge": "Charge", "refund": "Refund", "dispute": "Dispute",
    "balance_transaction": "BalanceTransaction",
}
#: docs.stripe.com/api/errors. The library has no type of them.
ERRORS = {"api_error", "card_error", "idempotency_error", "invalid_request_error"}
ERROR_MEMBERS = {"type", "code", "message", "param", "doc_url", "decline_code", "charge", "payment_intent"}
LONGEST_KEY = 255
SIMPLE = {"str": str, "int": int, "bool": bool}


class Library:
    """The types of the library, by name: `PaymentIntent.CreateParams`."""

    def __init__(self, directory):
        self.members, self.bases = {}, {}
        for file in sorted(pathlib.Path(directory).glob("_*.py")):
            self._read(ast.parse(file.read_text(encoding="utf-8")), "")
        if not self.members:
            raise SystemExit(f"no types of the library are in {directory}")

    def _read(self, node, prefix):
        for item in node.body:
            if isinstance(item, ast.ClassDef):
                name = prefix + item.name
                self.members[name] = {
                    member.target.id: self._text(member.annotation) for member in item.body
                    if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)
                }
                self.bases[name] = [ast.unparse(base) for base in item.bases]
                self._read(item, name + ".")

    @staticmethod
    def _text(annotation):
        """Its type; a type in quotation marks without them."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return annotation.value
        return re.sub(r"^NotRequired\[['\"](.*)['\"]\]$", r"\1", ast.unparse(annotation), flags=re.DOTALL)

    def all(self, name):
        """The members of a type, and of those that it is made from."""
        found = {}
        for base in self.bases[name]:
            if base in self.members:
                found |= self.all(base)
        return found | self.members[name]


def words(annotation):
    """The words that a type allows; none where it allows any."""
    match = re.search(r"Literal\[(.*?)\]", annotation, re.DOTALL)
    return set(re.findall(r"['\"]([^'\"]*)['\"]", match[1])) if match else set()


class Judge:
    """Counts what was judged and what is wrong."""

    def __init__(self, library):
        self.library = library
        self.judged, self.wrong = collections.Counter(), collections.Counter()

    def exchange(self, line):
        """One request and its answer."""
        url = urllib.parse.urlsplit(line["path"])
        # The simulator's name of the provider stands before it.
        path = "/" + url.path.split("/", 2)[2]
        kinds = [kind for method, form, kind in ROUTES if method == line["method"] and re.fullmatch(form, path)]
        if not kinds:
            self.wrong[f"{line['method']} {path} is no request of Stripe's"] += 1
            return
        self.judged[kinds[0]] += 1
        self._parameters(kinds[0], urllib.parse.parse_qsl(line["body"] or url.query, keep_blank_values=True))
        if line["method"] == "POST" and not 0 < len(line["key"] or "") <= LONGEST_KEY:
            self.wrong[f"{kinds[0]} has no good Idempotency-Key"] += 1
        self.value(json.loads(line["answer"]), kinds[0])

    def _parameters(self, kind, pairs):
        known = self.library.all(kind)
        for name, value in pairs:
            root = name.split("[")[0]
            if root not in known:
                self.wrong[f"{kind} has no parameter {name}"] += 1
            elif "[" not in name and words(known[root]) and value not in words(known[root]):
                self.wrong[f"{kind}: {name} cannot be {value}"] += 1

    def value(self, value, where):
        """An answer, or a part of one."""
        if isinstance(value, list):
            for item in value:
                self.value(item, where)
        if not isinstance(value, dict):
            return
        name = value.get("object")
        if name == "list":
            for member in {"data", "has_more", "url"} - value.keys():
                self.wrong[f"a list of {where} lacks {member}"] += 1
            self.value(value.get("data"), where)
        elif name in OBJECTS:
            self._object(value, name)
        elif "error" in value:
            self._error(value["error"])

    def _object(self, value, name):
        self.judged[name] += 1
        known = self.library.all(OBJECTS[name])
        for member, content in value.items():
            where = f"{name}.{member}"
            if member not in known:
                self.wrong[f"{where} does not exist"] += 1
                continue
            self._member(content, known[member], where)
            self.value(content, where)

    def _member(self, content, annotation, where):
        if content is None:
            if not annotation.startswith("Optional["):
                self.wrong[f"{where} is never null"] += 1
            return
        core = re.sub(r"^Optional\[(.*)\]$", r"\1", annotation, flags=re.DOTALL).strip()
        if core in SIMPLE and type(content) is not SIMPLE[core]:
            self.wrong[f"{where} is no {core}"] += 1
        elif core.startswith("Literal[") and content not in words(core):
            self.wrong[f"{where} is never {content}"] += 1

    def _error(self, error):
        self.judged["error"] += 1
        for member in error.keys() - ERROR_MEMBERS:
            self.wrong[f"error.{member} does not exist"] += 1
        if error.get("type") not in ERRORS:
            self.wrong[f"error.type is never {error.get('type')}"] += 1
        self.value(error.get("payment_intent"), "error")


def main(directory, record):
    judge = Judge(Library(directory))
    for line in pathlib.Path(record).read_text(encoding="utf-8").splitlines():
        judge.exchange(json.loads(line))
    for name, count in sorted(judge.judged.items()):
        print(f"    {name}: {count}")
    for name, count in sorted(judge.wrong.items()):
        print(f"wrong: {name} ({count} times)")
    missing = {kind for _, _, kind in ROUTES} - REQUESTS_OF_OTHERS - judge.judged.keys()
    for kind in sorted(missing):
        print(f"wrong: nothing was sent that {kind} describes")
    return 1 if judge.wrong or missing else 0


#: What the contract suite has no reason to send: refunds past a page, disputes, a charge by its identifier, the
#: intent of a payer who has not acted.
REQUESTS_OF_OTHERS = {
    "Refund.ListParams", "Dispute.ListParams", "Charge.RetrieveParams", "PaymentIntent.RetrieveParams",
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
