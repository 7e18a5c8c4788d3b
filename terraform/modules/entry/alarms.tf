locals {
  load_balancer = { LoadBalancer = aws_lb.this.arn_suffix }
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  alarm_name          = "${var.name}-entry-5xx"
  alarm_description   = "The load balancer or the daemon answers 5xx: callers cannot pay."
  namespace           = "AWS/ApplicationELB"
  metric_name         = "HTTPCode_Target_5XX_Count"
  dimensions          = local.load_balancer
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 3
  threshold           = 10
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = var.tags
}

# Where pods are expected, none that is ready is an alarm; silence as well.
resource "aws_cloudwatch_metric_alarm" "ready" {
  count = var.expects_pods ? 1 : 0

  alarm_name          = "${var.name}-entry-ready-nodes"
  alarm_description   = "Fewer than two nodes with a ready pod: one more failure and the site is gone."
  namespace           = "AWS/ApplicationELB"
  metric_name         = "HealthyHostCount"
  dimensions          = merge(local.load_balancer, { TargetGroup = aws_lb_target_group.this["api"].arn_suffix })
  statistic           = "Minimum"
  period              = 60
  evaluation_periods  = 2
  threshold           = 2
  comparison_operator = "LessThanThreshold"
  treat_missing_data  = "breaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = var.tags
}
