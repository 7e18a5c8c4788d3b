variable "name" {
  description = "Identifier of the database. The other site derives its ARN from it, without reading this site's state."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.name)) && !strcontains(var.name, "--")
    error_message = "name must be 3 to 32 lower-case letters, digits and single hyphens, and begin with a letter."
  }
}

variable "region" {
  description = "Region of the provider that is passed in, such as eu-west-1."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must be the name of an AWS region, such as eu-west-1."
  }
}

variable "exists" {
  description = "Whether there is an instance. Without one the rest exists: key, groups, vaults and copies."
  type        = bool
  default     = true
}

variable "origin" {
  description = "Where the rows come from: `new`; `replica` of the database with the ARN `of`; or `backup`, restored from the copies of automated backups with the ARN `of`, as of the moment `at` (RFC 3339; null for the latest)."
  type = object({
    kind = string
    of   = optional(string)
    at   = optional(string)
  })

  validation {
    condition     = contains(["new", "replica", "backup"], var.origin.kind)
    error_message = "origin.kind must be new, replica or backup."
  }

  validation {
    condition     = (var.origin.kind == "new") == (var.origin.of == null)
    error_message = "origin.of is the ARN of the source: needed for replica and backup, and senseless for new."
  }

  validation {
    condition     = var.origin.kind != "replica" || can(regex("^arn:aws[a-z-]*:rds:[a-z0-9-]+:[0-9]{12}:db:[a-z0-9-]+$", var.origin.of))
    error_message = "origin.of of a replica must be the ARN of a database, arn:aws:rds:REGION:ACCOUNT:db:NAME."
  }

  validation {
    condition     = var.origin.kind != "backup" || can(regex("^arn:aws[a-z-]*:rds:[a-z0-9-]+:[0-9]{12}:auto-backup:[a-zA-Z0-9-]+$", var.origin.of))
    error_message = "origin.of of a backup must be the ARN of automated backups, arn:aws:rds:REGION:ACCOUNT:auto-backup:ID."
  }

  validation {
    condition     = var.origin.at == null || (var.origin.kind == "backup" && can(timeadd(var.origin.at, "0s")))
    error_message = "origin.at goes with kind backup, and is a moment as RFC 3339 has it, such as 2026-03-01T09:30:00Z."
  }
}

variable "promoted" {
  description = "Whether a replica became a database of its own. Setting it promotes; it is never taken back."
  type        = bool
  default     = false

  validation {
    condition     = !var.promoted || var.origin.kind == "replica"
    error_message = "promoted is for origin.kind replica; a new or restored database takes writes anyway."
  }
}

variable "vpc_id" {
  description = "VPC of the database."
  type        = string
}

variable "subnet_ids" {
  description = "Isolated subnets, one in each of three zones."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) == 3
    error_message = "subnet_ids must be three subnets, one in each zone."
  }
}

variable "client_security_group_ids" {
  description = "Security groups that may connect, by name."
  type        = map(string)
  default     = {}
}

variable "engine_version" {
  description = "PostgreSQL version: the major alone, and RDS chooses the minor."
  type        = string
  default     = "16"

  validation {
    condition     = can(regex("^1[4-9](\\.[0-9]+)?$", var.engine_version))
    error_message = "engine_version must be 14 or later, such as 16 or 16.8."
  }
}

variable "upgraded_engine_version" {
  description = "Version of a database that was not made new: set it to upgrade. null leaves what is there, so that a promotion changes no version."
  type        = string
  default     = null

  validation {
    condition     = var.upgraded_engine_version == null || can(regex("^1[4-9](\\.[0-9]+)?$", var.upgraded_engine_version))
    error_message = "upgraded_engine_version must be 14 or later, such as 16 or 16.8, or null."
  }
}

variable "max_connections" {
  description = "Connections of PostgreSQL, the same at both sites: a replica with fewer than its source stops replaying."
  type        = number
  default     = 400

  validation {
    condition     = var.max_connections >= 100 && var.max_connections <= 5000
    error_message = "max_connections must be 100 to 5000."
  }
}

variable "instance_class" {
  description = "Class of the instance."
  type        = string
  default     = "db.m6g.large"

  validation {
    condition     = can(regex("^db\\.[a-z0-9]+\\.[a-z0-9]+$", var.instance_class))
    error_message = "instance_class must be a class of RDS, such as db.m6g.large."
  }
}

variable "multi_az" {
  description = "Whether a second instance in another zone takes every write before it counts. Without it the loss of a zone loses the database, and possibly rows."
  type        = bool
}

variable "storage_gib" {
  description = "Storage at first, in GiB."
  type        = number
  default     = 100

  validation {
    condition     = var.storage_gib >= 20 && var.storage_gib <= 65536
    error_message = "storage_gib must be 20 to 65536."
  }
}

variable "max_storage_gib" {
  description = "To what the storage may grow by itself, in GiB."
  type        = number
  default     = 1000

  validation {
    condition     = var.max_storage_gib >= var.storage_gib * 1.1
    error_message = "max_storage_gib must exceed storage_gib by a tenth at least; RDS wants room to grow."
  }
}

variable "database_name" {
  description = "Name of the database in PostgreSQL."
  type        = string
  default     = "payments"

  validation {
    condition     = can(regex("^[a-z][a-z0-9_]{0,62}$", var.database_name))
    error_message = "database_name must be a PostgreSQL name in lower case."
  }
}

variable "master_username" {
  description = "Role that RDS creates. The daemon has a role of its own (docs/deploying-cloud.md)."
  type        = string
  default     = "administrator"

  validation {
    condition     = can(regex("^[a-z][a-z0-9_]{0,62}$", var.master_username)) && !contains(["admin", "postgres", "rdsadmin"], var.master_username)
    error_message = "master_username must be a PostgreSQL name in lower case, and not admin, postgres or rdsadmin."
  }
}

variable "application_username" {
  description = "Role of the daemon, which is created by hand (docs/deploying-cloud.md)."
  type        = string
  default     = "reconciled"

  validation {
    condition     = can(regex("^[a-z][a-z0-9_]{0,62}$", var.application_username))
    error_message = "application_username must be a PostgreSQL name in lower case."
  }
}

variable "master_password" {
  description = "Password of that role. Ephemeral: it is in no plan and in no state."
  type        = string
  default     = null
  ephemeral   = true
  sensitive   = true
}

variable "master_password_version" {
  description = "Raise it to set master_password anew. 0 where no password is given."
  type        = number
  default     = 0

  validation {
    condition     = var.master_password_version >= 0
    error_message = "master_password_version must be 0 or more."
  }
}

variable "backup_retention_days" {
  description = "How far back a restore to any moment reaches, here and in the other region."
  type        = number
  default     = 14

  validation {
    condition     = var.backup_retention_days >= 7 && var.backup_retention_days <= 35
    error_message = "backup_retention_days must be 7 to 35."
  }
}

variable "daily_backups_days" {
  description = "How long the daily backups are kept in the vaults."
  type        = number
  default     = 90

  validation {
    condition     = var.daily_backups_days >= 7 && var.daily_backups_days <= 400
    error_message = "daily_backups_days must be 7 to 400, which is what the vaults accept."
  }
}

variable "copies_of" {
  description = "ARN of the other site's database, whose automated backups are pulled into this region; null for none."
  type        = string
  default     = null

  validation {
    condition     = var.copies_of == null || can(regex("^arn:aws[a-z-]*:rds:[a-z0-9-]+:[0-9]{12}:db:[a-z0-9-]+$", var.copies_of))
    error_message = "copies_of must be the ARN of a database, arn:aws:rds:REGION:ACCOUNT:db:NAME, or null."
  }

  validation {
    condition     = var.copies_of == null || try(split(":", var.copies_of)[3] != var.region, false)
    error_message = "copies_of must be a database in another region: copies in the same region are lost with it."
  }
}

variable "copies_to_vault_arn" {
  description = "Vault of the other site to which daily backups are copied; null for none. It is not read."
  type        = string
  default     = null

  validation {
    condition     = var.copies_to_vault_arn == null || can(regex("^arn:aws[a-z-]*:backup:[a-z0-9-]+:[0-9]{12}:backup-vault:[a-z0-9-]+$", var.copies_to_vault_arn))
    error_message = "copies_to_vault_arn must be the ARN of a vault, arn:aws:backup:REGION:ACCOUNT:backup-vault:NAME, or null."
  }

  validation {
    condition     = var.copies_to_vault_arn == null || try(split(":", var.copies_to_vault_arn)[3] != var.region, false)
    error_message = "copies_to_vault_arn must be a vault in another region: copies in the same region are lost with it."
  }
}

variable "monitoring_role_arn" {
  description = "Role by which RDS reports its metrics. It is made before, because IAM may be out of reach when a database is needed."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[^*]+$", var.monitoring_role_arn))
    error_message = "monitoring_role_arn must be the ARN of a role of IAM."
  }
}

variable "backup_role_arn" {
  description = "Role by which AWS Backup makes the daily backups."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[^*]+$", var.backup_role_arn))
    error_message = "backup_role_arn must be the ARN of a role of IAM."
  }
}

variable "replication_backlog_mib" {
  description = "How much WAL is kept for a replica that does not keep up, in MiB. Beyond it the replica must be built again."
  type        = number
  default     = 20480

  validation {
    condition     = var.replication_backlog_mib >= 1024
    error_message = "replication_backlog_mib must be at least 1024; never -1, or a dead replica fills the disk."
  }
}

variable "lag_alarm_seconds" {
  description = "How far behind a replica may be before somebody is told."
  type        = number
  default     = 30

  validation {
    condition     = var.lag_alarm_seconds >= 1
    error_message = "lag_alarm_seconds must be at least 1."
  }
}

variable "parameters" {
  description = "More parameters of PostgreSQL, or other values."
  type        = map(string)
  default     = {}

  validation {
    condition     = lookup(var.parameters, "rds.force_ssl", "1") == "1" && contains(["on", "remote_apply"], lookup(var.parameters, "synchronous_commit", "on"))
    error_message = "parameters must not turn off rds.force_ssl, and synchronous_commit must be on or remote_apply: otherwise an acknowledged payment may be lost."
  }

  validation {
    condition     = !contains(keys(var.parameters), "statement_timeout")
    error_message = "parameters must not set statement_timeout: the daemon bounds its statements itself (store.time_limit)."
  }
}

variable "apply_immediately" {
  description = "Whether changes that interrupt are made now and not in the maintenance window. A promotion's change to Multi-AZ wants it."
  type        = bool
  default     = false
}

variable "alarm_topic_arns" {
  description = "SNS topics that are told of alarms and of events of the database."
  type        = list(string)
  default     = []
}

variable "log_retention_in_days" {
  description = "How long PostgreSQL's log is kept."
  type        = number
  default     = 365

  validation {
    condition     = contains([30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_in_days)
    error_message = "log_retention_in_days must be a period of at least 30 days that CloudWatch knows, such as 90 or 365."
  }
}

variable "protected" {
  description = "Whether the database refuses to be deleted, the vaults keep what they hold, and keys wait 30 days."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
