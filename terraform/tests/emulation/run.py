"""Plays the whole story of two sites against an emulation of AWS, by the commands of the pages.

    run.py PROJECT WORK [--write]    PROJECT: the directory of the project; WORK: where the copy and the logs go;
                                     --write: writes the table of dependencies into docs/deploying-cloud.md

Both sites come up; the first is lost, and the second promoted with everything closed but its own region; the old site is
taken down and comes back as the standby; failback; a second failover; tiers down and up; a restore on demand; and the
page for a day without Terraform. Each plan is judged: nothing that the serving site needs is replaced or deleted.
"""

import json
import os
import pathlib
import shutil
import socket
import sys
import threading

os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
os.environ["MOTO_ACM_VALIDATION_WAIT"] = "1"

import boto3  # noqa: E402
import waitress  # noqa: E402
from moto.server import DomainDispatcherApplication, create_backend_app  # noqa: E402

import checks  # noqa: E402
import dependencies  # noqa: E402
import front as closing  # noqa: E402
from amended import amend  # noqa: E402
from claims import holds  # noqa: E402
from once import Once  # noqa: E402
from pages import Terminal, environment  # noqa: E402
from plans import Plans  # noqa: E402

FRANKFURT, IRELAND, WITNESS = "eu-central-1", "eu-west-1", "eu-north-1"


def said(text: str) -> None:
    print(f"    {text}", flush=True)


def copy(source: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """The project with the overrides, without what was initialised elsewhere."""
    shutil.rmtree(work, ignore_errors=True)
    project = work / "project"
    left_out = shutil.ignore_patterns(".terraform*", "*.tfstate*", "sites.tfvars.json", "__pycache__")
    shutil.copytree(source / "terraform", project / "terraform", symlinks=True, ignore=left_out)
    for directory in ("docs", "deploy"):
        shutil.copytree(source / directory, project / directory)
    shutil.copytree(source / "terraform/tests/emulation/modules", project / "terraform/modules", dirs_exist_ok=True)
    # A few attempts for a call: the provider's own 25 take many minutes to fail.
    for name, aliases in {"shared": [None, "a", "b"], "site": [None], "joined": [None, "a", "b", "witness"]}.items():
        (project / "terraform/environments" / name / "provider_override.tf").write_text("\n".join(
            'provider "aws" {\n' + (f'  alias       = "{alias}"\n' if alias else "") + "  max_retries = 4\n}\n"
            for alias in aliases))
    return project


def serve() -> tuple[str, closing.Front, Once]:
    """Starts the emulation in this process; its threads end with it."""
    amend()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    once = Once(DomainDispatcherApplication(create_backend_app))
    front = closing.Front(once)
    server = waitress.create_server(front, host="127.0.0.1", port=port, threads=16, connection_limit=1000)
    threading.Thread(target=server.run, daemon=True).start()
    return f"http://127.0.0.1:{port}", front, once


class Story:
    def __init__(self, project: pathlib.Path, work: pathlib.Path):
        self.endpoint, self.front, self.once = serve()
        self.work = work
        self.terminal = Terminal(project, work, environment(self.endpoint, work))
        self.plans = Plans(work / "plans")
        self.account = checks.Account(self.endpoint)

    def follow(self, *names: str, serving: str | None = None, **variables: str) -> None:
        """Follows blocks. While `serving` serves, each plan of it, and of what both need, may take nothing away."""
        for name in names:
            self.terminal.follow(name, **variables)
        self.plans.judge(serving)

    def refused(self, name: str, commands: str, because: str) -> None:
        # However Terraform breaks its lines.
        output = " ".join(self.terminal.run(commands, name, fails=True).split())
        holds(because in output, f"{name} is refused because of: {because}")
        self.plans.judge(None)

    def closed(self, predicate):
        return Closed(self.front, predicate)


class Closed:
    """While it lasts, what the predicate names is closed. At its end nothing there may have been asked for."""

    def __init__(self, front: closing.Front, predicate):
        self.front, self.predicate = front, predicate

    def __enter__(self):
        self.front.forget()
        self.front.closed = self.predicate

    def __exit__(self, kind, value, traceback):
        self.front.closed = closing.nothing
        if kind is None:
            holds(not self.front.refused, f"nothing that is closed was asked for: {dict(self.front.refused)}")


def both_sites(story: Story) -> None:
    story.follow("settings", "buckets", "zone", "shared", "sites", "image")
    for provider in ("card", "points"):
        (story.terminal.project / f"provider-{provider}-token").write_text("a token of the test")
    story.follow("secrets", "site-secrets", "roles", "first-site", "look", "second-site", "witness")
    account = story.account
    account.hot_database("frankfurt")
    account.hot_cluster("frankfurt")
    account.follows("ireland", "frankfurt")
    account.network("frankfurt", gateways=3)
    account.network("ireland", gateways=0)
    account.entries()
    account.failover_record()
    account.secrets()
    account.policies()
    account.no_passwords(story.plans.states())
    account.witness()
    story.addresses = account.addresses()
    said("both sites are as they should be; no policy has a wildcard; no plan has a password")
    story.refused("destroy of a protected site", "terraform/run ireland destroy", "ireland is protected")
    story.refused("destroy past terraform/run", "cd terraform/environments/site && TF_DATA_DIR=$PWD/.terraform-ireland "
                  "terraform destroy -no-color -auto-approve -var site=ireland -var-file=../sites.tfvars.json",
                  "ireland is protected, and nothing was deleted")
    # Such a destroy takes the outputs out of the state, and nothing else.
    again = story.terminal.run("terraform/run ireland apply", "an apply after it")
    # moto forgets some attributes, which are then set again; nothing has to be made again.
    holds("Plan: 0 to add" in again and "0 to destroy" in again, "nothing was deleted")
    account.follows("ireland", "frankfurt")
    account.network("ireland", gateways=0)
    account.entries()


def first_failover(story: Story) -> None:
    """Frankfurt is lost, and with it everything that is not in Ireland: control planes of the world, the third region."""
    story.planned = dependencies.measure(story, "ireland", IRELAND, [FRANKFURT, WITNESS, "us-east-1", "worldwide"])
    with story.closed(closing.all_but(IRELAND)):
        story.follow("promote-names", "promote-fence", "promote", "promote-pods", "promote-term", serving="ireland")
        story.promotion = set(story.front.asked)
    story.account.takes_writes("ireland")
    story.account.nodes("ireland", front=3, batch=2)
    with story.closed(closing.all_but(IRELAND)):
        story.follow("promote-size", serving="ireland")
    story.account.hot_database("ireland")
    story.account.same_addresses(story.addresses)
    said("with everything closed but its own region, the second site was promoted; addresses and record stayed")


def taken_down_and_rebuilt(story: Story) -> None:
    story.follow("site-down", serving="ireland", GOES="frankfurt", STAYS="ireland")
    story.account.gone("frankfurt")
    story.account.survives("ireland")
    story.account.final_snapshot("frankfurt", 1)
    story.follow("site-back", serving="ireland")
    story.account.follows("frankfurt", "ireland")
    story.account.same_addresses(story.addresses)
    story.account.failover_record()
    story.terminal.run("export SECOND=frankfurt", "names are exchanged")
    story.follow("tier-up", serving="ireland")
    story.account.nodes("frankfurt", front=3, batch=2)
    said("the old site was taken down and came back as the standby, with its addresses")


def failback(story: Story) -> None:
    story.terminal.follow("switch-names", FROM="ireland", HERE="frankfurt")
    story.follow("switch-drain", "switch-database", "switch-term", serving="frankfurt")
    story.account.takes_writes("frankfurt")
    remade(story, old="ireland", here="frankfurt")
    story.account.follows("ireland", "frankfurt")


def remade(story: Story, old: str, here: str) -> None:
    """The old site's database is deleted, and made anew as the other one's replica."""
    story.terminal.follow("failback-names", OLD=old, HERE=here)
    story.follow("failback-copies", "failback-delete", "failback-replica", "failback-pods", serving=here)
    story.account.survives(here)
    story.account.same_addresses(story.addresses)


def second_failover(story: Story) -> None:
    """By the page for a day without Terraform, which is told afterwards."""
    story.terminal.run("change '.sites.ireland |= (.protected = false)'; terraform/run ireland apply; "
                       "change '.sites.ireland |= (del(.protected) | .tier = "
                       "{\"cluster\": \"warm\", \"database\": \"hot\", \"workload\": \"warm\"})'; "
                       "change '.sites.ireland.protected = false'; terraform/run ireland apply; "
                       "change 'del(.sites.ireland.protected)'; terraform/run ireland apply", "ireland is warm again")
    story.plans.judge("frankfurt")
    with story.closed(closing.all_but(IRELAND)):
        story.front.forget()
        for name in ("glass-names", "glass-look", "glass-promote", "glass-nodes", "glass-gateways", "glass-scale",
                     "glass-pods", "glass-term"):
            story.terminal.follow(name)
        story.glass = set(story.front.asked)
    story.account.takes_writes("ireland")
    story.account.nodes("ireland", front=3, batch=2)
    story.account.network("ireland", gateways=3)
    story.account.same_addresses(story.addresses)
    story.follow("glass-settings", "glass-import", serving="ireland")
    story.terminal.run("terraform/run ireland apply", "told Terraform")
    story.plans.judge("ireland")
    story.account.network("ireland", gateways=3)
    said("without Terraform the second failover was made; Terraform was told, and made nothing twice")


def tiers(story: Story) -> None:
    """Frankfurt, the old site, goes down to nothing but copies, while Ireland serves."""
    story.terminal.run("export FIRST=ireland SECOND=frankfurt OLD=frankfurt HERE=ireland", "names are exchanged")
    remade(story, old="frankfurt", here="ireland")
    before = story.terminal.run("cat terraform/environments/sites.tfvars.json", "the settings before")
    story.refused("a tier down while protected",
                  "change '.sites.frankfurt.tier.database = \"on_demand\" | .sites.frankfurt.tier.workload = \"on_demand\"'; "
                  "terraform/run frankfurt apply", "would delete the database reconciled-frankfurt")
    (story.terminal.project / "terraform/environments/sites.tfvars.json").write_text(before)
    story.refused("a misspelt setting", "change '.sites.frankfurt.zonez = []'; terraform/run frankfurt plan",
                  "unknown keys: frankfurt.zonez")
    (story.terminal.project / "terraform/environments/sites.tfvars.json").write_text(before)
    story.account.follows("frankfurt", "ireland")
    story.follow("tier-down", serving="ireland")
    story.account.nothing_runs("frankfurt")
    story.account.survives("ireland")
    story.account.same_addresses(story.addresses)
    said("a tier went down: refused while protected, and then with nothing of the serving site touched")


def restored_by_hand(story: Story, site: str, serving: str) -> None:
    """A site that has copies and nothing else restores them by the page for a day without Terraform. Terraform is told
    of the database, and the site goes down again."""
    region = checks.REGIONS[site]
    with story.closed(closing.all_but(region)):
        story.terminal.follow("glass-names", HERE=site, REGION=region, DATABASE=f"reconciled-{site}",
                              CLUSTER=f"reconciled-{site}")
        listed = [line.split() for line in story.terminal.follow("glass-copies").splitlines()]
        usable = [line[1] for line in listed if line and line[0] in ("replicating", "retained")]
        holds(len(usable) >= 1, f"the page finds copies in {site}: {listed}")
        # As a person: the copies that still grow, of the database that served last.
        growing = [line[1] for line in listed if line and line[0] == "replicating"]
        story.terminal.follow("glass-restore", COPIES=(growing or usable)[0])
        story.account.restored_database(site)
        plan = story.terminal.follow("glass-restored")
    for taken in ("must be replaced", "will be destroyed"):
        holds(taken not in plan, f"the plan after the import takes nothing away: {taken}")
    holds("aws_db_instance.this[0] will be updated in-place" in plan, "Terraform knows the database that was restored")
    story.terminal.run(f"terraform/run {site} apply", "told Terraform of the restore")
    story.plans.judge(site)
    story.account.restored_database(site)
    story.account.takes_writes(site)
    story.terminal.run(f"export SECOND={site}", "the site that goes down")
    story.follow("tier-down", serving=serving)
    story.account.nothing_runs(site)
    said("without Terraform the copies were restored; Terraform was told, and the site went down again")


def restored(story: Story) -> None:
    """Ireland is lost, and Frankfurt has copies and nothing else."""
    story.terminal.follow("restore-names", HERE="frankfurt")
    with story.closed(closing.all_but(FRANKFURT)):
        story.follow("restore", serving="frankfurt")
        look = story.terminal.follow("restore-look")
        story.follow("restore-pods", "restore-again", serving="frankfurt")
    story.account.hot_database("frankfurt")
    story.account.hot_cluster("frankfurt")
    story.account.same_addresses(story.addresses)
    holds("must be replaced" not in look and "will be destroyed" not in look,
                 "the next plan keeps the restored database, and whatever else there is")
    said("a restore on demand, with everything closed but its own region; the next plan leaves the database alone")


def main() -> None:
    source, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    project = copy(source, work)
    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    story = Story(project, work)
    story.source = source
    both_sites(story)
    first_failover(story)
    taken_down_and_rebuilt(story)
    failback(story)
    second_failover(story)
    tiers(story)
    restored_by_hand(story, "frankfurt", serving="ireland")
    restored(story)
    dependencies.table(story, "--write" in sys.argv)
    left_out = story.terminal.left_out()
    holds(not left_out, f"every marked block was followed, but {sorted(left_out)}")
    said(f"{len(story.plans.judged)} plans were judged; {story.once.repeated} requests were sent twice and executed once")


if __name__ == "__main__":
    main()
