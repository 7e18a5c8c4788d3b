mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                      = "reconciled-ireland"
  region                    = "eu-west-1"
  origin                    = { kind = "new" }
  vpc_id                    = "vpc-1"
  subnet_ids                = ["subnet-a", "subnet-b", "subnet-c"]
  client_security_group_ids = { cluster = "sg-cluster" }
  multi_az                  = true
  monitoring_role_arn       = "arn:aws:iam::123456789012:role/reconciled-ireland-database-monitoring"
  backup_role_arn           = "arn:aws:iam::123456789012:role/reconciled-ireland-database-backup"
  copies_of                 = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt"
  copies_to_vault_arn       = "arn:aws:backup:eu-central-1:123456789012:backup-vault:reconciled-frankfurt-copies"
  master_password           = "a value of the test"
  master_password_version   = 1
  alarm_topic_arns          = ["arn:aws:sns:eu-west-1:123456789012:alarms"]
}

run "copies_have_the_key_of_the_site_that_keeps_them" {
  # Applied, because the ARNs of vaults and keys are known only then.
  command = apply

  module {
    source = "./modules/database"
  }

  assert {
    condition     = aws_db_instance_automated_backups_replication.other[0].retention_period == 14 && aws_db_instance_automated_backups_replication.other[0].kms_key_id == module.key.arn
    error_message = "The other site's automated backups must be pulled, under this site's own key: a database that is restored from them keeps it."
  }

  assert {
    condition     = one(one(aws_backup_plan.this.rule).copy_action).destination_vault_arn == var.copies_to_vault_arn
    error_message = "Daily backups must be copied to the other region."
  }

  assert {
    condition     = alltrue([for lock in aws_backup_vault_lock_configuration.this : lock.min_retention_days == 7]) && length(aws_backup_vault_lock_configuration.this) == 2 && alltrue([for vault in aws_backup_vault.this : !vault.force_destroy])
    error_message = "The vaults must refuse to delete backups before their time."
  }

  assert {
    condition     = aws_db_instance.this[0].kms_key_id == module.key.arn && aws_db_instance.this[0].performance_insights_kms_key_id == module.key.arn && alltrue([for vault in aws_backup_vault.this : vault.kms_key_arn == module.key.arn])
    error_message = "All of it must be encrypted with our key."
  }

  assert {
    condition     = alltrue([for a in aws_cloudwatch_metric_alarm.this : a.alarm_actions == toset(["arn:aws:sns:eu-west-1:123456789012:alarms"])]) && toset(keys(aws_cloudwatch_metric_alarm.this)) == toset(["cpu", "storage", "transaction-ids", "backlog"])
    error_message = "Somebody must be told of what goes wrong."
  }
}
