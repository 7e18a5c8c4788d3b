# One site: network, entry, cluster, database, and what goes with them, at the tier that its variables say.
#
# A site's state holds what the site owns and what it pushes to the other region (copies of secrets and of backups);
# what it takes from the other region (its replica) it finds by names that both sites derive alike. So either site can
# be applied while the other's region, and the state in it, are gone.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

data "aws_availability_zones" "available" {
  state = "available"

  # Local zones and Wavelength zones have neither NAT gateways nor RDS.
  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

locals {
  id           = "${var.name}-${var.site}"
  account_id   = data.aws_caller_identity.current.account_id
  partition    = data.aws_partition.current.partition
  zones        = coalesce(var.zones, slice(sort(data.aws_availability_zones.available.names), 0, 3))
  site_fqdn    = "${var.site}.${var.domain}"
  service_fqdn = "${var.service}.${var.domain}"
  is_active    = var.role == "active"
  tags         = merge(var.tags, { Deployment = var.name, Site = var.site })

  has_cluster  = var.tier.cluster != "on_demand"
  has_nodes    = var.tier.cluster == "hot"
  has_database = var.tier.database != "on_demand"

  # Over the pools' own numbers where no node runs.
  no_nodes = { for key in ["min", "desired"] : key => 0 if !local.has_nodes }

  # The database of the other site, by its name: it may be gone when this is read.
  replica_of = var.replica_of != null ? var.replica_of : "arn:${local.partition}:rds:${var.other_region}:${local.account_id}:db:${var.name}-${var.other_site}"
  database_origin = (
    local.is_active ? { kind = "new", of = null, at = null } :
    var.restore != null ? { kind = "backup", of = var.restore.of, at = var.restore.at } :
    { kind = "replica", of = local.replica_of, at = null }
  )

  topic_arns = [module.alarms.topic_arn]
}

module "network" {
  source = "../network"

  name      = local.id
  region    = var.region
  cidr      = var.cidr
  zones     = local.zones
  nat       = local.has_nodes ? var.nat : "none"
  protected = var.protected
  tags      = local.tags
}

module "entry" {
  source = "../entry"

  name                   = local.id
  region                 = var.region
  vpc_id                 = module.network.vpc_id
  vpc_cidr               = module.network.vpc_cidr
  subnet_ids             = module.network.public_subnet_ids
  zone_id                = var.zone_id
  site_fqdn              = local.site_fqdn
  service_fqdn           = local.service_fqdn
  validates_service_name = local.is_active
  client_cidrs           = var.client_cidrs
  expects_pods           = local.has_nodes && var.tier.workload == "hot"
  web_acl_arn            = var.web_acl_arn
  alarm_topic_arns       = local.topic_arns
  protected              = var.protected
  tags                   = local.tags
}

module "cluster" {
  source = "../cluster"
  count  = local.has_cluster ? 1 : 0

  name                    = local.id
  region                  = var.region
  kubernetes_version      = var.cluster.kubernetes_version
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
  count  = local.has_database ? 1 : 0

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  name                      = local.id
  region                    = var.region
  other_region              = var.other_region
  origin                    = local.database_origin
  promoted                  = var.database_promoted
  vpc_id                    = module.network.vpc_id
  subnet_ids                = module.network.isolated_subnet_ids
  client_security_group_ids = { for index, cluster in module.cluster : "cluster" => cluster.security_group_id }
  engine_version            = var.database.engine_version
  instance_class            = var.tier.database == "hot" ? var.database.instance_class : var.database.warm_instance_class
  multi_az                  = var.tier.database == "hot"
  storage_gib               = var.database.storage_gib
  max_storage_gib           = var.database.max_storage_gib
  backup_retention_days     = var.database.backup_retention_days
  copies_to_other_region    = var.copies_to_other_region
  lag_alarm_seconds         = var.database.lag_alarm_seconds
  apply_immediately         = var.database.apply_immediately
  final_snapshot_suffix     = var.database.final_snapshot_suffix
  master_password           = var.database_password
  master_password_version   = local.is_active ? 1 : 0
  alarm_topic_arns          = local.topic_arns
  protected                 = var.protected
  tags                      = local.tags
}

# The active site keeps the secrets and copies them; the standby reads the copies by their names.
module "secrets" {
  source = "../secrets"
  count  = local.is_active ? 1 : 0

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  name           = var.name
  region         = var.region
  other_region   = var.other_region
  generated      = ["database-administrator", "store-password"]
  initial_values = var.initial_secrets
  protected      = var.protected
  tags           = local.tags

  secrets = merge(
    {
      database-administrator = "Password of the role that RDS creates: for migrations and emergencies"
      store-password         = "Password of the daemon's role in PostgreSQL (RECONCILED_STORE_PASSWORD_FILE)"
    },
    { for name in var.providers_of_payments : "provider-${name}-token" => "Token for the provider ${name} (RECONCILED_PROVIDERS_${upper(replace(name, "-", "_"))}_TOKEN_FILE)" },
  )
}
