# Secrets in a region where no site is, with a copy in the region of each site, under a key of each region: a site reads
# its own copies whatever other region is gone, and neither site's end takes the secrets from the other. No value of
# theirs is in a state: initial values are ephemeral, and the others are put by hand.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  account_id = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  copy_keys  = { (var.site_regions[0]) = module.key_a.arn, (var.site_regions[1]) = module.key_b.arn }
  regions    = concat([var.region], var.site_regions)
}

module "key" {
  source = "../key"

  alias                   = "${var.name}-secrets"
  description             = "Secrets of ${var.name}"
  via_services            = ["secretsmanager.${var.region}.amazonaws.com"]
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

module "key_a" {
  source = "../key"

  providers = { aws = aws.a }

  alias                   = "${var.name}-secrets"
  description             = "Copies of the secrets of ${var.name}"
  via_services            = ["secretsmanager.${var.site_regions[0]}.amazonaws.com"]
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

module "key_b" {
  source = "../key"

  providers = { aws = aws.b }

  alias                   = "${var.name}-secrets"
  description             = "Copies of the secrets of ${var.name}"
  via_services            = ["secretsmanager.${var.site_regions[1]}.amazonaws.com"]
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

  dynamic "replica" {
    for_each = local.copy_keys

    content {
      region     = replica.key
      kms_key_id = replica.value
    }
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

# What the role that deploys needs: to read these secrets in each region. It is attached by whoever owns that role.
data "aws_iam_policy_document" "reader" {
  statement {
    sid       = "ReadTheSecrets"
    actions   = ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"]
    resources = flatten([for secret in aws_secretsmanager_secret.this : [for region in local.regions : replace(secret.arn, ":${var.region}:", ":${region}:")]])
  }

  statement {
    sid       = "DecryptThem"
    actions   = ["kms:Decrypt"]
    resources = concat([module.key.arn], values(local.copy_keys))

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = [for region in local.regions : "secretsmanager.${region}.amazonaws.com"]
    }
  }
}

resource "aws_iam_policy" "reader" {
  name        = "${var.name}-secrets-reader"
  description = "Reads the secrets of ${var.name} in each region"
  policy      = data.aws_iam_policy_document.reader.json
  tags        = var.tags
}
