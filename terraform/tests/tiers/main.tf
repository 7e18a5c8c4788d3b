# A standby site in each combination of tiers, as it is kept and, with `promoted`, as a promotion leaves it.

locals {
  tiers = ["on_demand", "warm", "hot"]

  # Promoted, all are hot, and only what the database was makes a difference.
  # A workload needs a cluster; a running one needs nodes and a database.
  combinations = {
    for c in setproduct(local.tiers, local.tiers, local.tiers) : join("/", c) => { cluster = c[0], database = c[1], workload = c[2] }
    if(!var.promoted || (c[0] == "on_demand" && c[2] == "on_demand")) && !(c[2] != "on_demand" && c[0] == "on_demand") && !(c[2] == "hot" && (c[0] != "hot" || c[1] == "on_demand"))
  }
  hot = { cluster = "hot", database = "hot", workload = "hot" }
}

module "site" {
  source   = "../../modules/site"
  for_each = local.combinations

  name         = "reconciled"
  site         = "ireland"
  region       = "eu-west-1"
  zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  cidr         = "10.20.0.0/16"
  other_site   = "frankfurt"
  other_region = "eu-central-1"
  domain       = "pay.example.com"
  keeps_copies = true
  objectives   = { rto_minutes = 120, rpo_seconds = 3600 }

  tier = var.promoted ? local.hot : each.value
  database_origin = (
    !var.promoted ? { kind = "replica" } :
    each.value.database == "on_demand" ? { kind = "backup", of = "arn:aws:rds:eu-west-1:123456789012:auto-backup:ab-00000000" } :
    { kind = "replica", promoted = true }
  )
}
