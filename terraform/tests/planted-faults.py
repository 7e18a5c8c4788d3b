"""Plants faults in a copy of terraform/, one at a time, and runs the tests that must notice them.

    planted-faults.py TREE      TREE: an initialised copy, which is changed and put back

A fault counts as found only when an assertion or a precondition fails, or an expected refusal does not come. A fault
that makes the configuration invalid would be found by anything, and is an error in a file of the modules.
"""

import pathlib
import re
import subprocess
import sys

# Name, file, what stands there (its first occurrence), what is planted, the file of tests that must fail.
FAULTS = [
    ("no deletion protection", "modules/database/main.tf",
     "deletion_protection = var.protected", "deletion_protection = false", "database"),
    ("one zone for the database", "modules/database/main.tf",
     "multi_az            = var.multi_az", "multi_az            = false", "database"),
    ("hot replicas in one zone", "modules/site/main.tf",
     'multi_az                  = var.tier.database == "hot"', "multi_az                  = false", "tiers"),
    ("a step down in spite of protection", "modules/site/protection.tf",
     "!local.protected || local.has_database", "true || local.has_database", "site"),
    ("protection is what is planned", "modules/site/protection.tf",
     "var.protected || anytrue(data.aws_lb.there[*].enable_deletion_protection)", "var.protected", "site"),
    ("a primary as a replica", "modules/site/protection.tf",
     "!local.has_database || local.takes_writes || alltrue(", "true || alltrue(", "site"),
    ("nobody is told of a small database", "modules/site/protection.tf",
     '!local.takes_writes || var.tier.database == "hot"', "!local.takes_writes || var.tier.database != null", "site"),
    ("nobody is told what cannot be kept", "modules/site/protection.tf",
     "local.reachable.rto_minutes <= var.objectives.rto_minutes", "true", "site"),
    ("nobody is told what will be lost", "modules/site/protection.tf",
     "local.reachable.rpo_seconds <= var.objectives.rpo_seconds", "true", "site"),
    ("a site in us-east-1", "modules/site/variables.tf",
     'var.region != "us-east-1"', 'var.region != ""', "site"),
    ("a misspelt setting", "environments/variables.tf",
     'concat(\n      [for key in setsubtract(keys(site), local.known_keys.site) : "${name}.${key}"],',
     'concat(', "settings"),
    ("the version changes in a promotion", "modules/database/main.tf",
     "local.is_new ? var.engine_version : local.is_replica ? null : var.upgraded_engine_version", "var.engine_version",
     "database"),
    ("connections by the memory", "modules/database/main.tf",
     '"max_connections" = tostring(var.max_connections)', '"max_locks_per_transaction" = "64"', "database"),
    ("a witness in one zone", "modules/witness/main.tf",
     "multi_az                    = true", "multi_az                    = false", "witness"),
    ("copies with another key", "modules/database/backup.tf",
     "kms_key_id             = module.key.arn", "kms_key_id             = null", "database_backups"),
    ("the backups' role uses every key", "modules/foundation/roles.tf",
     'variable = "kms:ResourceAliases"', 'variable = "kms:KeySpec"', "foundation"),
    ("a database without encryption", "modules/database/main.tf",
     "storage_encrypted                   = true", "storage_encrypted                   = false", "database"),
    ("a public database", "modules/database/main.tf",
     "publicly_accessible                 = false", "publicly_accessible                 = true", "database"),
    ("connections without TLS", "modules/database/main.tf",
     '"rds.force_ssl"                       = "1"', '"rds.force_ssl"                       = "0"', "database"),
    ("no final snapshot", "modules/database/main.tf",
     "skip_final_snapshot         = local.is_replica", "skip_final_snapshot         = true", "database"),
    ("a standby without replica", "modules/site/main.tf",
     'replica = { kind = "replica", of = local.other_database_arn, at = null }',
     'replica = { kind = "new", of = null, at = null }', "tiers"),
    ("backups stay in their region", "modules/database/backup.tf",
     "var.copies_to_vault_arn == null ? [] : [var.copies_to_vault_arn]", "[]", "database_backups"),
    ("vaults without lock", "modules/database/backup.tf",
     "for_each = var.protected ? local.vaults : {}", "for_each = {}", "database_backups"),
    ("commits need not be flushed", "modules/database/variables.tf",
     'contains(["on", "remote_apply"], lookup(var.parameters, "synchronous_commit", "on"))', "true", "database"),
    ("any tier for any resource", "modules/site/variables.tf",
     'condition     = var.tier.workload != "hot" || var.tier.cluster == "hot"',
     'condition     = var.tier.workload != ""', "tiers"),
    ("a workload without cluster", "modules/site/variables.tf",
     'condition     = var.tier.workload == "on_demand" || var.tier.cluster != "on_demand"',
     'condition     = var.tier.workload != ""', "tiers"),
    ("nodes in a warm cluster", "modules/site/main.tf",
     ": key => 0 if !local.has_nodes }", ": key => 0 if false }", "tiers"),
    ("addresses under names that the site does not know", "modules/foundation/main.tf",
     "${var.name}-nat-${each.key}", "${var.name}-${each.key}", "foundation"),
    ("a gateway without a reserved address", "modules/network/variables.tf",
     'can(regex("^eipalloc-", var.address_ids[zone]))', 'lookup(var.address_ids, zone, "eipalloc-") != ""', "network"),
    ("two zones are enough", "modules/network/variables.tf",
     "length(var.zones) == 3 && length(distinct(var.zones)) == 3", "length(var.zones) >= 2", "network"),
    ("no flow of rejected traffic", "modules/network/flow-logs.tf", '"ALL"', '"ACCEPT"', "network"),
    ("health checks ask another path", "modules/dns-failover/main.tf",
     'resource_path     = "/activez"', 'resource_path     = "/readyz"', "dns_failover"),
    ("both sites are the first answer", "modules/dns-failover/main.tf",
     "type = each.key", 'type = "PRIMARY"', "dns_failover"),
    ("a record without its health check", "modules/dns-failover/main.tf",
     "health_check_id = aws_route53_health_check.active[each.key].id",
     'health_check_id = aws_route53_health_check.active["PRIMARY"].id', "dns_failover"),
    ("silence is no alarm", "modules/dns-failover/main.tf",
     '"breaching"', '"notBreaching"', "dns_failover"),
    ("all paths of the operators' port", "modules/entry/main.tf", 'values = ["/activez"]', 'values = ["/*"]', "entry"),
    ("old TLS", "modules/entry/main.tf",
     "ELBSecurityPolicy-TLS13-1-2-2021-06", "ELBSecurityPolicy-2016-08", "entry"),
    ("callers at the operators' port", "modules/entry/variables.tf",
     "var.admin_node_port != var.api_node_port", "var.admin_node_port != 0", "entry"),
    ("IMDSv1", "modules/cluster/nodes.tf", '"required"', '"optional"', "cluster"),
    ("node volumes without encryption", "modules/cluster/nodes.tf",
     "encrypted             = true", "encrypted             = false", "cluster"),
    ("an open Kubernetes API", "modules/cluster/variables.tf",
     'try(tonumber(split("/", c)[1]) >= 16, false)', "true", "cluster"),
    ("Kubernetes secrets in the clear", "modules/cluster/main.tf",
     'resources = ["secrets"]', "resources = []", "cluster"),
    ("network policies that do nothing", "modules/cluster/main.tf",
     'enableNetworkPolicy = "true"', 'enableNetworkPolicy = "false"', "cluster"),
    ("no taint on batch", "modules/cluster/nodes.tf",
     'for_each = each.key == "batch" ? [1] : []', "for_each = []", "cluster"),
    ("secrets without copies' own key", "modules/secrets/main.tf",
     "kms_key_id = replica.value", "kms_key_id = null", "secrets"),
    ("keys that never rotate", "modules/key/main.tf",
     "enable_key_rotation     = true", "enable_key_rotation     = false", "key"),
    ("a wildcard in a key's policy", "modules/key/main.tf", '"kms:CancelKeyDeletion",', '"kms:*",', "key"),
    ("images that change", "modules/site/image.tf", '"IMMUTABLE"', '"MUTABLE"', "site"),
    ("alarms in the clear", "modules/alarms/main.tf",
     "kms_master_key_id = module.key.arn", "kms_master_key_id = null", "alarms"),
]

# Also an assertion about something that is not there any more, which Terraform reports as an error in the tests' file.
SIGNS = re.compile(r"Test assertion failed|Missing expected failure|Resource precondition failed|on tests/\S+ line \d+")


def plant(tree: pathlib.Path, name: str, file: str, old: str, new: str, tests: str) -> str | None:
    """Runs the tests with the fault; returns what is wrong with them, or None when they found it."""
    path = tree / file
    text = path.read_text()
    # However `terraform fmt` aligns it.
    found = re.search(r"\s+".join(re.escape(word) for word in old.split()), text)
    if not found:
        return f"{file} does not hold: {old!r}; the fault must be planted anew"
    try:
        path.write_text(text[:found.start()] + new + text[found.end():])
        run = subprocess.run(
            ["terraform", "test", "-no-color", f"-filter=tests/{tests}.tftest.hcl"],
            cwd=tree, capture_output=True, text=True, check=False)
    finally:
        path.write_text(text)
    output = run.stdout + run.stderr
    if run.returncode == 0:
        return f"tests/{tests}.tftest.hcl passed with it"
    if not SIGNS.search(output):
        return f"tests/{tests}.tftest.hcl failed, but not by an assertion:\n{output[:2000]}"
    return None


def main() -> int:
    tree = pathlib.Path(sys.argv[1])
    missed = 0
    for fault in FAULTS:
        problem = plant(tree, *fault)
        missed += problem is not None
        print(f"    {'MISSED' if problem else 'found '}  {fault[0]} ({fault[-1]})", flush=True)
        if problem:
            print(f"            {problem}", flush=True)
    print(f"    {len(FAULTS) - missed} of {len(FAULTS)} planted faults were found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
