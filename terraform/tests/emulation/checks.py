"""What must be true of the emulated account, asked of its own interfaces and not of Terraform's state."""

import json

import boto3

from claims import holds


REGIONS = {"frankfurt": "eu-central-1", "ireland": "eu-west-1"}
THIRD = "eu-north-1"
CIDRS = {"frankfurt": "10.10.0.0/16", "ireland": "10.20.0.0/16"}
DOMAIN = "pay.example.com"


class Account:
    """What there is in the emulated account."""

    def __init__(self, endpoint: str):
        self.endpoint = endpoint

    def client(self, service: str, region: str):
        return boto3.client(service, region_name=region, endpoint_url=self.endpoint)

    def database(self, site: str) -> dict | None:
        rds = self.client("rds", REGIONS[site])
        found = [d for d in rds.describe_db_instances()["DBInstances"] if d["DBInstanceIdentifier"] == f"reconciled-{site}"]
        return found[0] if found else None

    def hot_database(self, site: str) -> None:
        found = self.database(site)
        holds(found is not None, f"{site} has a database")
        holds(found["MultiAZ"], f"the database of {site} is in two zones")
        holds(found["DBInstanceClass"] == "db.m6g.large", f"the database of {site} has its full size")
        holds(found["StorageEncrypted"] and "key/" in found["KmsKeyId"], f"the database of {site} is encrypted")
        holds(not found["PubliclyAccessible"], f"the database of {site} is not public")
        holds(found["BackupRetentionPeriod"] == 14, f"the database of {site} has backups of 14 days")
        self.takes_writes(site)

    def restored_database(self, site: str) -> None:
        """What a restore by hand must give at once; the rest is Terraform's, later."""
        found = self.database(site)
        holds(found is not None and found["DBInstanceStatus"] == "available", f"{site} has a database that is available")
        holds(found["MultiAZ"] and found["DBInstanceClass"] == "db.m6g.large", f"the database of {site} has its full size")
        holds(not found["PubliclyAccessible"] and found["StorageEncrypted"], f"the database of {site} is private")
        holds(found["DBSubnetGroup"]["DBSubnetGroupName"] == f"reconciled-{site}", f"the database is in the network of {site}")
        groups = [g["VpcSecurityGroupId"] for g in found["VpcSecurityGroups"]]
        names = {g["GroupName"] for g in self.client("ec2", REGIONS[site]).describe_security_groups(
            GroupIds=groups)["SecurityGroups"]}
        holds(names == {f"reconciled-{site}-database"}, f"only the pods of {site} reach its database: {names}")
        parameters = [g["DBParameterGroupName"] for g in found["DBParameterGroups"]]
        holds(parameters == [f"reconciled-{site}-postgres16"], f"the database of {site} has its parameters: {parameters}")
        self.takes_writes(site)

    def takes_writes(self, site: str) -> None:
        found = self.database(site)
        holds(found is not None and found["DeletionProtection"], f"the database of {site} is protected")
        holds(not found.get("ReadReplicaSourceDBInstanceIdentifier"), f"the database of {site} follows nobody")

    def follows(self, site: str, source: str) -> None:
        found = self.database(site)
        holds(found is not None and found["DeletionProtection"], f"the database of {site} is protected")
        holds(f":db:reconciled-{source}" in found.get("ReadReplicaSourceDBInstanceIdentifier", ""),
              f"the database of {site} follows that of {source}")

    def nodes(self, site: str, front: int, batch: int) -> None:
        eks = self.client("eks", REGIONS[site])
        for pool, number in {"front": front, "batch": batch}.items():
            group = eks.describe_nodegroup(clusterName=f"reconciled-{site}", nodegroupName=pool)["nodegroup"]
            holds(group["scalingConfig"]["desiredSize"] == number, f"{site} has {number} nodes in {pool}")
            holds(group["labels"] == {"reconciled.io/pool": pool}, f"nodes of {pool} have their label")
            taints = [(t["key"], t["value"], t["effect"]) for t in group.get("taints", [])]
            holds(taints == ([("reconciled.io/pool", "batch", "NO_SCHEDULE")] if pool == "batch" else []),
                  f"nodes of {pool} have the taint that they should: {taints}")

    def hot_cluster(self, site: str) -> None:
        eks = self.client("eks", REGIONS[site])
        cluster = eks.describe_cluster(name=f"reconciled-{site}")["cluster"]
        holds(cluster["encryptionConfig"][0]["resources"] == ["secrets"], f"{site} encrypts Kubernetes secrets")
        holds(cluster["resourcesVpcConfig"]["endpointPrivateAccess"], f"the API of {site} can be reached from inside")
        self.nodes(site, front=3, batch=2)
        ec2 = self.client("ec2", REGIONS[site])
        templates = [t["LaunchTemplateId"] for t in ec2.describe_launch_templates()["LaunchTemplates"]]
        versions = [v for template in templates for v in ec2.describe_launch_template_versions(
            LaunchTemplateId=template)["LaunchTemplateVersions"]]
        holds(len(versions) >= 2, f"{site} has a template for each pool")
        for version in versions:
            data = version["LaunchTemplateData"]
            holds(data["MetadataOptions"]["HttpTokens"] == "required", "nodes speak IMDSv2 only")
            holds(all(str(d["Ebs"]["Encrypted"]).lower() == "true" for d in data["BlockDeviceMappings"]),
                  "volumes of nodes are encrypted")

    def vpcs(self, site: str) -> list[str]:
        ec2 = self.client("ec2", REGIONS[site])
        return [v["VpcId"] for v in ec2.describe_vpcs()["Vpcs"] if v["CidrBlock"] == CIDRS[site]]

    def network(self, site: str, gateways: int) -> None:
        ec2 = self.client("ec2", REGIONS[site])
        vpcs = self.vpcs(site)
        holds(len(vpcs) == 1, f"{site} has a VPC with its range")
        of_vpc = [{"Name": "vpc-id", "Values": vpcs}]
        subnets = ec2.describe_subnets(Filters=of_vpc)["Subnets"]
        holds(len(subnets) == 9 and len({s["AvailabilityZone"] for s in subnets}) == 3,
              f"{site} has nine subnets in three zones")
        there = [g for g in ec2.describe_nat_gateways(Filters=of_vpc)["NatGateways"] if g["State"] == "available"]
        holds(len(there) == gateways, f"{site} has {gateways} NAT gateways, and not {len(there)}")
        logs = ec2.describe_flow_logs(Filters=[{"Name": "resource-id", "Values": vpcs}])["FlowLogs"]
        holds([log["TrafficType"] for log in logs] == ["ALL"], f"the traffic of {site} is logged")
        tables = ec2.describe_route_tables(Filters=of_vpc)["RouteTables"]
        ways = [r for t in tables for r in t["Routes"] if r.get("VpcPeeringConnectionId")]
        holds(len(ways) == 3 and {r["DestinationCidrBlock"] for r in ways} == {"10.30.0.0/24"},
              f"each zone of {site} has a way to the witness: {ways}")

    def addresses(self) -> dict[str, set[str]]:
        found = {site: {a["PublicIp"] for a in self.client("ec2", region).describe_addresses()["Addresses"]}
                 for site, region in REGIONS.items()}
        holds(all(len(a) == 3 for a in found.values()), f"each site has three addresses: {found}")
        return found

    def same_addresses(self, before: dict[str, set[str]]) -> None:
        holds(self.addresses() == before, "the addresses on the providers' allow-lists stay")

    def entries(self) -> None:
        for site, region in REGIONS.items():
            elb = self.client("elbv2", region)
            balancers = elb.describe_load_balancers(Names=[f"reconciled-{site}"])["LoadBalancers"]
            listeners = elb.describe_listeners(LoadBalancerArn=balancers[0]["LoadBalancerArn"])["Listeners"]
            holds([(li["Protocol"], li["Port"]) for li in listeners] == [("HTTPS", 443)], f"{site} listens for HTTPS only")
            rules = [r for r in elb.describe_rules(ListenerArn=listeners[0]["ListenerArn"])["Rules"] if not r["IsDefault"]]
            paths = [v for r in rules for c in r["Conditions"] if c["Field"] == "path-pattern"
                     for v in c.get("Values") or c["PathPatternConfig"]["Values"]]
            holds(paths == ["/activez"], f"{site} passes on /activez of the operators' port only: {paths}")

    def records(self) -> list[dict]:
        route53 = self.client("route53", "us-east-1")
        zone = route53.list_hosted_zones()["HostedZones"][0]["Id"]
        return route53.list_resource_record_sets(HostedZoneId=zone, MaxItems="100")["ResourceRecordSets"]

    def failover_record(self) -> None:
        records = self.records()
        service = [r for r in records if r["Name"].rstrip(".") == f"api.{DOMAIN}" and r["Type"] == "CNAME"]
        order = {r["SetIdentifier"]: r["ResourceRecords"][0]["Value"] for r in service}
        holds(order == {site: f"{site}.{DOMAIN}" for site in REGIONS}, f"the service's name knows both sites: {order}")
        checked = {c["Id"]: c["HealthCheckConfig"]
                   for c in self.client("route53", "us-east-1").list_health_checks()["HealthChecks"]}
        for record in service:
            config = checked[record["HealthCheckId"]]
            holds(config["ResourcePath"] == "/activez" and config["Type"] == "HTTPS", "health checks ask /activez over TLS")
            holds(config["FullyQualifiedDomainName"] == record["ResourceRecords"][0]["Value"],
                  "each record has the health check of its own site")
        own = {r["Name"].rstrip(".") for r in records if r["Type"] == "A"}
        holds(own == {f"{site}.{DOMAIN}" for site in REGIONS}, f"each site has its own name: {own}")

    def secrets(self) -> None:
        """Each site's region holds each secret under the same name, with a value where one was drawn or put."""
        wanted = {f"reconciled/{n}" for n in (
            "database-administrator", "store-password", "witness-administrator", "witness-password",
            "provider-card-token", "provider-points-token")}
        values = {}
        for region in (*REGIONS.values(), THIRD):
            manager = self.client("secretsmanager", region)
            names = {s["Name"] for s in manager.list_secrets()["SecretList"]}
            holds(names == wanted, f"{region} has every secret: {names}")
            values[region] = {n: manager.get_secret_value(SecretId=n)["SecretString"] for n in sorted(names)}
            holds(len(values[region]["reconciled/store-password"]) == 40, "the daemon's password was drawn")
        holds(len({tuple(v.items()) for v in values.values()}) == 1, "the copies are the same in each region")

    def certificates(self, site: str) -> None:
        """The certificate of a site is valid, and every record that renews it exists."""
        acm = self.client("acm", REGIONS[site])
        found = [c for c in acm.list_certificates()["CertificateSummaryList"] if c["DomainName"] == f"{site}.{DOMAIN}"]
        holds(len(found) == 1, f"{site} has its certificate")
        certificate = acm.describe_certificate(CertificateArn=found[0]["CertificateArn"])["Certificate"]
        holds(certificate["Status"] == "ISSUED", f"the certificate of {site} is valid")
        records = {r["Name"].rstrip(".") for r in self.records()}
        for option in certificate["DomainValidationOptions"]:
            holds(option["ResourceRecord"]["Name"].rstrip(".") in records, f"{option['DomainName']} can be renewed")

    def keys(self, site: str) -> None:
        kms = self.client("kms", REGIONS[site])
        for name in (f"alias/reconciled-{site}-database", "alias/reconciled-secrets"):
            key = kms.describe_key(KeyId=name)["KeyMetadata"]
            holds(key["KeyState"] == "Enabled", f"{name} of {site} is usable: {key['KeyState']}")
        for database in self.client("rds", REGIONS[site]).describe_db_instances()["DBInstances"]:
            state = kms.describe_key(KeyId=database["KmsKeyId"])["KeyMetadata"]["KeyState"]
            holds(state == "Enabled", f"the key of {database['DBInstanceIdentifier']} is usable: {state}")

    def survives(self, site: str) -> None:
        """Everything that the serving site lives on is there."""
        self.takes_writes(site)
        self.hot_cluster(site)
        self.network(site, gateways=3)
        self.secrets_of(site)
        self.certificates(site)
        self.keys(site)
        own = {r["Name"].rstrip(".") for r in self.records() if r["Type"] == "A"}
        holds(f"{site}.{DOMAIN}" in own, f"{site} has its name")
        self.witness()

    def secrets_of(self, site: str) -> None:
        manager = self.client("secretsmanager", REGIONS[site])
        for secret in ("store-password", "witness-password", "provider-card-token"):
            holds(manager.get_secret_value(SecretId=f"reconciled/{secret}")["SecretString"] != "",
                  f"{site} has the secret {secret}")

    def witness(self) -> None:
        found = self.client("rds", THIRD).describe_db_instances(DBInstanceIdentifier="reconciled-witness")["DBInstances"][0]
        holds(found["MultiAZ"] and found["DeletionProtection"] and not found["PubliclyAccessible"],
              "the witness is in two zones, protected, and not public")

    def gone(self, site: str) -> None:
        holds(self.database(site) is None, f"no database is left in {site}")
        holds(self.client("eks", REGIONS[site]).list_clusters()["clusters"] == [], f"no cluster is left in {site}")
        holds(self.vpcs(site) == [], f"no VPC is left in {site}")
        holds(self.client("elbv2", REGIONS[site]).describe_load_balancers()["LoadBalancers"] == [],
              f"no load balancer is left in {site}")

    def nothing_runs(self, site: str) -> None:
        holds(self.database(site) is None, f"{site} has no database")
        holds(self.client("eks", REGIONS[site]).list_clusters()["clusters"] == [], f"{site} has no cluster")
        self.network(site, gateways=0)
        copied = self.client("rds", REGIONS[site]).describe_db_instance_automated_backups()["DBInstanceAutomatedBackups"]
        holds(any(c["Status"] == "replicating" for c in copied), f"{site} keeps copies: {copied}")

    def final_snapshot(self, site: str, number: int) -> None:
        """What each deleted database leaves behind, under a name of its own."""
        rds = self.client("rds", REGIONS[site])
        names = {s["DBSnapshotIdentifier"] for s in rds.describe_db_snapshots(SnapshotType="manual")["DBSnapshots"]}
        found = [n for n in names if n.startswith(f"reconciled-{site}-2")]
        holds(len(found) == number, f"the databases of {site} left {number} snapshots: {names}")

    def policies(self) -> None:
        """Reads every policy that was applied: who is allowed something is allowed named actions on named resources."""
        seen = 0
        for resource in applied(self.states()):
            for attribute in ("policy", "assume_role_policy"):
                text = resource["values"].get(attribute)
                if not text or resource["type"] == "aws_ecr_lifecycle_policy":
                    continue
                seen += 1
                for statement in json.loads(text)["Statement"]:
                    statement_holds(resource, attribute, statement)
        holds(seen > 30, f"the states hold policies: {seen}")

    def no_passwords(self, plans: list[dict]) -> None:
        """No value of a secret may stand in a plan or in a state."""
        text = json.dumps(plans) + "".join(self.states())
        manager = self.client("secretsmanager", THIRD)
        for secret in manager.list_secrets()["SecretList"]:
            value = manager.get_secret_value(SecretId=secret["Name"])["SecretString"]
            holds(value == "a token of the test" or value not in text, f"no plan and no state has {secret['Name']}")

    def states(self) -> list[str]:
        found = []
        for region in (*REGIONS.values(), THIRD):
            s3 = self.client("s3", region)
            bucket = f"reconciled-states-123456789012-{region}"
            for item in s3.list_objects_v2(Bucket=bucket)["Contents"]:
                if item["Key"].endswith(".tfstate"):
                    found.append(s3.get_object(Bucket=bucket, Key=item["Key"])["Body"].read().decode())
        holds(len(found) == 4, f"there are four states: {len(found)}")
        return found


def applied(states: list[str]):
    for state in states:
        for resource in json.loads(state)["resources"]:
            if resource["mode"] == "managed":
                for instance in resource["instances"]:
                    yield {"address": f"{resource.get('module', 'root')}.{resource['type']}.{resource['name']}",
                           "type": resource["type"], "values": instance["attributes"]}


def as_list(value) -> list:
    return value if isinstance(value, list) else [value]


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
