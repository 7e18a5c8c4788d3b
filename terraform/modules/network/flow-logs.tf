data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  account_id    = data.aws_caller_identity.current.account_id
  partition     = data.aws_partition.current.partition
  log_group     = "/${var.name}/vpc-flow"
  log_group_arn = "arn:${local.partition}:logs:${var.region}:${local.account_id}:log-group:${local.log_group}"
}

module "log_key" {
  source = "../key"

  alias       = "${var.name}-flow-logs"
  description = "Flow logs of the VPC ${var.name}"
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

resource "aws_cloudwatch_log_group" "flow" {
  name              = local.log_group
  retention_in_days = var.log_retention_in_days
  kms_key_id        = module.log_key.arn
  tags              = var.tags
}

resource "aws_flow_log" "this" {
  vpc_id                   = aws_vpc.this.id
  traffic_type             = "ALL"
  log_destination_type     = "cloud-watch-logs"
  log_destination          = aws_cloudwatch_log_group.flow.arn
  iam_role_arn             = var.flow_logs_role_arn
  max_aggregation_interval = 60
  tags                     = merge(var.tags, { Name = var.name })
}
