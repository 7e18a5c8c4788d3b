# Secrets in one region with a copy in the other, under a key of each region: the other site reads its own copies when
# this region is gone. No value of theirs is in a state: initial values are ephemeral, and the others are put by hand.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  account_id = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  regions    = [var.region, var.other_region]
}

module "key" {
  source = "../key"

  alias                   = "${var.name}-secrets"
  description             = "Secrets of ${var.name}"
  via_services            = ["secretsmanager.${var.region}.amazonaws.com"]
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

module "other_key" {
  source = "../key"

  providers = { aws = aws.other }

  alias                   = "${var.name}-secrets"
  description             = "Copies of the secrets of ${var.name}"
  via_services            = ["secretsmanager.${var.other_region}.amazonaws.com"]
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

resource "aws_secretsmanager_secret" "this" {
  for_each = var.secrets

  name                    = "${var.name}/${each.key}"
  description             = each.value
  kms_key_id              = module.key.arn
  recovery_window_in_days = var.protected ? 30 : 0
  tags                    = var.tags

  replica {
    region     = var.other_region
    kms_key_id = module.other_key.arn
  }
}

resource "aws_secretsmanager_secret_version" "initial" {
  for_each = var.generated

  secret_id                = aws_secretsmanager_secret.this[each.key].id
  secret_string_wo         = lookup(var.initial_values, each.key, null)
  secret_string_wo_version = var.generated_version
}

# Whoever is not of this account gets nothing, whatever other policies say.
data "aws_iam_policy_document" "secret" {
  for_each = var.secrets

  statement {
    sid       = "OnlyThisAccount"
    effect    = "Deny"
    actions   = ["secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue", "secretsmanager:PutResourcePolicy", "secretsmanager:DeleteSecret"]
    resources = [aws_secretsmanager_secret.this[each.key].arn]

    principals {
      type        = "AWS"
      identifiers = ["*"]
    }

    condition {
      test     = "StringNotEquals"
      variable = "aws:PrincipalAccount"
      values   = [local.account_id]
    }
  }
}

resource "aws_secretsmanager_secret_policy" "this" {
  for_each = var.secrets

  secret_arn          = aws_secretsmanager_secret.this[each.key].arn
  policy              = data.aws_iam_policy_document.secret[each.key].json
  block_public_policy = true
}

# What the role that deploys needs: to read these secrets in both regions. It is attached by whoever owns that role.
data "aws_iam_policy_document" "reader" {
  statement {
    sid       = "ReadTheSecrets"
    actions   = ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"]
    resources = flatten([for secret in aws_secretsmanager_secret.this : [secret.arn, replace(secret.arn, ":${var.region}:", ":${var.other_region}:")]])
  }

  statement {
    sid       = "DecryptThem"
    actions   = ["kms:Decrypt"]
    resources = [module.key.arn, module.other_key.arn]

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = [for region in local.regions : "secretsmanager.${region}.amazonaws.com"]
    }
  }
}

resource "aws_iam_policy" "reader" {
  name        = "${var.name}-secrets-reader"
  description = "Reads the secrets of ${var.name} in both regions"
  policy      = data.aws_iam_policy_document.reader.json
  tags        = var.tags
}
