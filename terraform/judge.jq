# What a plan takes away, one line each. Input: `terraform show -json PLAN`.
#
# What may go: alarms, as a replica's alarm on its lag ends with its promotion; the pulling of copies, because what was
# copied stays for its time; the locks of vaults, which end when protection is taken off. Whatever else is deleted, or
# replaced, may be what payments need at this moment.
[
  .resource_changes[]?
  | select(.mode == "managed" and (.change.actions | index("delete")))
  | select(.type | IN("aws_cloudwatch_metric_alarm", "aws_db_instance_automated_backups_replication", "aws_backup_vault_lock_configuration") | not)
  | "\(if (.change.actions | index("create")) then "replaces" else "deletes" end) \(.address)"
]
| .[]
