variable "name" {
  description = "Name of the deployment, the same in both sites."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9]{2,14}$", var.name))
    error_message = "name must be 3 to 15 lower-case letters and digits, and begin with a letter."
  }
}

variable "site" {
  description = "Name of this site. Sites are named by place, not by part: the part changes."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9]{1,9}$", var.site))
    error_message = "site must be 2 to 10 lower-case letters and digits, and begin with a letter."
  }

  validation {
    condition     = !contains(["active", "standby", "primary", "secondary"], var.site)
    error_message = "site must be the name of a place: after a failover the site called standby would be the active one."
  }
}

variable "other_site" {
  description = "Name of the other site."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9]{1,9}$", var.other_site)) && var.other_site != var.site
    error_message = "other_site must be 2 to 10 lower-case letters and digits, and not the name of this site."
  }
}

variable "region" {
  description = "Region of the site and of the provider that is passed in."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must be the name of an AWS region, such as eu-west-1."
  }

  validation {
    condition     = var.region != "us-east-1"
    error_message = "region must not be us-east-1: the control planes of Route 53 and IAM are there, and would be lost together with the site."
  }
}

variable "other_region" {
  description = "Region where the other site is. Nothing in it is asked for."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.other_region)) && var.other_region != var.region
    error_message = "other_region must be the name of an AWS region other than region."
  }
}

variable "tier" {
  description = "How much of the site is kept running, for each resource: `on_demand` (nothing), `warm` (a cluster without nodes, a replica in one zone, manifests with zero replicas) or `hot` (all of it). The site that takes payments is hot throughout."
  type = object({
    cluster  = optional(string, "hot")
    database = optional(string, "hot")
    workload = optional(string, "hot")
  })
  default = {}

  validation {
    condition     = alltrue([for t in values(var.tier) : contains(["on_demand", "warm", "hot"], t)])
    error_message = "tier.cluster, tier.database and tier.workload must each be on_demand, warm or hot."
  }

  validation {
    condition     = var.tier.workload == "on_demand" || var.tier.cluster != "on_demand"
    error_message = "tier.workload = ${var.tier.workload} needs a cluster to be applied to: tier.cluster must be warm or hot."
  }

  validation {
    condition     = var.tier.workload != "hot" || var.tier.cluster == "hot"
    error_message = "tier.workload = hot needs nodes: tier.cluster must be hot."
  }

  validation {
    condition     = var.tier.workload != "hot" || var.tier.database != "on_demand"
    error_message = "tier.workload = hot needs a database that its pods can be ready with: tier.database must be warm or hot."
  }
}

variable "cidr" {
  description = "Address range of the VPC. The sites' ranges should differ."
  type        = string
}

variable "zones" {
  description = "Three availability zones. They are written down, because what a region offers changes from day to day, and another zone would replace subnets."
  type        = list(string)

  validation {
    condition     = length(distinct(var.zones)) == 3 && length(var.zones) == 3 && alltrue([for zone in var.zones : can(regex("^${var.region}[a-z]$", zone))])
    error_message = "zones must be three different availability zones of ${var.region}, such as ${var.region}a."
  }
}

variable "nat" {
  description = "Way out to the providers while nodes run: `per_zone`, or `single` for a site whose loss of a zone does not matter."
  type        = string
  default     = "per_zone"

  validation {
    condition     = contains(["single", "per_zone"], var.nat)
    error_message = "nat must be single or per_zone."
  }
}

variable "domain" {
  description = "Domain of the hosted zone, such as pay.example.com."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)+[a-z]{2,}$", var.domain))
    error_message = "domain must be a full name in lower case, such as pay.example.com."
  }
}

variable "service" {
  description = "Label of the name that callers use, in front of the domain."
  type        = string
  default     = "api"

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", var.service)) && var.service != var.site && var.service != var.other_site
    error_message = "service must be one label in lower case, and not the name of a site."
  }
}

variable "client_cidrs" {
  description = "From where callers come."
  type        = list(string)
  default     = ["0.0.0.0/0"]
}

variable "web_acl_arn" {
  description = "ARN of a WAF web ACL of this region, or null for none."
  type        = string
  default     = null
}

variable "cluster" {
  description = "The cluster: version, who may reach and use it, and its pools (see the module `cluster`)."
  type = object({
    kubernetes_version  = optional(string, "1.34")
    public_access_cidrs = optional(list(string), [])
    administrators      = optional(list(string), [])
    operators           = optional(list(string), [])
    front = optional(object({
      instance_types = optional(list(string), ["m6i.large"])
      min            = optional(number, 3)
      desired        = optional(number, 3)
      max            = optional(number, 9)
    }), {})
    batch = optional(object({
      instance_types = optional(list(string), ["m6i.large"])
      min            = optional(number, 2)
      desired        = optional(number, 2)
      max            = optional(number, 3)
    }), {})
  })
  default = {}
}

variable "database" {
  description = "The database: version, sizes when hot and when warm, how far back backups reach (see the module `database`)."
  type = object({
    engine_version          = optional(string, "16")
    upgraded_engine_version = optional(string)
    max_connections         = optional(number, 400)
    instance_class          = optional(string, "db.m6g.large")
    warm_instance_class     = optional(string, "db.t4g.large")
    storage_gib             = optional(number, 100)
    max_storage_gib         = optional(number, 1000)
    backup_retention_days   = optional(number, 14)
    lag_alarm_seconds       = optional(number, 30)
    apply_immediately       = optional(bool, false)
  })
  default = {}
}

variable "database_origin" {
  description = "Where the database's rows come from: `new`; `replica` of the other site's, until `promoted` makes it a database of its own; or `backup`, restored from the copies with the ARN `of` as of the moment `at` (null: the latest)."
  type = object({
    kind     = string
    promoted = optional(bool, false)
    of       = optional(string)
    at       = optional(string)
  })

  validation {
    condition     = contains(["new", "replica", "backup"], var.database_origin.kind)
    error_message = "database_origin.kind must be new, replica or backup."
  }

  validation {
    condition     = !var.database_origin.promoted || (var.database_origin.kind == "replica" && var.tier.database != "on_demand")
    error_message = "database_origin.promoted is for a replica: kind must be replica, and tier.database warm or hot."
  }

  validation {
    condition     = (var.database_origin.kind == "backup") == (var.database_origin.of != null) && (var.database_origin.at == null || var.database_origin.kind == "backup")
    error_message = "database_origin.of is the ARN of the copies, and goes with kind backup, as at does."
  }

  validation {
    condition     = var.database_origin.kind != "new" || var.tier.database != "warm"
    error_message = "database_origin.kind new makes a database that takes writes: tier.database must be hot, or on_demand for none."
  }
}

variable "objectives" {
  description = "What was agreed: minutes until payments are taken again, and seconds of rows that may be lost."
  type        = object({ rto_minutes = number, rpo_seconds = number })
  default     = { rto_minutes = 13, rpo_seconds = 60 }

  validation {
    condition     = var.objectives.rto_minutes > 0 && var.objectives.rpo_seconds > 0
    error_message = "objectives.rto_minutes and rpo_seconds must be more than 0: RDS replicates between regions asynchronously, so nothing lost cannot be agreed here."
  }
}

variable "keeps_copies" {
  description = "Whether this region keeps copies of the other site's automated backups. A promotion leaves it as it is: what was copied is evidence of what was lost."
  type        = bool
}

variable "database_password" {
  description = "Password of the database's administrator: what the secret holds. Only a new database needs it."
  type        = string
  default     = null
  ephemeral   = true
  sensitive   = true
}

variable "alarm_emails" {
  description = "Who is told of alarms. Each address must confirm a mail from AWS once."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for a in var.alarm_emails : can(regex("^[^@ ]+@[^@ ]+\\.[^@ ]+$", a))])
    error_message = "alarm_emails must be addresses of mail."
  }
}

variable "protected" {
  description = "Whether database, load balancer, backups and keys refuse to be deleted or wait before they are. Set it to false, apply, and only then destroy."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
