mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "other"
  source = "./tests/mocks"
}

variables {
  name                      = "reconciled-ireland"
  region                    = "eu-west-1"
  other_region              = "eu-central-1"
  origin                    = { kind = "new" }
  vpc_id                    = "vpc-1"
  subnet_ids                = ["subnet-a", "subnet-b", "subnet-c"]
  client_security_group_ids = { cluster = "sg-cluster" }
  multi_az                  = true
  master_password           = "a value of the test"
  master_password_version   = 1
  alarm_topic_arns          = ["arn:aws:sns:eu-west-1:123456789012:alarms"]
}

run "backups_go_to_the_other_region_and_stay" {
  # Applied, because the ARNs of vaults and keys are known only then.
  command = apply

  module {
    source = "./modules/database"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  assert {
    condition     = aws_db_instance_automated_backups_replication.other[0].retention_period == 14 && aws_db_instance_automated_backups_replication.other[0].kms_key_id == module.other_key[0].arn
    error_message = "The automated backups must be replicated, under a key of the other region."
  }

  assert {
    condition     = one(one(aws_backup_plan.this[0].rule).copy_action).destination_vault_arn == aws_backup_vault.other[0].arn
    error_message = "Daily backups must be copied to the other region."
  }

  assert {
    condition     = aws_backup_vault_lock_configuration.this[0].min_retention_days == 7 && aws_backup_vault_lock_configuration.other[0].min_retention_days == 7 && !aws_backup_vault.this[0].force_destroy
    error_message = "The vaults must refuse to delete backups before their time."
  }

  assert {
    condition     = aws_db_instance.this.kms_key_id == module.key.arn && aws_db_instance.this.performance_insights_kms_key_id == module.key.arn && aws_backup_vault.this[0].kms_key_arn == module.key.arn
    error_message = "All of it must be encrypted with our key."
  }

  assert {
    condition     = alltrue([for s in data.aws_iam_policy_document.backup.statement : !contains(s.resources, "*") && alltrue([for a in s.actions : !strcontains(a, "*")])])
    error_message = "The role of the backups must have no wildcard."
  }

  assert {
    condition     = alltrue([for a in aws_cloudwatch_metric_alarm.this : a.alarm_actions == toset(["arn:aws:sns:eu-west-1:123456789012:alarms"])]) && toset(keys(aws_cloudwatch_metric_alarm.this)) == toset(["cpu", "storage", "transaction-ids", "backlog"])
    error_message = "Somebody must be told of what goes wrong."
  }
}
