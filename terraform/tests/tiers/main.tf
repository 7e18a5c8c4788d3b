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

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  role         = "standby"
  name         = "reconciled"
  site         = "ireland"
  region       = "eu-west-1"
  cidr         = "10.20.0.0/16"
  other_site   = "frankfurt"
  other_region = "eu-central-1"
  domain       = "pay.example.com"
  zone_id      = "Z0000000000000000000"

  tier              = var.promoted ? local.hot : each.value
  database_promoted = var.promoted && each.value.database != "on_demand"
  restore           = var.promoted && each.value.database == "on_demand" ? { of = "arn:aws:rds:eu-west-1:123456789012:auto-backup:ab-00000000" } : null
}
