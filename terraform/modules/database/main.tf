# PostgreSQL on RDS. One resource for each origin that a site's database may have: made new, a replica of the other
# site's, or restored from the backups of the other site that are kept here. So a site changes its part in a
# failover by its variables, not by other code. All calls go to this region: what comes from the other one is pulled,
# and found by names.
#
# What surrounds the instance (key, groups, parameters, vaults) exists also while there is none, so that a restore needs
# nothing else to be made first.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  account_id = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  major      = split(".", var.engine_version)[0]

  is_new     = var.origin.kind == "new"
  is_replica = var.origin.kind == "replica" && !var.promoted
  is_restore = var.origin.kind == "backup"
  # null leaves what is there: the version for new databases must not reach one in the middle of its promotion.
  engine_version = local.is_new ? var.engine_version : local.is_replica ? null : var.upgraded_engine_version
  is_primary     = var.exists && !local.is_replica

  arn           = "arn:${local.partition}:rds:${var.region}:${local.account_id}:db:${var.name}"
  log_groups    = { for kind in ["postgresql", "upgrade"] : kind => "/aws/rds/instance/${var.name}/${kind}" }
  log_group_arn = "arn:${local.partition}:logs:${var.region}:${local.account_id}:log-group:/aws/rds/instance/${var.name}"
}

module "key" {
  source = "../key"

  alias        = "${var.name}-database"
  description  = "Database of ${var.name}, its backups, and copies of the other site's backups"
  via_services = [for service in ["rds", "backup", "pi"] : "${service}.${var.region}.amazonaws.com"]
  service_users = {
    logs = {
      service   = "logs.${var.region}.amazonaws.com"
      actions   = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"]
      condition = { test = "ArnEquals", variable = "kms:EncryptionContext:aws:logs:arn", values = [for kind in ["postgresql", "upgrade"] : "${local.log_group_arn}/${kind}"] }
    }
  }
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

resource "aws_db_subnet_group" "this" {
  name        = var.name
  description = "Isolated subnets of ${var.name}"
  subnet_ids  = var.subnet_ids
  tags        = var.tags
}

resource "aws_security_group" "this" {
  name        = "${var.name}-database"
  description = "Database of ${var.name}; no rule lets it call anybody"
  vpc_id      = var.vpc_id
  tags        = merge(var.tags, { Name = "${var.name}-database" })
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = var.client_security_group_ids

  security_group_id            = aws_security_group.this.id
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
  description                  = "PostgreSQL from ${each.key}"
  tags                         = var.tags
}

resource "aws_db_parameter_group" "this" {
  name        = "${var.name}-postgres${local.major}"
  family      = "postgres${local.major}"
  description = "Parameters of ${var.name}; README.md says why each is set"
  tags        = var.tags

  dynamic "parameter" {
    for_each = local.parameters

    content {
      name         = parameter.key
      value        = parameter.value
      apply_method = contains(local.static_parameters, parameter.key) ? "pending-reboot" : "immediate"
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

locals {
  parameters = merge({
    # A commit is acknowledged when it is flushed, and with Multi-AZ RDS writes both zones before it says flushed.
    "synchronous_commit"       = "on"
    "rds.force_ssl"            = "1"
    "ssl_min_protocol_version" = "TLSv1.2"
    "password_encryption"      = "scram-sha-256"
    # A replica that is gone must not fill this database's disk; it is built again instead.
    "max_slot_wal_keep_size" = tostring(var.replication_backlog_mib)
    # A client that vanished with its machine gives its locks back within a minute.
    "tcp_keepalives_idle"                 = "20"
    "tcp_keepalives_interval"             = "10"
    "tcp_keepalives_count"                = "3"
    "idle_in_transaction_session_timeout" = "60000"
    "log_statement"                       = "ddl"
    "log_min_duration_statement"          = "1000"
    "log_lock_waits"                      = "1"
    "track_io_timing"                     = "1"
    "shared_preload_libraries"            = "pg_stat_statements"
    # PostgreSQL stops replaying on a replica where these are less than on its source. RDS derives the first from the
    # memory of the instance: a smaller replica would have less, and stand still.
    "max_connections"      = tostring(var.max_connections)
    "max_worker_processes" = "16"
  }, var.parameters)
  static_parameters = ["max_connections", "max_worker_processes", "shared_preload_libraries"]
}

# RDS makes these groups itself if they are missing, then without key and without end.
resource "aws_cloudwatch_log_group" "this" {
  for_each = local.log_groups

  name              = each.value
  retention_in_days = var.log_retention_in_days
  kms_key_id        = module.key.arn
  tags              = var.tags
}

# Each life of the database leaves a final snapshot under a name of its own, or the deletion that follows a second
# failover would be refused.
resource "terraform_data" "life" {
  count = var.exists ? 1 : 0

  input = formatdate("YYYYMMDDhhmmss", plantimestamp())

  lifecycle {
    ignore_changes = [input]
  }
}

resource "aws_db_instance" "this" {
  count = var.exists ? 1 : 0

  identifier     = var.name
  instance_class = var.instance_class
  tags           = var.tags

  # Where the rows come from.
  engine              = local.is_replica ? null : "postgres"
  engine_version      = local.engine_version
  db_name             = local.is_new ? var.database_name : null
  username            = local.is_new ? var.master_username : null
  password_wo         = local.is_new ? var.master_password : null
  password_wo_version = local.is_new ? var.master_password_version : null
  allocated_storage   = local.is_replica ? null : var.storage_gib
  replicate_source_db = local.is_replica ? var.origin.of : null

  dynamic "restore_to_point_in_time" {
    for_each = local.is_restore ? [1] : []

    content {
      source_db_instance_automated_backups_arn = var.origin.of
      use_latest_restorable_time               = var.origin.at == null ? true : null
      restore_time                             = var.origin.at
    }
  }

  # What survives the loss of a zone, of the instance, of a mistake.
  multi_az            = var.multi_az
  deletion_protection = var.protected
  # RDS refuses a final snapshot of a replica; its source has the rows.
  skip_final_snapshot         = local.is_replica
  final_snapshot_identifier   = local.is_replica ? null : "${var.name}-${terraform_data.life[0].output}"
  backup_retention_period     = var.backup_retention_days
  backup_window               = "17:00-17:30"
  maintenance_window          = "sun:18:00-sun:19:00"
  copy_tags_to_snapshot       = true
  delete_automated_backups    = false
  max_allocated_storage       = var.max_storage_gib
  storage_type                = "gp3"
  auto_minor_version_upgrade  = true
  allow_major_version_upgrade = false
  apply_immediately           = var.apply_immediately

  # Who can read it.
  storage_encrypted                   = true
  kms_key_id                          = module.key.arn
  publicly_accessible                 = false
  db_subnet_group_name                = aws_db_subnet_group.this.name
  vpc_security_group_ids              = [aws_security_group.this.id]
  parameter_group_name                = aws_db_parameter_group.this.name
  ca_cert_identifier                  = "rds-ca-rsa2048-g1"
  iam_database_authentication_enabled = true

  # What is seen of it.
  enabled_cloudwatch_logs_exports       = keys(local.log_groups)
  monitoring_interval                   = 60
  monitoring_role_arn                   = var.monitoring_role_arn
  performance_insights_enabled          = true
  performance_insights_kms_key_id       = module.key.arn
  performance_insights_retention_period = 7

  lifecycle {
    precondition {
      condition     = !local.is_new || var.master_password_version > 0
      error_message = "A new database needs master_password and master_password_version."
    }

    # Facts of the database's birth. Each would replace a database that takes payments, because where it came from is
    # not what a new one would have: a second restore, or the key of the copies that it was restored with.
    ignore_changes = [db_name, kms_key_id, restore_to_point_in_time, username]
  }

  depends_on = [aws_cloudwatch_log_group.this]
}

