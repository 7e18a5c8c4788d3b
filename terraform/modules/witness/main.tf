# The witness: a small PostgreSQL in a third region, which keeps the right to act (site.proof: postgres). Without it
# nothing stops a site that is cut off, and the old site would act beside the new one when its region returns.
#
# It holds one row. It runs in two zones that are written synchronously, because a witness that lost its last seconds
# might give the right away too early. Only the nodes of the two sites reach it, over peered networks.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  id            = "${var.name}-witness"
  account_id    = data.aws_caller_identity.current.account_id
  partition     = data.aws_partition.current.partition
  major         = split(".", var.engine_version)[0]
  cidrs         = [for index in range(3) : cidrsubnet(var.cidr, 4, index)]
  log_group     = "/aws/rds/instance/${local.id}/postgresql"
  log_group_arn = "arn:${local.partition}:logs:${var.region}:${local.account_id}:log-group:${local.log_group}"
}

module "key" {
  source = "../key"

  alias        = local.id
  description  = "Database and logs of ${local.id}"
  via_services = ["rds.${var.region}.amazonaws.com"]
  service_users = {
    logs = {
      service   = "logs.${var.region}.amazonaws.com"
      actions   = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"]
      condition = { test = "ArnEquals", variable = "kms:EncryptionContext:aws:logs:arn", values = [local.log_group_arn] }
    }
  }
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

resource "aws_vpc" "this" {
  # checkov:skip=CKV2_AWS_11: one database is in it, and its log says who connects
  cidr_block           = var.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = merge(var.tags, { Name = local.id })
}

resource "aws_default_security_group" "closed" {
  vpc_id  = aws_vpc.this.id
  ingress = []
  egress  = []
  tags    = merge(var.tags, { Name = "${local.id}-closed" })
}

resource "aws_subnet" "this" {
  for_each = { for index, zone in var.zones : zone => index }

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.key
  cidr_block              = local.cidrs[each.value]
  map_public_ip_on_launch = false
  tags                    = merge(var.tags, { Name = "${local.id}-${each.key}" })
}

# The ways to the sites are put into it when they are linked.
resource "aws_route_table" "this" {
  vpc_id = aws_vpc.this.id
  tags   = merge(var.tags, { Name = local.id })
}

resource "aws_route_table_association" "this" {
  for_each = aws_subnet.this

  subnet_id      = each.value.id
  route_table_id = aws_route_table.this.id
}

resource "aws_security_group" "this" {
  name        = local.id
  description = "Witness; no rule lets it call anybody"
  vpc_id      = aws_vpc.this.id
  tags        = merge(var.tags, { Name = local.id })
}

resource "aws_vpc_security_group_ingress_rule" "nodes" {
  for_each = toset(var.client_cidrs)

  security_group_id = aws_security_group.this.id
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 5432
  to_port           = 5432
  description       = "PostgreSQL from the nodes of a site"
  tags              = var.tags
}

resource "aws_db_subnet_group" "this" {
  name        = local.id
  description = "Subnets of ${local.id}"
  subnet_ids  = [for zone in var.zones : aws_subnet.this[zone].id]
  tags        = var.tags
}

resource "aws_db_parameter_group" "this" {
  name        = "${local.id}-postgres${local.major}"
  family      = "postgres${local.major}"
  description = "Parameters of ${local.id}"
  tags        = var.tags

  dynamic "parameter" {
    for_each = {
      "synchronous_commit"                  = "on"
      "rds.force_ssl"                       = "1"
      "ssl_min_protocol_version"            = "TLSv1.2"
      "password_encryption"                 = "scram-sha-256"
      "idle_in_transaction_session_timeout" = "10000"
      "log_statement"                       = "ddl"
      "log_min_duration_statement"          = "1000"
    }

    content {
      name         = parameter.key
      value        = parameter.value
      apply_method = "immediate"
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

# RDS makes this group itself if it is missing, then without key and without end.
resource "aws_cloudwatch_log_group" "this" {
  name              = local.log_group
  retention_in_days = 365
  kms_key_id        = module.key.arn
  tags              = var.tags
}

resource "aws_db_instance" "this" {
  # checkov:skip=CKV_AWS_118: enhanced monitoring of one row
  # checkov:skip=CKV_AWS_353: performance insights of one row
  identifier     = local.id
  instance_class = var.instance_class
  tags           = var.tags

  engine              = "postgres"
  engine_version      = var.engine_version
  db_name             = "witness"
  username            = "administrator"
  password_wo         = var.master_password
  password_wo_version = 1
  allocated_storage   = 20
  storage_type        = "gp3"

  multi_az                    = true
  deletion_protection         = var.protected
  skip_final_snapshot         = true
  backup_retention_period     = 7
  copy_tags_to_snapshot       = true
  auto_minor_version_upgrade  = true
  allow_major_version_upgrade = false

  storage_encrypted                   = true
  kms_key_id                          = module.key.arn
  publicly_accessible                 = false
  db_subnet_group_name                = aws_db_subnet_group.this.name
  vpc_security_group_ids              = [aws_security_group.this.id]
  parameter_group_name                = aws_db_parameter_group.this.name
  ca_cert_identifier                  = "rds-ca-rsa2048-g1"
  iam_database_authentication_enabled = true
  enabled_cloudwatch_logs_exports     = ["postgresql"]

  depends_on = [aws_cloudwatch_log_group.this]
}

resource "aws_cloudwatch_metric_alarm" "silent" {
  alarm_name          = "${local.id}-silent"
  alarm_description   = "The witness is silent: the active site stops within its lease, and a promotion needs people's words (docs/operate/witness.md)."
  namespace           = "AWS/RDS"
  metric_name         = "CPUUtilization"
  dimensions          = { DBInstanceIdentifier = aws_db_instance.this.identifier }
  statistic           = "Average"
  period              = 60
  evaluation_periods  = 3
  threshold           = 90
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "breaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = var.tags
}
