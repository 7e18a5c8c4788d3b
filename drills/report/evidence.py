"""What a drill left in its directory, read into memory."""

import json
from dataclasses import dataclass, field
from pathlib import Path


def lines(path: Path) -> list[dict]:
    """A file that is not there is empty: the drill was broken off before. So is a last line that was cut."""
    if not path.exists():
        return []
    found = []
    with open(path, encoding="utf-8") as file:
        for text in file:
            try:
                found.append(json.loads(text))
            except json.JSONDecodeError:
                continue
    return found


@dataclass
class Line:
    """One transaction of a provider, with the payment and leg that its metadata name."""

    provider: str
    key: str
    payment: str | None
    leg: int | None
    status: str | None
    charges: int
    captured: int
    refunded: int
    held: int

    def words(self) -> str:
        text = f"{self.provider} {self.status or 'forgotten'}, captured {self.captured}"
        if self.charges > 1:
            text += f" in {self.charges} charges"
        return text + f", refunded {self.refunded}, held {self.held}"


@dataclass
class Evidence:
    """Everything, as it was written down."""

    directory: Path
    drill: dict
    marks: list[dict]
    steps: list[dict]
    journal: list[dict]
    books: dict[str, dict]
    discrepancies: list[dict]
    repairs: list[dict]
    ledgers: dict[str, dict]
    transactions: list[Line]
    requests: dict[str, list[dict]]
    sides_were_read: bool
    verify_status: int | None
    verify_text: str
    rounds: list[int] = field(default_factory=list)

    def mark(self, name: str, number: int | None = None) -> int | None:
        """When something was marked first, in a round or at all; milliseconds since 1970."""
        for mark in self.marks:
            if mark["mark"] == name and number in (None, mark["round"]):
                return mark["at"]
        return None

    def last_mark(self, name: str) -> int | None:
        """When something was marked last, in whatever round."""
        return max((mark["at"] for mark in self.marks if mark["mark"] == name), default=None)

    def has(self, name: str) -> bool:
        return self.mark(name) is not None


def read(directory: Path) -> Evidence:
    drill = json.loads((directory / "drill.json").read_text(encoding="utf-8"))
    ledgers = {
        path.stem.removeprefix("ledger-"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(directory.glob("ledger-*.json"))
    }
    status = directory / "verify.status"
    text = directory / "verify.txt"
    marks = lines(directory / "timeline.jsonl")
    return Evidence(
        directory=directory, drill=drill, marks=marks, steps=lines(directory / "steps.jsonl"),
        journal=sorted(lines(directory / "journal.jsonl"), key=lambda line: line["at"]),
        books={payment["id"]: payment for payment in lines(directory / "books.jsonl")},
        discrepancies=lines(directory / "discrepancies.jsonl"), repairs=lines(directory / "repairs.jsonl"),
        ledgers=ledgers,
        transactions=transactions(directory, ledgers),
        requests={name: lines(directory / f"requests-{name}.jsonl") for name in ledgers},
        sides_were_read=(directory / "books.jsonl").exists() and bool(ledgers),
        verify_status=int(status.read_text()) if status.exists() else None,
        verify_text=text.read_text(encoding="utf-8") if text.exists() else "",
        rounds=sorted({mark["round"] for mark in marks if mark["mark"] == "fault"}),
    )


def transactions(directory: Path, ledgers: dict[str, dict]) -> list[Line]:
    found = []
    for provider, ledger in ledgers.items():
        owners = {item["key"]: item.get("metadata") or {} for item in lines(directory / f"listing-{provider}.jsonl")}
        for item in ledger["transactions"]:
            owner = owners.get(item["key"], {})
            captured = sum(charge["amount"]["value"] for charge in item["charges"])
            leg = owner.get("leg")
            found.append(Line(
                provider=provider, key=item["key"], payment=owner.get("payment"),
                leg=int(leg) if leg is not None else None, status=item.get("status"), charges=len(item["charges"]),
                captured=captured, refunded=captured - item["net"], held=item["held"]))
    return found
