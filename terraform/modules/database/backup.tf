# Two kinds of copies in the other region. The automated backups are replicated as they are made, so the other region
# can restore to a moment a few minutes before the loss: this is what an on-demand database comes back from. The
# daily backups are kept longer, in vaults that refuse to delete them before their time: they are for a mistake or an
# intruder, whom replication would follow at once.

module "other_key" {
  source = "../key"
  count  = local.is_primary && var.copies_to_other_region ? 1 : 0

  providers = { aws = aws.other }

  alias                   = "${var.name}-database-copies"
  description             = "Backups of ${var.name} that were copied here"
  via_services            = [for service in ["rds", "backup"] : "${service}.${var.other_region}.amazonaws.com"]
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

resource "aws_db_instance_automated_backups_replication" "other" {
  count    = local.is_primary && var.copies_to_other_region ? 1 : 0
  provider = aws.other

  source_db_instance_arn = aws_db_instance.this.arn
  kms_key_id             = module.other_key[0].arn
  retention_period       = var.backup_retention_days
}

resource "aws_backup_vault" "this" {
  count = local.is_primary ? 1 : 0

  name          = var.name
  kms_key_arn   = module.key.arn
  force_destroy = !var.protected
  tags          = var.tags
}

resource "aws_backup_vault_lock_configuration" "this" {
  count = local.is_primary && var.protected ? 1 : 0

  backup_vault_name  = aws_backup_vault.this[0].name
  min_retention_days = 7
  max_retention_days = 400
}

resource "aws_backup_vault" "other" {
  count    = local.is_primary && var.copies_to_other_region ? 1 : 0
  provider = aws.other

  name          = "${var.name}-copies"
  kms_key_arn   = module.other_key[0].arn
  force_destroy = !var.protected
  tags          = var.tags
}

resource "aws_backup_vault_lock_configuration" "other" {
  count    = local.is_primary && var.copies_to_other_region && var.protected ? 1 : 0
  provider = aws.other

  backup_vault_name  = aws_backup_vault.other[0].name
  min_retention_days = 7
  max_retention_days = 400
}

resource "aws_backup_plan" "this" {
  count = local.is_primary ? 1 : 0

  name = var.name
  tags = var.tags

  rule {
    rule_name         = "daily"
    target_vault_name = aws_backup_vault.this[0].name
    schedule          = "cron(0 19 * * ? *)"
    start_window      = 60
    completion_window = 240

    lifecycle {
      delete_after = var.daily_backups_days
    }

    dynamic "copy_action" {
      for_each = aws_backup_vault.other

      content {
        destination_vault_arn = copy_action.value.arn

        lifecycle {
          delete_after = var.daily_backups_days
        }
      }
    }
  }
}

resource "aws_backup_selection" "this" {
  count = local.is_primary ? 1 : 0

  name         = "database"
  plan_id      = aws_backup_plan.this[0].id
  iam_role_arn = aws_iam_role.backup[0].arn
  resources    = [aws_db_instance.this.arn]

  depends_on = [aws_iam_role_policy.backup]
}

data "aws_iam_policy_document" "backup_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["backup.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account_id]
    }
  }
}

# The part of AWS's AWSBackupServiceRolePolicyForBackup that one database needs, for this database and these vaults.
data "aws_iam_policy_document" "backup" {
  statement {
    sid = "SnapshotThisDatabase"
    actions = [
      "rds:AddTagsToResource",
      "rds:CreateDBSnapshot",
      "rds:DescribeDBInstances",
      "rds:DescribeDBSnapshots",
      "rds:ListTagsForResource",
    ]
    resources = [
      aws_db_instance.this.arn,
      "arn:${local.partition}:rds:${var.region}:${local.account_id}:snapshot:awsbackup:*",
    ]
  }

  statement {
    sid = "CopyAndExpireOwnSnapshots"
    actions = [
      "rds:CopyDBSnapshot",
      "rds:DeleteDBSnapshot",
      "rds:ModifyDBSnapshotAttribute",
    ]
    resources = [for region in [var.region, var.other_region] : "arn:${local.partition}:rds:${region}:${local.account_id}:snapshot:awsbackup:*"]
  }

  statement {
    sid       = "IntoTheVaults"
    actions   = ["backup:CopyFromBackupVault", "backup:CopyIntoBackupVault", "backup:DescribeBackupVault"]
    resources = concat(aws_backup_vault.this[*].arn, aws_backup_vault.other[*].arn)
  }

  statement {
    sid       = "EncryptThem"
    actions   = ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey"]
    resources = concat([module.key.arn], module.other_key[*].arn)

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = flatten([for region in [var.region, var.other_region] : [for service in ["rds", "backup"] : "${service}.${region}.amazonaws.com"]])
    }
  }
}

resource "aws_iam_role" "backup" {
  count = local.is_primary ? 1 : 0

  name               = "${var.name}-database-backup"
  assume_role_policy = data.aws_iam_policy_document.backup_trust.json
  tags               = var.tags
}

resource "aws_iam_role_policy" "backup" {
  count = local.is_primary ? 1 : 0

  name   = "back-up-the-database"
  role   = aws_iam_role.backup[0].id
  policy = data.aws_iam_policy_document.backup.json
}
