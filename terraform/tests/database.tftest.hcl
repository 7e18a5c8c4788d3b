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
  copies_to_vault_arn       = "arn:aws:backup:eu-central-1:123456789012:backup-vault:reconciled-frankfurt-copies"
  master_password           = "a value of the test"
  master_password_version   = 1
  alarm_topic_arns          = ["arn:aws:sns:eu-west-1:123456789012:alarms"]
}

run "a_new_database_survives_a_zone_and_a_mistake" {
  command = plan

  module {
    source = "./modules/database"
  }

  assert {
    condition     = aws_db_instance.this[0].multi_az
    error_message = "A second zone must take every write."
  }

  assert {
    condition     = aws_db_instance.this[0].deletion_protection && !aws_db_instance.this[0].skip_final_snapshot && !aws_db_instance.this[0].delete_automated_backups
    error_message = "The database must refuse to be deleted, and leave a snapshot and its backups behind if it is."
  }

  assert {
    condition     = aws_db_instance.this[0].backup_retention_period == 14 && aws_db_instance.this[0].copy_tags_to_snapshot
    error_message = "A restore to any moment of two weeks must be possible."
  }

  assert {
    condition     = aws_db_instance.this[0].replicate_source_db == null && length(aws_db_instance.this[0].restore_to_point_in_time) == 0 && output.takes_writes
    error_message = "It must follow no other database."
  }

  assert {
    condition     = aws_db_instance.this[0].auto_minor_version_upgrade && !aws_db_instance.this[0].allow_major_version_upgrade && !aws_db_instance.this[0].apply_immediately
    error_message = "Small upgrades come in the maintenance window, great ones by hand."
  }
}

run "nobody_reads_it_from_outside" {
  command = plan

  module {
    source = "./modules/database"
  }

  assert {
    condition     = !aws_db_instance.this[0].publicly_accessible && aws_db_instance.this[0].storage_encrypted
    error_message = "The database must be encrypted and not public."
  }

  assert {
    condition     = length(aws_vpc_security_group_ingress_rule.clients) == 1 && alltrue([for r in aws_vpc_security_group_ingress_rule.clients : r.referenced_security_group_id == "sg-cluster" && r.from_port == 5432 && r.to_port == 5432])
    error_message = "Only the cluster may connect, to one port."
  }

  assert {
    condition     = aws_db_instance.this[0].password == null
    error_message = "No password may be in the state."
  }

  assert {
    condition     = one([for p in aws_db_parameter_group.this.parameter : p.value if p.name == "rds.force_ssl"]) == "1" && one([for p in aws_db_parameter_group.this.parameter : p.value if p.name == "ssl_min_protocol_version"]) == "TLSv1.2"
    error_message = "Connections must be encrypted."
  }

  assert {
    condition     = aws_db_instance.this[0].performance_insights_enabled && aws_db_instance.this[0].monitoring_interval == 60 && aws_db_instance.this[0].enabled_cloudwatch_logs_exports == toset(["postgresql", "upgrade"])
    error_message = "It must be seen what it does."
  }
}

run "a_commit_counts_when_it_is_flushed_in_both_zones" {
  command = plan

  module {
    source = "./modules/database"
  }

  assert {
    condition     = one([for p in aws_db_parameter_group.this.parameter : p.value if p.name == "synchronous_commit"]) == "on"
    error_message = "Commits must be flushed before they are acknowledged."
  }

  assert {
    condition     = tonumber(one([for p in aws_db_parameter_group.this.parameter : p.value if p.name == "max_slot_wal_keep_size"])) > 0
    error_message = "A dead replica must not fill the disk."
  }

  assert {
    condition     = alltrue([for p in aws_db_parameter_group.this.parameter : p.name != "statement_timeout"])
    error_message = "The daemon bounds its statements itself."
  }
}

run "a_replica_follows_the_other_region" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin            = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
    multi_az          = false
    lag_alarm_seconds = 30
  }

  assert {
    condition     = aws_db_instance.this[0].replicate_source_db == "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" && !output.takes_writes
    error_message = "It must follow the database of the other site."
  }

  assert {
    condition     = aws_db_instance.this[0].deletion_protection && aws_db_instance.this[0].skip_final_snapshot && aws_db_instance.this[0].backup_retention_period == 14
    error_message = "A replica must be protected, leave no snapshot (RDS refuses one), and have backups from the moment of its promotion on."
  }

  assert {
    condition     = output.replica_of == "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" && length(aws_db_instance.this[0].restore_to_point_in_time) == 0
    error_message = "A replica is not restored from a backup."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["lag"].threshold == 30 && aws_cloudwatch_metric_alarm.this["lag"].treat_missing_data == "breaching"
    error_message = "A replica that falls behind, or is silent, must be an alarm."
  }

  assert {
    condition     = length(aws_backup_selection.this) == 0
    error_message = "What follows has nothing of its own to back up."
  }
}

run "a_promoted_replica_is_a_database_of_its_own" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin   = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
    promoted = true
  }

  assert {
    condition     = aws_db_instance.this[0].replicate_source_db == null && output.takes_writes
    error_message = "It must follow nobody."
  }

  assert {
    condition     = aws_db_instance.this[0].multi_az && aws_db_instance.this[0].deletion_protection && !aws_db_instance.this[0].skip_final_snapshot
    error_message = "It must be as protected as a new one."
  }

  assert {
    condition     = length(aws_backup_selection.this) == 1 && one(one(aws_backup_plan.this.rule).copy_action).destination_vault_arn == "arn:aws:backup:eu-central-1:123456789012:backup-vault:reconciled-frankfurt-copies"
    error_message = "Its backups must go to the other region from now on, to a vault that is named and not read."
  }

  assert {
    condition     = !contains(keys(aws_cloudwatch_metric_alarm.this), "lag")
    error_message = "It has no lag to alarm about."
  }
}

run "a_restored_database_comes_from_the_replicated_backups" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin = { kind = "backup", of = "arn:aws:rds:eu-west-1:123456789012:auto-backup:ab-00000000" }
  }

  assert {
    condition     = aws_db_instance.this[0].restore_to_point_in_time[0].source_db_instance_automated_backups_arn == "arn:aws:rds:eu-west-1:123456789012:auto-backup:ab-00000000" && aws_db_instance.this[0].restore_to_point_in_time[0].use_latest_restorable_time
    error_message = "It must be restored to the latest moment there is."
  }

  assert {
    condition     = aws_db_instance.this[0].replicate_source_db == null && output.takes_writes && aws_db_instance.this[0].deletion_protection
    error_message = "It must be a database of its own, protected."
  }
}

run "a_restore_to_a_named_moment" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin = { kind = "backup", of = "arn:aws:rds:eu-west-1:123456789012:auto-backup:ab-00000000", at = "2026-03-01T09:30:00Z" }
  }

  assert {
    condition     = aws_db_instance.this[0].restore_to_point_in_time[0].restore_time == "2026-03-01T09:30:00Z" && aws_db_instance.this[0].restore_to_point_in_time[0].use_latest_restorable_time == null
    error_message = "It must be restored to the moment that was named."
  }
}

run "unprotected_it_can_be_deleted" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    protected = false
  }

  assert {
    condition     = !aws_db_instance.this[0].deletion_protection && length(aws_backup_vault_lock_configuration.this) == 0 && aws_backup_vault.this["own"].force_destroy
    error_message = "It must be possible to take it down."
  }

  assert {
    condition     = !aws_db_instance.this[0].skip_final_snapshot
    error_message = "A snapshot must stay all the same."
  }
}

run "an_unknown_origin_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin = { kind = "copy" }
  }

  expect_failures = [var.origin]
}

run "a_replica_of_nothing_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin = { kind = "replica" }
  }

  expect_failures = [var.origin]
}

run "a_replica_of_a_name_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin = { kind = "replica", of = "reconciled-frankfurt" }
  }

  expect_failures = [var.origin]
}

run "a_restore_from_a_database_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin = { kind = "backup", of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
  }

  expect_failures = [var.origin]
}

run "a_moment_that_is_none_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin = { kind = "backup", of = "arn:aws:rds:eu-west-1:123456789012:auto-backup:ab-00000000", at = "yesterday" }
  }

  expect_failures = [var.origin]
}

run "the_promotion_of_a_new_database_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    promoted = true
  }

  expect_failures = [var.promoted]
}

run "copies_in_the_same_region_are_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    copies_of = "arn:aws:rds:eu-west-1:123456789012:db:reconciled-frankfurt"
  }

  expect_failures = [var.copies_of]
}

run "a_vault_in_the_same_region_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    copies_to_vault_arn = "arn:aws:backup:eu-west-1:123456789012:backup-vault:reconciled-ireland-copies"
  }

  expect_failures = [var.copies_to_vault_arn]
}

run "a_promotion_changes_no_version" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin         = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
    promoted       = true
    engine_version = "17"
  }

  assert {
    condition     = local.engine_version == null
    error_message = "The version for new databases must not reach one that was promoted."
  }
}

run "a_promoted_database_is_upgraded_when_that_is_said" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin                  = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
    promoted                = true
    upgraded_engine_version = "17"
  }

  assert {
    condition     = aws_db_instance.this[0].engine_version == "17"
    error_message = "An upgrade must be possible after a promotion."
  }
}

run "a_replica_has_as_many_connections_as_its_source" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    origin         = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
    instance_class = "db.t4g.small"
  }

  assert {
    condition     = one([for p in aws_db_parameter_group.this.parameter : p.value if p.name == "max_connections"]) == "400" && one([for p in aws_db_parameter_group.this.parameter : p.apply_method if p.name == "max_connections"]) == "pending-reboot"
    error_message = "The number must not follow from the memory of the instance, or a smaller replica stops replaying."
  }
}

run "without_an_instance_all_else_is_there" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    exists    = false
    origin    = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
    copies_of = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt"
  }

  assert {
    condition     = length(aws_db_instance.this) == 0 && length(aws_cloudwatch_metric_alarm.this) == 0 && !output.takes_writes && output.store_url == null
    error_message = "There must be no instance."
  }

  assert {
    condition     = length(aws_db_instance_automated_backups_replication.other) == 1 && length(aws_backup_vault.this) == 2
    error_message = "Copies and vaults must be there before they are needed."
  }
}

run "two_zones_are_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    subnet_ids = ["subnet-a", "subnet-b"]
  }

  expect_failures = [var.subnet_ids]
}

run "backups_of_a_day_are_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    backup_retention_days = 1
  }

  expect_failures = [var.backup_retention_days]
}

run "commits_that_are_not_flushed_are_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    parameters = { synchronous_commit = "off" }
  }

  expect_failures = [var.parameters]
}

run "connections_in_the_clear_are_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    parameters = { "rds.force_ssl" = "0" }
  }

  expect_failures = [var.parameters]
}

run "a_limit_of_statements_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    parameters = { statement_timeout = "5000" }
  }

  expect_failures = [var.parameters]
}

run "a_backlog_without_end_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    replication_backlog_mib = -1
  }

  expect_failures = [var.replication_backlog_mib]
}

run "an_old_postgresql_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    engine_version = "13"
  }

  expect_failures = [var.engine_version]
}

run "storage_that_cannot_grow_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    max_storage_gib = 100
  }

  expect_failures = [var.max_storage_gib]
}

run "a_reserved_role_is_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    master_username = "postgres"
  }

  expect_failures = [var.master_username]
}

run "daily_backups_beyond_what_vaults_take_are_refused" {
  command = plan

  module {
    source = "./modules/database"
  }

  variables {
    daily_backups_days = 1000
  }

  expect_failures = [var.daily_backups_days]
}
