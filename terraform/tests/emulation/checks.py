"""What must be true of the emulated account, asked of its own interfaces and not of Terraform's state."""

import json

import boto3
from moto.rds.models import rds_backends


def holds(condition: bool, what: str) -> None:
    if not condition:
        raise SystemExit(f"does not hold: {what}")


def client(service: str, region: str, endpoint: str):
    return boto3.client(service, region_name=region, endpoint_url=endpoint)


def name(settings: dict, part: str) -> str:
    return f"reconciled-{settings[part]['site']}"


def database(settings: dict, part: str, endpoint: str) -> dict | None:
    rds = client("rds", settings[part]["region"], endpoint)
    found = [d for d in rds.describe_db_instances()["DBInstances"]
             if d["DBInstanceIdentifier"] == name(settings, part)]
    return found[0] if found else None


def hot_database(settings: dict, part: str, endpoint: str) -> dict:
    found = database(settings, part, endpoint)
    holds(found is not None, f"{part} has a database")
    holds(found["MultiAZ"], f"the database of {part} is in two zones")
    holds(found["StorageEncrypted"] and "key/" in found["KmsKeyId"], f"the database of {part} is encrypted")
    holds(not found["PubliclyAccessible"], f"the database of {part} is not public")
    holds(found["BackupRetentionPeriod"] == 14, f"the database of {part} has backups of 14 days")
    return found


def hot_cluster(settings: dict, part: str, endpoint: str) -> None:
    eks = client("eks", settings[part]["region"], endpoint)
    cluster = eks.describe_cluster(name=name(settings, part))["cluster"]
    holds(cluster["encryptionConfig"][0]["resources"] == ["secrets"], f"{part} encrypts Kubernetes secrets")
    holds(cluster["resourcesVpcConfig"]["endpointPrivateAccess"], f"the API of {part} can be reached from inside")
    for pool, nodes in {"front": 3, "batch": 2}.items():
        group = eks.describe_nodegroup(clusterName=name(settings, part), nodegroupName=pool)["nodegroup"]
        holds(group["scalingConfig"]["desiredSize"] == nodes, f"{part} has {nodes} nodes in {pool}")
        holds(group["labels"] == {"reconciled.io/pool": pool}, f"nodes of {pool} have their label")
        taints = [(t["key"], t["value"], t["effect"]) for t in group.get("taints", [])]
        holds(taints == ([("reconciled.io/pool", "batch", "NO_SCHEDULE")] if pool == "batch" else []),
              f"nodes of {pool} have the taint that they should: {taints}")
    ec2 = client("ec2", settings[part]["region"], endpoint)
    templates = [t["LaunchTemplateId"] for t in ec2.describe_launch_templates()["LaunchTemplates"]]
    versions = [v for template in templates for v in ec2.describe_launch_template_versions(
        LaunchTemplateId=template)["LaunchTemplateVersions"]]
    holds(len(versions) >= 2, f"{part} has a template for each pool")
    for version in versions:
        data = version["LaunchTemplateData"]
        holds(data["MetadataOptions"]["HttpTokens"] == "required", "nodes speak IMDSv2 only")
        holds(all(str(d["Ebs"]["Encrypted"]).lower() == "true" for d in data["BlockDeviceMappings"]),
              "volumes of nodes are encrypted")


def network(settings: dict, part: str, endpoint: str, gateways: int) -> None:
    ec2 = client("ec2", settings[part]["region"], endpoint)
    vpcs = [v["VpcId"] for v in ec2.describe_vpcs()["Vpcs"] if v["CidrBlock"] == settings[part]["cidr"]]
    holds(len(vpcs) == 1, f"{part} has a VPC with its range")
    of_vpc = [{"Name": "vpc-id", "Values": vpcs}]
    subnets = ec2.describe_subnets(Filters=of_vpc)["Subnets"]
    holds(len(subnets) == 9 and len({s["AvailabilityZone"] for s in subnets}) == 3,
          f"{part} has nine subnets in three zones")
    open_gateways = [g for g in ec2.describe_nat_gateways(Filters=of_vpc)["NatGateways"] if g["State"] == "available"]
    holds(len(open_gateways) == gateways, f"{part} has {gateways} NAT gateways, and not {len(open_gateways)}")
    holds(len(ec2.describe_addresses()["Addresses"]) == 3, f"{part} has three addresses")
    logs = ec2.describe_flow_logs(Filters=[{"Name": "resource-id", "Values": vpcs}])["FlowLogs"]
    holds([log["TrafficType"] for log in logs] == ["ALL"], f"the traffic of {part} is logged")


def copies_of_secrets(settings: dict, endpoint: str) -> None:
    """The standby's region holds each secret under the same name, with a value where one was drawn."""
    here = client("secretsmanager", settings["active"]["region"], endpoint)
    there = client("secretsmanager", settings["standby"]["region"], endpoint)
    names = {s["Name"] for s in there.list_secrets()["SecretList"]}
    holds(names == {f"reconciled/{n}" for n in
                    ("database-administrator", "store-password", "provider-card-token", "provider-points-token")},
          f"the standby's region has every secret: {names}")
    drawn = here.get_secret_value(SecretId="reconciled/store-password")["SecretString"]
    holds(len(drawn) == 40, "the daemon's password was drawn")
    holds(there.get_secret_value(SecretId="reconciled/store-password")["SecretString"] == drawn,
          "the copy in the standby's region is the same")


def failover_record(settings: dict, endpoint: str) -> None:
    route53 = client("route53", "us-east-1", endpoint)
    zone = route53.list_hosted_zones()["HostedZones"][0]["Id"]
    records = route53.list_resource_record_sets(HostedZoneId=zone, MaxItems="100")["ResourceRecordSets"]
    service = [r for r in records if r["Name"].rstrip(".") == f"api.{settings['domain']}" and r["Type"] == "CNAME"]
    order = {r["Failover"]: (r["SetIdentifier"], r["ResourceRecords"][0]["Value"]) for r in service}
    sites = {"PRIMARY": settings["active"]["site"], "SECONDARY": settings["standby"]["site"]}
    holds(order == {k: (s, f"{s}.{settings['domain']}") for k, s in sites.items()},
          f"the service's name knows both sites: {order}")
    checked = {c["Id"]: c["HealthCheckConfig"] for c in route53.list_health_checks()["HealthChecks"]}
    for record in service:
        config = checked[record["HealthCheckId"]]
        holds(config["ResourcePath"] == "/activez" and config["Type"] == "HTTPS", "health checks ask /activez over TLS")
        holds(config["FullyQualifiedDomainName"] == record["ResourceRecords"][0]["Value"],
              "each record has the health check of its own site")
    own = {r["Name"].rstrip(".") for r in records if r["Type"] == "A"}
    holds(own == {f"{s}.{settings['domain']}" for s in sites.values()}, f"each site has its own name: {own}")


def entry(settings: dict, part: str, endpoint: str) -> None:
    elb = client("elbv2", settings[part]["region"], endpoint)
    balancers = elb.describe_load_balancers(Names=[name(settings, part)])["LoadBalancers"]
    listeners = elb.describe_listeners(LoadBalancerArn=balancers[0]["LoadBalancerArn"])["Listeners"]
    holds([(li["Protocol"], li["Port"]) for li in listeners] == [("HTTPS", 443)], f"{part} listens for HTTPS only")
    rules = [r for r in elb.describe_rules(ListenerArn=listeners[0]["ListenerArn"])["Rules"] if not r["IsDefault"]]
    paths = [v for r in rules for c in r["Conditions"] if c["Field"] == "path-pattern"
             for v in c.get("Values") or c["PathPatternConfig"]["Values"]]
    holds(paths == ["/activez"], f"{part} passes on /activez of the operators' port only: {paths}")


def hot_sites(settings: dict, endpoint: str) -> None:
    for part in ("active", "standby"):
        hot_database(settings, part, endpoint)
        holds(database(settings, part, endpoint)["DeletionProtection"], f"the database of {part} is protected")
        hot_cluster(settings, part, endpoint)
        network(settings, part, endpoint, gateways=3)
        entry(settings, part, endpoint)
    source = database(settings, "standby", endpoint).get("ReadReplicaSourceDBInstanceIdentifier", "")
    holds(name(settings, "active") in source, f"the standby's database follows the active one's: {source!r}")
    failover_record(settings, endpoint)
    copies_of_secrets(settings, endpoint)


def on_demand_standby(settings: dict, endpoint: str) -> None:
    region = settings["standby"]["region"]
    holds(client("eks", region, endpoint).list_clusters()["clusters"] == [], "there is no cluster")
    holds(database(settings, "standby", endpoint) is None, "there is no database")
    network(settings, "standby", endpoint, gateways=0)
    entry(settings, "standby", endpoint)
    copies_of_secrets(settings, endpoint)


def is_replica(settings: dict) -> bool:
    """Asked of moto itself: its interface goes on naming a source after the promotion."""
    account = rds_backends[settings["account_id"]][settings["standby"]["region"]]
    return account.databases[name(settings, "standby")].is_replica


def promoted_standby(settings: dict, endpoint: str) -> None:
    hot_database(settings, "standby", endpoint)
    holds(not is_replica(settings), "the promoted database follows nobody")
    hot_cluster(settings, "standby", endpoint)
    network(settings, "standby", endpoint, gateways=3)


def copies_of_backups(settings: dict, endpoint: str) -> None:
    """The promoted standby hands its backups to the region of the other site."""
    backup = client("backup", settings["active"]["region"], endpoint)
    vaults = {v["BackupVaultName"] for v in backup.list_backup_vaults()["BackupVaultList"]}
    holds(f"{name(settings, 'standby')}-copies" in vaults, f"there is a vault for the standby's copies: {vaults}")


def resources(module: dict):
    yield from module.get("resources", [])
    for child in module.get("child_modules", []):
        yield from resources(child)


def as_list(value) -> list:
    return value if isinstance(value, list) else [value]


def policies(state: dict) -> None:
    """Reads every policy that was applied: who is allowed something is allowed named actions on named resources."""
    seen = 0
    for resource in resources(state["values"]["root_module"]):
        if resource["mode"] != "managed":
            continue
        for attribute in ("policy", "assume_role_policy"):
            text = resource["values"].get(attribute)
            if not text or resource["type"] == "aws_ecr_lifecycle_policy":
                continue
            seen += 1
            for statement in json.loads(text)["Statement"]:
                statement_holds(resource, attribute, statement)
    holds(seen > 30, f"the state holds policies: {seen}")


def statement_holds(resource: dict, attribute: str, statement: dict) -> None:
    where = f"{resource['address']}, {attribute}, {statement.get('Sid', 'without Sid')}"
    if statement["Effect"] == "Deny":
        return
    holds(not any("*" in action for action in as_list(statement["Action"])), f"{where}: no wildcard among the actions")
    is_own = resource["type"] == "aws_kms_key" or attribute == "assume_role_policy"
    targets = as_list(statement.get("Resource", []))
    holds(is_own or (targets and "*" not in targets), f"{where}: the resources are named")
    principals = statement.get("Principal", {})
    wide = principals == "*" or "*" in as_list(principals.get("AWS", []))
    service = "Service" in principals and as_list(principals["Service"]) != ["ec2.amazonaws.com"]
    holds(not (wide or service) or statement.get("Condition"), f"{where}: everybody, or a service, needs a condition")


def no_passwords(state: dict, endpoint: str) -> None:
    """No value of a secret may stand in a state."""
    text = json.dumps(state)
    manager = client("secretsmanager", "eu-central-1", endpoint)
    for secret in ("database-administrator", "store-password"):
        value = manager.get_secret_value(SecretId=f"reconciled/{secret}")["SecretString"]
        holds(value not in text, f"the state does not hold the value of {secret}")


def nothing_left(settings: dict, endpoint: str) -> None:
    for part in ("active", "standby"):
        region = settings[part]["region"]
        holds(database(settings, part, endpoint) is None, f"no database is left in {region}")
        holds(client("eks", region, endpoint).list_clusters()["clusters"] == [], f"no cluster is left in {region}")
        holds(client("secretsmanager", region, endpoint).list_secrets()["SecretList"] == [],
              f"no secret is left in {region}")
        ranges = [v["CidrBlock"] for v in client("ec2", region, endpoint).describe_vpcs()["Vpcs"]]
        holds(settings[part]["cidr"] not in ranges, f"no VPC is left in {region}")


def final_snapshot(settings: dict, part: str, suffix: str, endpoint: str) -> None:
    """What a deleted database leaves behind."""
    rds = client("rds", settings[part]["region"], endpoint)
    names = {s["DBSnapshotIdentifier"] for s in rds.describe_db_snapshots(SnapshotType="manual")["DBSnapshots"]}
    wanted = f"{name(settings, part)}-{suffix}"
    holds(wanted in names, f"the database of {part} left {wanted}: {names}")
