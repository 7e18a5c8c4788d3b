locals {
  alarms = !var.exists ? {} : merge({
    cpu = {
      description = "The database is busy: payments wait."
      metric      = "CPUUtilization", statistic = "Average", periods = 10
      comparison  = "GreaterThanThreshold", threshold = 80
      missing     = "breaching"
    }
    storage = {
      description = "Less than a tenth of the storage is left; without it nothing is accepted."
      metric      = "FreeStorageSpace", statistic = "Minimum", periods = 5
      comparison  = "LessThanThreshold", threshold = var.storage_gib * 1024 * 1024 * 1024 / 10
      missing     = "breaching"
    }
    transaction-ids = {
      description = "Transaction ids run out: vacuum does not keep up, and PostgreSQL stops before they do."
      metric      = "MaximumUsedTransactionIDs", statistic = "Maximum", periods = 5
      comparison  = "GreaterThanThreshold", threshold = 1000000000
      missing     = "notBreaching"
    }
    }, local.is_replica ? {
    lag = {
      description = "The replica is further behind than the recovery point objective: a promotion now would lose more than was agreed."
      metric      = "ReplicaLag", statistic = "Maximum", periods = 3
      comparison  = "GreaterThanThreshold", threshold = var.lag_alarm_seconds
      missing     = "breaching"
    }
    } : {
    backlog = {
      description = "A replica does not keep up: WAL piles up for it."
      metric      = "OldestReplicationSlotLag", statistic = "Maximum", periods = 5
      comparison  = "GreaterThanThreshold", threshold = var.replication_backlog_mib * 1024 * 1024 / 2
      missing     = "notBreaching"
    }
  })
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = "${var.name}-database-${each.key}"
  alarm_description   = each.value.description
  namespace           = "AWS/RDS"
  metric_name         = each.value.metric
  dimensions          = { DBInstanceIdentifier = aws_db_instance.this[0].identifier }
  statistic           = each.value.statistic
  period              = 60
  evaluation_periods  = each.value.periods
  threshold           = each.value.threshold
  comparison_operator = each.value.comparison
  treat_missing_data  = each.value.missing
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = var.tags
}

resource "aws_db_event_subscription" "this" {
  for_each = { for index, arn in var.alarm_topic_arns : index => arn if var.exists }

  name             = "${var.name}-${each.key}"
  sns_topic        = each.value
  source_type      = "db-instance"
  source_ids       = [aws_db_instance.this[0].identifier]
  event_categories = ["availability", "deletion", "failover", "failure", "low storage", "read replica", "recovery", "restoration"]
  tags             = var.tags
}
