"""Applies the environments of terraform/ to an emulation of AWS, looks at it, destroys it, and applies it again.

    run.py TERRAFORM WORK [PART]    TERRAFORM: the directory terraform/; WORK: where the copy and the logs go;
                                    PART: together or apart, one of the two parts only

No module knows of the emulation: its endpoint comes from the environment (AWS_ENDPOINT_URL), the state is local by an
override file, and what moto lacks is taken out by the override files in modules/ beside this file.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
os.environ["MOTO_ACM_VALIDATION_WAIT"] = "1"

import boto3  # noqa: E402
import waitress  # noqa: E402
from moto.server import DomainDispatcherApplication, create_backend_app  # noqa: E402

import checks  # noqa: E402
from amended import amend  # noqa: E402
from once import Once  # noqa: E402

DOMAIN = "pay.example.com"
SETTINGS = {
    "account_id": "123456789012",
    "domain": DOMAIN,
    "active": {"site": "frankfurt", "region": "eu-central-1", "cidr": "10.10.0.0/16"},
    "standby": {"site": "ireland", "region": "eu-west-1", "cidr": "10.20.0.0/16"},
    "standby_tier": {"cluster": "hot", "database": "hot", "workload": "hot"},
    "providers_of_payments": ["card", "points"],
    "alarm_emails": ["on-call@example.com"],
    "cluster": {
        "administrators": ["arn:aws:iam::123456789012:role/platform"],
        "public_access_cidrs": ["203.0.113.0/24"],
    },
}
# A database leaves a final snapshot, which stays; another one of its name may not leave it under the same name.
SECOND_LIFE = {"final_snapshot_suffix": "final-again"}
# Far above what is usual (README.md), so that a hang ends and a slow machine does not.
LIMIT_SECONDS = 1200


class Terraform:
    """The terraform of one environment; its output goes to a log of its own."""

    def __init__(self, tree: pathlib.Path, environment: str, logs: pathlib.Path, endpoint: str):
        self.directory = tree / "environments" / environment
        self.environment = environment
        self.logs = logs
        self.runs = 0
        self.settings = dict(SETTINGS)
        self.process_environment = os.environ | {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
            "TF_IN_AUTOMATION": "1",
        }
        (self.directory / "backend_override.tf").write_text('terraform {\n  backend "local" {}\n}\n')
        (self.directory / "provider_override.tf").write_text(self.provider_overrides())
        self.run("init")

    def lose_other_region(self) -> None:
        """From now on nothing answers in the other site's region: each service there is a port that is closed."""
        services = ("backup", "ec2", "iam", "kms", "rds", "secretsmanager", "sts")
        lost = "".join(f'    {service} = "http://127.0.0.1:9"\n' for service in services)
        (self.directory / "provider_override.tf").write_text(
            self.provider_overrides().replace('"other"\n', '"other"\n  endpoints {\n' + lost + "  }\n"))

    def find_other_region(self) -> None:
        (self.directory / "provider_override.tf").write_text(self.provider_overrides())

    def provider_overrides(self) -> str:
        """A few attempts for a call, for each of the environment's providers: its own 25 take many minutes to fail."""
        aliases = {"active": [None, "other"], "standby": [None, "other"], "global": [None],
                   "both": ["active", "standby", "global"]}[self.environment]
        line = "  alias       = \"{}\"\n"
        return "\n".join(
            'provider "aws" {\n' + (line.format(alias) if alias else "") + "  max_retries = 6\n}\n"
            for alias in aliases)

    def run(self, *arguments: str, fails: bool = False) -> str:
        """Runs a command and returns its output; ends the test when it does not end as it should."""
        self.runs += 1
        log = self.logs / f"{self.environment}-{self.runs:02}-{arguments[0]}.log"
        start = time.monotonic()
        done = subprocess.run(
            ["terraform", *arguments, "-no-color"], cwd=self.directory, env=self.process_environment,
            capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        log.write_text(done.stdout + done.stderr)
        seconds = time.monotonic() - start
        if (done.returncode != 0) != fails:
            print(done.stdout[-2000:] + done.stderr[-6000:], file=sys.stderr)
            wanted = "it should fail" if fails else "it should not fail"
            raise SystemExit(f"{self.environment}: terraform {arguments[0]}: {wanted}; see {log}")
        if arguments[0] in ("apply", "destroy"):
            summary = [line for line in done.stdout.splitlines() if "complete! Resources" in line]
            said(f"{self.environment}: {summary[-1] if summary else arguments[0] + ' refused'} {seconds:.0f} s")
        return done.stdout + done.stderr

    def change(self, command: str, *arguments: str, fails: bool = False, **settings) -> str:
        self.settings |= settings
        (self.directory / "test.tfvars.json").write_text(json.dumps(self.settings))
        return self.run(command, "-auto-approve", "-var-file=test.tfvars.json", *arguments, fails=fails)

    def apply(self, **settings) -> str:
        output = self.change("apply", **settings)
        checks.holds("must be replaced" not in output, f"{self.environment}: an apply changes in place")
        return output

    def destroy(self) -> None:
        self.change("destroy")
        left = self.run("state", "list").split()
        checks.holds(not left, f"{self.environment}: nothing is left after destroy, but {left}")

    def state(self) -> dict:
        # What Terraform says to people may follow it.
        return json.JSONDecoder().raw_decode(self.run("show", "-json"))[0]


def said(text: str) -> None:
    print(f"    {text}", flush=True)


def copy(source: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """terraform/ with the overrides, without what was initialised elsewhere."""
    shutil.rmtree(work, ignore_errors=True)
    tree = work / "terraform"
    shutil.copytree(source, tree, symlinks=True,
                    ignore=shutil.ignore_patterns(".terraform", ".terraform.lock.hcl", "*.tfstate*", "*.tfvars"))
    shutil.copytree(source / "tests/emulation/modules", tree / "modules", dirs_exist_ok=True)
    return tree


def serve() -> tuple[str, Once]:
    """Starts the emulation in this process; its threads end with it."""
    amend()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    once = Once(DomainDispatcherApplication(create_backend_app))
    server = waitress.create_server(once, host="127.0.0.1", port=port, threads=16, connection_limit=1000)
    threading.Thread(target=server.run, daemon=True).start()
    return f"http://127.0.0.1:{port}", once


def both_sites(tree: pathlib.Path, work: pathlib.Path, endpoint: str) -> None:
    """Everything hot in one state: apply, look, refuse to be destroyed, destroy."""
    both = Terraform(tree, "both", work, endpoint)
    both.apply()
    checks.hot_sites(SETTINGS, endpoint)
    checks.policies(both.state())
    checks.no_passwords(both.state(), endpoint)
    said("both sites are as they should be; no policy has a wildcard; no state has a password")

    refusal = both.change("destroy", "-target=module.standby.module.database[0].aws_db_instance.this", fails=True)
    checks.holds("deletion" in refusal.lower() and "protect" in refusal.lower(),
                 "destroy is refused because of the database's protection")
    both.apply(protected=False)
    both.destroy()
    checks.nothing_left(SETTINGS, endpoint)
    checks.final_snapshot(SETTINGS, "active", "final", endpoint)


def sites_apart(tree: pathlib.Path, work: pathlib.Path, endpoint: str) -> None:
    """Three states, and an on-demand standby that becomes an active site: what recovery from nothing is."""
    active = Terraform(tree, "active", work, endpoint)
    standby = Terraform(tree, "standby", work, endpoint)
    everywhere = Terraform(tree, "global", work, endpoint)
    on_demand = {"cluster": "on_demand", "database": "on_demand", "workload": "on_demand"}
    hot = {"cluster": "hot", "database": "hot", "workload": "hot"}

    active.apply(protected=False, standby_tier=on_demand, database=SECOND_LIFE)
    standby.apply(protected=False, standby_tier=on_demand, database=SECOND_LIFE)
    everywhere.apply(protected=False)
    checks.failover_record(SETTINGS, endpoint)
    checks.on_demand_standby(SETTINGS, endpoint)
    steps = json.loads(standby.run("output", "-json", "site"))["promotion_steps"]
    checks.holds(any("create the cluster" in step for step in steps), f"the promotion creates the cluster: {steps}")
    addresses = json.loads(standby.run("output", "-json", "site"))["nat_addresses"]
    said("an on-demand standby: names, addresses and copies, no cluster and no database")

    # moto cannot restore from replicated backups; a replica, made and promoted, takes its place.
    standby.lose_other_region()
    standby.apply(standby_tier=hot, standby_copies_to_active_region=False)
    checks.holds(checks.is_replica(SETTINGS), "before its promotion the standby's database is a replica")
    standby.apply(standby_database_promoted=True)
    checks.promoted_standby(SETTINGS, endpoint)
    refusal = standby.change("apply", standby_copies_to_active_region=True, fails=True)
    checks.holds("127.0.0.1:9" in refusal, "the other region was really away")
    now = json.loads(standby.run("output", "-json", "site"))["nat_addresses"]
    checks.holds(now == addresses, f"the addresses on the providers' allow-lists stay: {addresses}, now {now}")
    checks.failover_record(SETTINGS, endpoint)
    said("without the other region the standby came up from nothing and was promoted; addresses and record stayed")
    standby.find_other_region()
    standby.apply()
    checks.copies_of_backups(SETTINGS, endpoint)

    everywhere.destroy()
    standby.destroy()
    active.destroy()
    checks.nothing_left(SETTINGS, endpoint)
    for part in ("active", "standby"):
        checks.final_snapshot(SETTINGS, part, SECOND_LIFE["final_snapshot_suffix"], endpoint)


def main() -> None:
    source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tree = copy(source, work)
    endpoint, once = serve()
    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    route53 = boto3.client("route53", region_name="us-east-1", endpoint_url=endpoint)
    route53.create_hosted_zone(Name=DOMAIN, CallerReference="test")
    # The same names in both parts: nothing but the final snapshot may have stayed that is in the way of the second.
    parts = {"together": both_sites, "apart": sites_apart}
    for part in sys.argv[3:] or parts:
        parts[part](tree, work, endpoint)
    said(f"{once.repeated} requests were sent twice and executed once")


if __name__ == "__main__":
    main()
