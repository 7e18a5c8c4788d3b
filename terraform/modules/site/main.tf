# One site: network, entry, cluster, database, and what goes with them, at the tier that its variables say.
#
# Either site is the other's mirror, and nothing here says which one takes payments: that is a fact of the store. A
# site's state holds what this site alone lives on, all of it in one region. What comes from elsewhere (the source of
# its replica, the other site's backups, the roles, addresses and certificate that were made before) it finds by names.
# So a site can be applied while every other region is gone, and taken down without taking anything from the other.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  id           = "${var.name}-${var.site}"
  other_id     = "${var.name}-${var.other_site}"
  account_id   = data.aws_caller_identity.current.account_id
  partition    = data.aws_partition.current.partition
  site_fqdn    = "${var.site}.${var.domain}"
  service_fqdn = "${var.service}.${var.domain}"
  tags         = merge(var.tags, { Deployment = var.name, Site = var.site })

  has_cluster  = var.tier.cluster != "on_demand"
  has_nodes    = var.tier.cluster == "hot"
  has_database = var.tier.database != "on_demand"

  # Over the pools' own numbers where no node runs.
  no_nodes = { for key in ["min", "desired"] : key => 0 if !local.has_nodes }

  # By name and not by reading: IAM may be out of reach.
  role_arns = { for kind in ["cluster", "node", "flow-logs", "database-monitoring", "database-backup"] : kind => "arn:${local.partition}:iam::${local.account_id}:role/${local.id}-${kind}" }

  # The database of the other site, by its name: it may be gone when this is read.
  other_database_arn = "arn:${local.partition}:rds:${var.other_region}:${local.account_id}:db:${local.other_id}"
  database_origin = {
    new     = { kind = "new", of = null, at = null }
    replica = { kind = "replica", of = local.other_database_arn, at = null }
    backup  = { kind = "backup", of = var.database_origin.of, at = var.database_origin.at }
  }[var.database_origin.kind]
  takes_writes = local.has_database && (var.database_origin.kind != "replica" || var.database_origin.promoted)

  topic_arns = [module.alarms.topic_arn]
}

# What the foundation made for this site, found in this region.
data "aws_eip" "nat" {
  for_each = toset(var.zones)

  filter {
    name   = "tag:Name"
    values = ["${local.id}-nat-${each.key}"]
  }
}

data "aws_acm_certificate" "this" {
  domain      = local.site_fqdn
  statuses    = ["ISSUED"]
  most_recent = true
}

module "network" {
  source = "../network"

  name               = local.id
  region             = var.region
  cidr               = var.cidr
  zones              = var.zones
  nat                = local.has_nodes ? var.nat : "none"
  address_ids        = { for zone, address in data.aws_eip.nat : zone => address.id }
  flow_logs_role_arn = local.role_arns["flow-logs"]
  protected          = var.protected
  tags               = local.tags
}

module "entry" {
  source = "../entry"

  name             = local.id
  region           = var.region
  vpc_id           = module.network.vpc_id
  vpc_cidr         = module.network.vpc_cidr
  subnet_ids       = module.network.public_subnet_ids
  certificate_arn  = data.aws_acm_certificate.this.arn
  client_cidrs     = var.client_cidrs
  expects_pods     = local.has_nodes && var.tier.workload == "hot"
  web_acl_arn      = var.web_acl_arn
  alarm_topic_arns = local.topic_arns
  protected        = var.protected
  tags             = local.tags
}

module "cluster" {
  source = "../cluster"
  count  = local.has_cluster ? 1 : 0

  name                    = local.id
  region                  = var.region
  kubernetes_version      = var.cluster.kubernetes_version
  cluster_role_arn        = local.role_arns["cluster"]
  node_role_arn           = local.role_arns["node"]
  subnet_ids              = module.network.private_subnet_ids
  public_access_cidrs     = var.cluster.public_access_cidrs
  administrators          = var.cluster.administrators
  operators               = var.cluster.operators
  front                   = merge(var.cluster.front, local.no_nodes)
  batch                   = merge(var.cluster.batch, local.no_nodes)
  target_group_arns       = module.entry.target_group_arns
  entry_ports             = module.entry.node_ports
  entry_security_group_id = module.entry.security_group_id
  protected               = var.protected
  tags                    = local.tags
}

module "database" {
  source = "../database"

  name                      = local.id
  region                    = var.region
  exists                    = local.has_database
  origin                    = local.database_origin
  promoted                  = var.database_origin.promoted
  vpc_id                    = module.network.vpc_id
  subnet_ids                = module.network.isolated_subnet_ids
  client_security_group_ids = { for index, cluster in module.cluster : "cluster" => cluster.security_group_id }
  engine_version            = var.database.engine_version
  upgraded_engine_version   = var.database.upgraded_engine_version
  max_connections           = var.database.max_connections
  instance_class            = var.tier.database == "hot" ? var.database.instance_class : var.database.warm_instance_class
  multi_az                  = var.tier.database == "hot"
  storage_gib               = var.database.storage_gib
  max_storage_gib           = var.database.max_storage_gib
  backup_retention_days     = var.database.backup_retention_days
  copies_of                 = var.keeps_copies ? local.other_database_arn : null
  copies_to_vault_arn       = "arn:${local.partition}:backup:${var.other_region}:${local.account_id}:backup-vault:${local.other_id}-copies"
  monitoring_role_arn       = local.role_arns["database-monitoring"]
  backup_role_arn           = local.role_arns["database-backup"]
  lag_alarm_seconds         = var.database.lag_alarm_seconds
  apply_immediately         = var.database.apply_immediately
  master_password           = var.database_password
  master_password_version   = var.database_origin.kind == "new" ? 1 : 0
  alarm_topic_arns          = local.topic_arns
  protected                 = var.protected
  tags                      = local.tags
}
