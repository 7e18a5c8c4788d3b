"""The table of what a standby costs and how it recovers, in terraform/README.md, from prices.json and the figures below.

    table.py            fails when the table in README.md is not this one
    table.py --write    writes it

The formula is here and nowhere else. Prices and times are estimates; README.md says of what kind.
"""

import itertools
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
README = HERE.parent / "README.md"
BEGIN, END = "<!-- costs: begin -->", "<!-- costs: end -->"
TIERS = ("on_demand", "warm", "hot")

PRICES = json.loads((HERE / "prices.json").read_text())
HOUR, MONTH, ASSUMED = PRICES["hourly"], PRICES["monthly"], PRICES["assumed"]
HOURS = PRICES["hours_per_month"]

# The module `site` judges the agreed objectives by the same figures. Cluster and database come up side by side; the
# workload after both; `switch` is the failover record: two health checks of 10 s and an answer that lives for 20 s.
RECOVERY = json.loads((HERE.parent / "modules/site/recovery.json").read_text())
MINUTES, LOST = RECOVERY["minutes"], RECOVERY["seconds_lost"]


def base() -> float:
    """What every standby has: load balancer, reserved addresses, keys, copies of backups and secrets, health check."""
    balancer = (HOUR["load_balancer"] + HOUR["load_balancer_capacity_unit"]) * HOURS
    # One address of the load balancer in each zone, and one of each NAT gateway, reserved.
    addresses = 2 * ASSUMED["zones"] * HOUR["public_address"] * HOURS
    keys = 4 * MONTH["key"]
    copies = ASSUMED["backup_gib"] * MONTH["backup_gib"] + ASSUMED["secrets"] * MONTH["secret"]
    return balancer + addresses + keys + copies + MONTH["health_check_https_fast"]


def cluster(tier: str) -> float:
    if tier == "on_demand":
        return 0
    control_plane = HOUR["eks_control_plane"] * HOURS + MONTH["key"]
    if tier == "warm":
        return control_plane
    nodes = ASSUMED["nodes"] * (
        HOUR["node_m6i_large"] * HOURS + ASSUMED["node_volume_gib"] * MONTH["node_volume_gib"])
    return control_plane + nodes + ASSUMED["zones"] * HOUR["nat_gateway"] * HOURS


def database(tier: str) -> float:
    if tier == "on_demand":
        return 0
    zones = "two_zones" if tier == "hot" else "one_zone"
    instance = HOUR["db_m6g_large_two_zones"] if tier == "hot" else HOUR["db_t4g_large_one_zone"]
    return instance * HOURS + ASSUMED["database_gib"] * MONTH[f"database_gib_{zones}"]


def third_place() -> float:
    """What the third region has, once for both sites: the witness in two zones, the secrets, three keys."""
    storage = ASSUMED["witness_gib"] * MONTH["database_gib_two_zones"]
    return HOUR["db_t4g_micro_two_zones"] * HOURS + storage + ASSUMED["secrets"] * MONTH["secret"] + 3 * MONTH["key"]


def lost(tier: str) -> str:
    """What was not copied yet."""
    seconds = LOST[tier]
    return f"{seconds // 60} min" if seconds >= 120 else f"{seconds} s"


def possible(c: str, d: str, w: str) -> bool:
    """The combinations that the module `site` allows."""
    return (w == "on_demand" or c != "on_demand") and (w != "hot" or (c == "hot" and d != "on_demand"))


def rows() -> list[str]:
    lines = [
        "| cluster | database | workload | USD a month | recovery time, min | may be lost |",
        "|---|---|---|---:|---:|---|",
    ]
    for c, d, w in itertools.product(TIERS, TIERS, TIERS):
        if possible(c, d, w):
            cost = base() + cluster(c) + database(d)
            time = max(MINUTES["cluster"][c], MINUTES["database"][d]) + MINUTES["workload"][w] + MINUTES["switch"]
            lines.append(f"| {c} | {d} | {w} | {cost:,.0f} | {math.ceil(time)} | {lost(d)} |")
    return [*lines, "", f"The third region costs about {third_place():,.0f} USD a month more, once for both sites: the witness in two zones, the secrets, keys."]


def main() -> int:
    text = README.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    wanted = before + BEGIN + "\n" + "\n".join(rows()) + "\n" + END + after
    if "--write" in sys.argv[1:]:
        README.write_text(wanted)
    elif wanted != text:
        print("the table of costs in terraform/README.md is not what costs/table.py computes; "
              "run: python3 terraform/costs/table.py --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
