# What a plan takes away, one line each. Input: `terraform show -json PLAN`.
#
# Alarms may go: a replica's alarm on its lag ends with its promotion. Whatever else is deleted, or replaced, may be what
# payments need at this moment.
[
  .resource_changes[]?
  | select(.mode == "managed" and (.change.actions | index("delete")))
  | select(.type != "aws_cloudwatch_metric_alarm")
  | "\(if (.change.actions | index("create")) then "replaces" else "deletes" end) \(.address)"
]
| .[]
