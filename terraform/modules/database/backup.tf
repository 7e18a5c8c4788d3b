# Two kinds of copies in the other region, each owned by the site that may need it: this one keeps those of the other
# site's database. The automated backups are pulled as they are made, so this region can restore to a moment a few
# minutes before the loss: this is what an on-demand database comes back from. The daily backups are kept longer, in
# vaults that refuse to delete them before their time: they are for a mistake or an intruder, whom replication would
# follow at once.
#
# Copies have this site's own key, which a database that is restored from them keeps for its life.

resource "aws_db_instance_automated_backups_replication" "other" {
  count = var.copies_of == null ? 0 : 1

  source_db_instance_arn = var.copies_of
  kms_key_id             = module.key.arn
  retention_period       = var.backup_retention_days
}

resource "aws_backup_vault" "this" {
  for_each = local.vaults

  name          = each.value
  kms_key_arn   = module.key.arn
  force_destroy = !var.protected
  tags          = var.tags
}

resource "aws_backup_vault_lock_configuration" "this" {
  for_each = var.protected ? local.vaults : {}

  backup_vault_name  = aws_backup_vault.this[each.key].name
  min_retention_days = 7
  max_retention_days = 400
}

locals {
  vaults = {
    own    = var.name
    copies = "${var.name}-copies"
  }
}

# The other site's vault is named and not read: its region may be lost. A copy that fails there is tried again a day later.
resource "aws_backup_plan" "this" {
  name = var.name
  tags = var.tags

  rule {
    rule_name         = "daily"
    target_vault_name = aws_backup_vault.this["own"].name
    schedule          = "cron(0 19 * * ? *)"
    start_window      = 60
    completion_window = 240

    lifecycle {
      delete_after = var.daily_backups_days
    }

    dynamic "copy_action" {
      for_each = var.copies_to_vault_arn == null ? [] : [var.copies_to_vault_arn]

      content {
        destination_vault_arn = copy_action.value

        lifecycle {
          delete_after = var.daily_backups_days
        }
      }
    }
  }
}

# Only what takes writes is backed up.
resource "aws_backup_selection" "this" {
  count = local.is_primary ? 1 : 0

  name         = "database"
  plan_id      = aws_backup_plan.this.id
  iam_role_arn = var.backup_role_arn
  resources    = [aws_db_instance.this[0].arn]
}
