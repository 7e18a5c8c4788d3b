"""What a promotion needs: each service of each region is closed in turn, and the promotion is planned.

The table of docs/deploying-cloud.md is made from it, and from what the commands asked for when they were followed.
"""

import collections
import json
import pathlib

import front as closing

BEGIN, END = "<!-- dependencies: begin -->", "<!-- dependencies: end -->"
PAGE = "docs/deploying-cloud.md"

Service = collections.namedtuple("Service", "title stands_in")
# What each is for, by the name that a signature has, and what stands in for it. In the site's own region all of it fails
# together with the region, and then no site is left that could be promoted there.
SERVICES = {
    "acm": Service("ACM: finds the certificate", "the command line: the load balancer has it already"),
    "autoscaling": Service("Auto Scaling: nodes join the load balancer", "none; hot, they have joined"),
    "backup": Service("AWS Backup: vaults, plans", "the command line: no backup is made that day"),
    "ec2": Service("EC2: network, addresses, gateways", "none; hot, nothing is made"),
    "ecr": Service("ECR: the image", "nodes that have it; another registry in the overlay"),
    "eks": Service("EKS: control plane, nodes", "none; hot, the pods run"),
    "elasticloadbalancing": Service("load balancer", "the command line does not ask for it; it works on"),
    "kms": Service("KMS: keys", "the command line does not ask for it; RDS does"),
    "logs": Service("CloudWatch Logs: groups", "the command line"),
    "monitoring": Service("CloudWatch: alarms", "the command line"),
    "rds": Service("RDS: the database", "none: it is what is promoted"),
    "s3": Service("S3: the state, the bucket of access logs", "the command line"),
    "secretsmanager": Service("Secrets Manager: the pods' secrets", "the Secret in the cluster, once it was made"),
    "sns": Service("SNS: who is told", "the command line"),
    "sts": Service("STS: who asks", "none; it is in each region"),
}
ELSEWHERE = {
    "worldwide": "the control planes of Route 53 and IAM (one region for all)",
    "us-east-1": "`us-east-1`: the alarms of the health checks",
}


def plan(story, site: str) -> bool:
    """Whether the promotion of the site can be planned."""
    try:
        story.terminal.run(f"RECONCILED_SITES={story.work}/promoted.json terraform/run {site} plan",
                           "plan of the promotion", quiet=True)
    except SystemExit:
        return False
    return True


def measure(story, name: str, own: str, elsewhere: list[str]) -> dict:
    """By service of the own region, and by region elsewhere: whether the promotion can be planned without it."""
    settings = json.loads((story.terminal.project / "terraform/environments/sites.tfvars.json").read_text())
    site = settings["sites"][name]
    site["database"]["promoted"], site["tier"]["cluster"], site["tier"]["workload"] = True, "hot", "hot"
    (story.work / "promoted.json").write_text(json.dumps(settings))
    story.front.forget()
    if not plan(story, name):
        raise SystemExit("the promotion cannot be planned with everything open")
    asked = set(story.front.asked)
    outside = {where for where in asked if where[1] != own}
    if outside:
        raise SystemExit(f"the plan of a promotion asks outside of its region: {outside}")
    results = {}
    for service in sorted(service for service, _ in asked):
        results[service] = without(story, name, closing.only(service, own))
    for region in elsewhere:
        results[region] = without(story, name, closing.only(None, region))
        if not results[region]:
            raise SystemExit(f"the promotion cannot be planned without {region}")
    return results


def without(story, site: str, predicate) -> bool:
    story.front.closed = predicate
    try:
        return plan(story, site)
    finally:
        story.front.closed = closing.nothing


def rows(story) -> list[str]:
    own = "the site's region"
    applied = {service for service, _ in story.promotion}
    by_hand = {service for service, _ in story.glass}
    used = sorted(set(story.planned) & set(SERVICES) | applied | by_hand)
    unknown = set(used) - set(SERVICES)
    if unknown:
        raise SystemExit(f"dependencies.py does not say what stands in for {unknown}")
    lines = ["| closed | the plan of a promotion | the whole promotion asks for it | the command line of AWS alone | what stands in for it |",
             "|---|---|---|---|---|"]
    for service in used:
        planned = {True: "is made", False: "**fails**", None: "is made"}[story.planned.get(service)]
        lines.append(f"| {SERVICES[service].title} | {planned} | {'yes' if service in applied else 'no'} | "
                     f"{'asks for it' if service in by_hand else 'does without'} | {SERVICES[service].stands_in} |")
    for region, title in [("the other site's region", None), ("the third region", None), *ELSEWHERE.items()]:
        key = {"the other site's region": "eu-central-1", "the third region": "eu-north-1"}.get(region, region)
        assert story.planned[key]
        lines.append(f"| {title or region} | is made | no | does without | not needed |")
    return [f"In {own}, one by one, and then all else:", "", *lines]


def table(story, write: bool) -> None:
    wanted = "\n".join(rows(story))
    page = pathlib.Path(story.source) / PAGE
    text = page.read_text()
    before, rest = text.split(BEGIN)
    new = f"{before}{BEGIN}\n{wanted}\n{END}{rest.split(END)[1]}"
    if write:
        page.write_text(new)
    elif new != text:
        raise SystemExit(f"the table of dependencies in {PAGE} is not what was measured:\n{wanted}\n"
                         "run: terraform/tests/emulation/run.py PROJECT WORK --write")
