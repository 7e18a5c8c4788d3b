output "topic_arn" {
  description = "ARN of the topic: what alarms act on."
  value       = aws_sns_topic.this.arn

  # An alarm that finds the topic closed is lost.
  depends_on = [aws_sns_topic_policy.this]
}
