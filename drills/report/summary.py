"""The newest report of each drill, as a table for docs/reliability.md."""

import json
import sys
from pathlib import Path

from markdown import count_of, measured, seconds, table


def newest(directory: Path) -> list[dict]:
    found: dict[tuple, dict] = {}
    for path in sorted(directory.glob("*/report.json"), key=lambda path: path.stat().st_mtime):
        document = json.loads(path.read_text(encoding="utf-8"))
        found[document["name"], document["drill"]["mode"], document["drill"]["times"]] = document
    return [found[place] for place in sorted(found)]


def row(document: dict) -> list[str]:
    objectives = {each["name"]: measured(each) for each in document["objectives"]}
    spread = document.get("rto_ms") or {}
    outage = seconds(spread.get("p50")) if spread.get("runs", 0) == 1 else (
        f"p50 {seconds(spread['p50'])}, p99 {seconds(spread['p99'])}" if spread else "-")
    broken = [each["name"] for each in document["invariants"] if not each["holds"]]
    return [
        f"{document['name']}, {document['drill']['mode']}", document["drill"]["times"], outage,
        objectives.get("approval_to_settled", "-"), objectives.get("backlog", "-"),
        f"{count_of(document['loss'])} of {document['loss']['acknowledged']}",
        ", ".join(broken) or "none", "yes" if document["passed"] else "**no**",
    ]


def main() -> int:
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else "drill-reports")
    documents = newest(directory)
    if not documents:
        print(f"there is no report in {directory}", file=sys.stderr)
        return 1
    print(table(
        ["drill, mode", "rounds", "RTO", "approval to settled", "backlog settled", "acknowledged lost",
         "invariants broken", "passed"], [row(document) for document in documents]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
