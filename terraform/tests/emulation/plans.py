"""Judges plans: what the serving site needs may not be replaced or deleted, by whatever plan.

terraform/run leaves each plan that it applies where this finds it. The rule of what may go is that of judge.jq, which
terraform/run uses for everybody.
"""

import json
import pathlib
import subprocess

from claims import holds

# As in the judge's file.
MAY_GO = ("aws_cloudwatch_metric_alarm", "aws_db_instance_automated_backups_replication", "aws_backup_vault_lock_configuration")
JUDGE = pathlib.Path(__file__).parents[2] / "judge.jq"


class Plans:
    def __init__(self, directory: pathlib.Path):
        self.directory = directory
        self.judged = []

    def judge(self, serving: str | None) -> None:
        for path in sorted(self.directory.glob("*.json")):
            if path in self.judged:
                continue
            self.judged.append(path)
            place = path.stem.split("-", 1)[1]
            taken = subprocess.run(["jq", "-r", "-f", str(JUDGE), str(path)], capture_output=True, text=True, check=True)
            lines = taken.stdout.split("\n")[:-1]
            if serving is None:
                holds(not lines, f"{place}: before anything is lost no plan takes anything away: {lines}")
            elif place in (serving, "shared"):
                holds(not lines, f"{place}, while {serving} serves: {lines}")
            elif place == "joined":
                holds(not names_of(path, serving), f"joined takes something from {serving}: {names_of(path, serving)}")
            # Also of another place: what is deleted is that place's own.
            holds(not named(path, serving), f"{place} deletes what bears the name of {serving}: {named(path, serving)}")

    def states(self) -> list[dict]:
        """What was planned for each place last, with the values."""
        last = {path.stem.split("-", 1)[1]: path for path in sorted(self.directory.glob("*.json"))}
        return [json.loads(path.read_text()) for path in last.values()]


def deletions(path: pathlib.Path) -> list[dict]:
    plan = json.loads(path.read_text())
    return [c for c in plan.get("resource_changes", [])
            if c["mode"] == "managed" and "delete" in c["change"]["actions"] and c["type"] not in MAY_GO]


def names_of(path: pathlib.Path, site: str) -> list[str]:
    return [c["address"] for c in deletions(path) if site in json.dumps(c["change"]["before"]) or site in c["address"]]


def named(path: pathlib.Path, site: str | None) -> list[str]:
    """Deletions of what is named after a site: a name, an identifier, a bucket, an alias."""
    if site is None:
        return []
    found = []
    for change in deletions(path):
        before = change["change"]["before"] or {}
        names = [str(before.get(key) or "") for key in ("name", "identifier", "bucket", "fqdn", "tags")]
        if any(f"reconciled-{site}" in n or n.startswith(f"{site}.") for n in names):
            found.append(change["address"])
    return found
