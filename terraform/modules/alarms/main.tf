# Where the alarms of one region go.

data "aws_caller_identity" "current" {}

locals {
  topic_publishers = {
    cloudwatch = "cloudwatch.amazonaws.com"
    rds        = "events.rds.amazonaws.com"
  }
}

module "key" {
  source = "../key"

  alias       = "${var.name}-alarms"
  description = "Alarms of ${var.name}"
  service_users = {
    for name, service in local.topic_publishers : name => {
      service   = service
      actions   = ["kms:Decrypt", "kms:GenerateDataKey"]
      condition = { test = "StringEquals", variable = "aws:SourceAccount", values = [data.aws_caller_identity.current.account_id] }
    }
  }
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

resource "aws_sns_topic" "this" {
  name              = "${var.name}-alarms"
  kms_master_key_id = module.key.arn
  tags              = var.tags
}

data "aws_iam_policy_document" "publishers" {
  dynamic "statement" {
    for_each = local.topic_publishers

    content {
      sid       = "PublishBy${title(statement.key)}"
      actions   = ["sns:Publish"]
      resources = [aws_sns_topic.this.arn]

      principals {
        type        = "Service"
        identifiers = [statement.value]
      }

      condition {
        test     = "StringEquals"
        variable = "aws:SourceAccount"
        values   = [data.aws_caller_identity.current.account_id]
      }
    }
  }
}

resource "aws_sns_topic_policy" "this" {
  arn    = aws_sns_topic.this.arn
  policy = data.aws_iam_policy_document.publishers.json
}

resource "aws_sns_topic_subscription" "people" {
  for_each = toset(var.emails)

  topic_arn = aws_sns_topic.this.arn
  protocol  = "email"
  endpoint  = each.key
}
