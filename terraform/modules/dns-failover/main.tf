# The name that callers use, as a failover pair. Both sites stand in it from the first day, by names that do not change,
# and the health checks decide: a failover changes no record. That matters, because records can only be changed in
# one region of AWS, while health checks and answers work in all.
#
# Route 53 never decides which site is active; a site says so itself, at /activez. While neither does, the answer is the
# first site, whose load balancer then answers for itself.

locals {
  roles = { PRIMARY = var.first, SECONDARY = var.second }
}

resource "aws_route53_health_check" "active" {
  for_each = local.roles

  type              = "HTTPS"
  fqdn              = each.value.fqdn
  port              = 443
  resource_path     = "/activez"
  enable_sni        = true
  request_interval  = var.interval_seconds
  failure_threshold = var.failures
  measure_latency   = true
  tags              = merge(var.tags, { Name = each.value.name })
}

resource "aws_route53_record" "service" {
  for_each = local.roles

  zone_id         = var.zone_id
  name            = var.service_fqdn
  type            = "CNAME"
  ttl             = var.ttl_seconds
  records         = [each.value.fqdn]
  set_identifier  = each.value.name
  health_check_id = aws_route53_health_check.active[each.key].id

  failover_routing_policy {
    type = each.key
  }
}

module "alarms" {
  source = "../alarms"

  name      = "${replace(var.service_fqdn, ".", "-")}-failover"
  emails    = var.alarm_emails
  protected = var.protected
  tags      = var.tags
}

# Metrics of health checks are in us-east-1 and nowhere else, which is why this module's provider must be there.
resource "aws_cloudwatch_metric_alarm" "none_active" {
  alarm_name          = "${var.service_fqdn}-no-site-active"
  alarm_description   = "No site says that it is active: nobody can pay. Either the active one is down and none was promoted, or none may act."
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  evaluation_periods  = 1
  treat_missing_data  = "breaching"
  alarm_actions       = [module.alarms.topic_arn]
  ok_actions          = [module.alarms.topic_arn]
  tags                = var.tags

  metric_query {
    id          = "active"
    expression  = "first + second"
    label       = "sites that are active"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = { first = "PRIMARY", second = "SECONDARY" }

    content {
      id = metric_query.key

      metric {
        namespace   = "AWS/Route53"
        metric_name = "HealthCheckStatus"
        period      = 60
        stat        = "Minimum"
        dimensions  = { HealthCheckId = aws_route53_health_check.active[metric_query.value].id }
      }
    }
  }
}

# Two sites that both say that they are active are the worst case: two databases that both take writes.
resource "aws_cloudwatch_metric_alarm" "both_active" {
  alarm_name          = "${var.service_fqdn}-both-sites-active"
  alarm_description   = "Both sites say that they are active. Demote one at once (docs/runbooks/split-brain.md)."
  comparison_operator = "GreaterThanThreshold"
  threshold           = 1
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = [module.alarms.topic_arn]
  ok_actions          = [module.alarms.topic_arn]
  tags                = var.tags

  metric_query {
    id          = "active"
    expression  = "first + second"
    label       = "sites that are active"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = { first = "PRIMARY", second = "SECONDARY" }

    content {
      id = metric_query.key

      metric {
        namespace   = "AWS/Route53"
        metric_name = "HealthCheckStatus"
        period      = 60
        stat        = "Maximum"
        dimensions  = { HealthCheckId = aws_route53_health_check.active[metric_query.value].id }
      }
    }
  }
}
