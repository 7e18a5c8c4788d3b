# The settings of both sites, shared by all environments: each links to this file, and all are given the same
# sites.tfvars. The modules check the values.

variable "account_id" {
  description = "AWS account. Every environment refuses to run in another one."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "account_id must be 12 digits."
  }
}

variable "name" {
  description = "Name of the deployment: part of the names of everything."
  type        = string
  default     = "reconciled"
}

variable "domain" {
  description = "Domain of an existing hosted zone of Route 53; callers use api.DOMAIN, and each site has SITE.DOMAIN."
  type        = string
}

variable "active" {
  description = "The site that is active while nothing is wrong: its name, region and address range."
  type        = object({ site = string, region = string, cidr = string })
}

variable "standby" {
  description = "The site that stands by."
  type        = object({ site = string, region = string, cidr = string })

  validation {
    condition     = var.standby.site != var.active.site && var.standby.region != var.active.region && var.standby.cidr != var.active.cidr
    error_message = "standby must differ from active in site, region and cidr."
  }
}

variable "standby_tier" {
  description = "How much of the standby is kept running: on_demand, warm or hot for each of cluster, database and workload."
  type        = object({ cluster = string, database = string, workload = string })
}

variable "standby_database_promoted" {
  description = "Set in a promotion: the standby's replica becomes a database of its own."
  type        = bool
  default     = false
}

variable "standby_restore" {
  description = "Set in a promotion from nothing: the backups from which the standby's database is made."
  type        = object({ of = string, at = optional(string) })
  default     = null
}

variable "standby_copies_to_active_region" {
  description = "Whether backups of a promoted standby are copied to the active site's region. Set it to false while that region is lost."
  type        = bool
  default     = true
}

variable "cluster" {
  description = "Settings of both clusters, as the module `site` has them."
  type        = any
  default     = {}
}

variable "database" {
  description = "Settings of both databases, as the module `site` has them."
  type        = any
  default     = {}
}

variable "providers_of_payments" {
  description = "Names of the payment providers in the daemon's configuration."
  type        = set(string)
  default     = []
}

variable "alarm_emails" {
  description = "Who is told of alarms."
  type        = list(string)
  default     = []
}

variable "protected" {
  description = "Whether what must not be lost refuses to be deleted."
  type        = bool
  default     = true
}
