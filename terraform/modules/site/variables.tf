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
  description = "Region of the provider `aws`."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must be the name of an AWS region, such as eu-west-1."
  }
}

variable "other_region" {
  description = "Region of the provider `aws.other`, where the other site is."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.other_region)) && var.other_region != var.region
    error_message = "other_region must be the name of an AWS region other than region."
  }
}

variable "role" {
  description = "The site's part while nothing is wrong: `active` or `standby`. A promotion does not change it."
  type        = string

  validation {
    condition     = contains(["active", "standby"], var.role)
    error_message = "role must be active or standby."
  }
}

variable "tier" {
  description = "How much of the site is kept running, for each resource: `on_demand` (nothing), `warm` (a cluster without nodes, a replica in one zone, manifests with zero replicas) or `hot` (as the active site). An active site is hot throughout."
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

  validation {
    condition     = var.role == "standby" || alltrue([for t in values(var.tier) : t == "hot"])
    error_message = "An active site is hot throughout; tiers are for a standby."
  }
}

variable "cidr" {
  description = "Address range of the VPC. The sites' ranges should differ."
  type        = string
}

variable "zones" {
  description = "Three availability zones; null takes the first three of the region."
  type        = list(string)
  default     = null

  validation {
    condition     = var.zones == null || try(length(distinct(var.zones)) == 3 && length(var.zones) == 3, false)
    error_message = "zones must be three different availability zones, or null."
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

variable "zone_id" {
  description = "Id of the hosted zone."
  type        = string
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
    engine_version        = optional(string, "16")
    instance_class        = optional(string, "db.m6g.large")
    warm_instance_class   = optional(string, "db.t4g.large")
    storage_gib           = optional(number, 100)
    max_storage_gib       = optional(number, 1000)
    backup_retention_days = optional(number, 14)
    lag_alarm_seconds     = optional(number, 30)
    apply_immediately     = optional(bool, false)
    final_snapshot_suffix = optional(string, "final")
  })
  default = {}
}

variable "database_promoted" {
  description = "Whether the replica of this standby became a database of its own. Setting it promotes."
  type        = bool
  default     = false

  validation {
    condition     = !var.database_promoted || (var.role == "standby" && var.tier.database != "on_demand" && var.restore == null)
    error_message = "database_promoted is for a standby with a replica: tier.database must be warm or hot, and restore null."
  }
}

variable "replica_of" {
  description = "ARN of the other site's database. null derives it from the names, which needs nothing of the other site; where both are in one configuration, giving it makes one wait for the other."
  type        = string
  default     = null
}

variable "copies_to_other_region" {
  description = "Whether backups are copied to the other region. false while that region is lost: then nothing there is asked for."
  type        = bool
  default     = true
}

variable "restore" {
  description = "From which replicated automated backups the database of this standby is made, and as of when (null: the latest). null: it is a replica."
  type = object({
    of = string
    at = optional(string)
  })
  default = null

  validation {
    condition     = var.restore == null || (var.role == "standby" && var.tier.database == "hot")
    error_message = "restore is for a standby whose database is needed now: tier.database must be hot."
  }
}

variable "database_password" {
  description = "Password of the database's administrator: what the secret holds. Only the active site needs it."
  type        = string
  default     = null
  ephemeral   = true
  sensitive   = true
}

variable "initial_secrets" {
  description = "First values of the secrets `database-administrator` and `store-password`. Only the active site needs them."
  type        = map(string)
  default     = {}
  ephemeral   = true
  sensitive   = true
}

variable "providers_of_payments" {
  description = "Names of the payment providers as the daemon's configuration has them: each gets a secret for its token."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for name in var.providers_of_payments : can(regex("^[a-z][a-z0-9_-]{0,30}$", name))])
    error_message = "providers_of_payments must be names of providers in lower case."
  }
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
  description = "Whether database, load balancer, backups, secrets and keys refuse to be deleted or wait before they are. Set it to false, apply, and only then destroy."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
