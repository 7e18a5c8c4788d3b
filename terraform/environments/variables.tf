# The settings of everything, the same for all environments: each links to this file, and terraform/run gives all of them
# the same sites.tfvars.json. The modules check the values.

locals {
  # Terraform drops a key that a type does not have without a word: a misspelt setting would never be noticed. So the
  # settings are taken as they are, and each key is compared with these.
  known_keys = {
    site     = ["cidr", "database", "joined", "keeps_copies", "protected", "region", "tier", "zones"]
    tier     = ["cluster", "database", "workload"]
    origin   = ["at", "kind", "of", "promoted"]
    witness  = ["cidr", "region", "zones"]
    cluster  = ["administrators", "batch", "front", "kubernetes_version", "operators", "public_access_cidrs"]
    pool     = ["desired", "instance_types", "max", "min"]
    database = ["apply_immediately", "backup_retention_days", "engine_version", "instance_class", "lag_alarm_seconds", "max_connections", "max_storage_gib", "storage_gib", "upgraded_engine_version", "warm_instance_class"]
  }

  # A check cannot use a local that reads its own variable, so each finds its unknown keys twice. The messages are made
  # by format: checkov reads no template inside of another one.

  # The two sites in the order of their names, which means nothing else.
  site_names = sort(keys(var.sites))
}

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

variable "sites" {
  description = "The two sites by their names, which are those of places: region, zones, cidr, tier, database (kind, promoted, of, at), keeps_copies; protected and joined, which are true unless said otherwise."
  type        = any

  validation {
    condition     = can(keys(var.sites)) && try(length(keys(var.sites)), 0) == 2
    error_message = "sites must be two sites by their names, such as frankfurt and ireland."
  }

  validation {
    condition     = alltrue([for site in values(var.sites) : can([site.region, site.zones, site.cidr, site.tier, site.database])])
    error_message = "Each of sites needs region, zones, cidr, tier and database."
  }

  validation {
    condition = length(flatten([for name, site in var.sites : concat(
      [for key in setsubtract(keys(site), local.known_keys.site) : "${name}.${key}"],
      [for key in setsubtract(keys(try(site.tier, {})), local.known_keys.tier) : "${name}.tier.${key}"],
      [for key in setsubtract(keys(try(site.database, {})), local.known_keys.origin) : "${name}.database.${key}"],
    )])) == 0
    error_message = format(
      "sites has unknown keys: %s. Allowed are %s; in tier %s; in database %s.",
      join(", ", flatten([for name, site in var.sites : concat(
        [for key in setsubtract(keys(site), local.known_keys.site) : "${name}.${key}"],
        [for key in setsubtract(keys(try(site.tier, {})), local.known_keys.tier) : "${name}.tier.${key}"],
        [for key in setsubtract(keys(try(site.database, {})), local.known_keys.origin) : "${name}.database.${key}"],
      )])),
      join(", ", local.known_keys.site), join(", ", local.known_keys.tier), join(", ", local.known_keys.origin),
    )
  }

  validation {
    condition     = try(length(distinct([for site in values(var.sites) : site.region])), 0) == 2 && try(length(distinct([for site in values(var.sites) : site.cidr])), 0) == 2
    error_message = "The two sites must differ in region and in cidr."
  }

  validation {
    condition     = !contains([for site in values(var.sites) : try(site.region, "")], "us-east-1")
    error_message = "No site can be in us-east-1: the control planes of Route 53 and IAM are there, and would be lost together with the site."
  }
}

variable "witness" {
  description = "The third place, where neither site is: region, zones and cidr. The witness and the first copy of the secrets are there."
  type        = any

  validation {
    condition     = can([var.witness.region, var.witness.zones, var.witness.cidr])
    error_message = "witness needs region, zones and cidr."
  }

  validation {
    condition     = length(setsubtract(keys(var.witness), local.known_keys.witness)) == 0
    error_message = "witness has unknown keys: ${join(", ", setsubtract(keys(var.witness), local.known_keys.witness))}. Allowed are ${join(", ", local.known_keys.witness)}."
  }

  validation {
    condition     = !contains(concat(["us-east-1"], [for site in values(var.sites) : try(site.region, "")]), try(var.witness.region, ""))
    error_message = "witness.region must be a third region, in which no site is, and not us-east-1."
  }
}

variable "objectives" {
  description = "What was agreed for the loss of a site: minutes until payments are taken again, and seconds of rows that may be lost. The pods are given it, and a plan warns where a tier cannot keep it."
  type        = map(number)
  default     = { rto_minutes = 13, rpo_seconds = 60 }

  validation {
    condition     = toset(keys(var.objectives)) == toset(["rto_minutes", "rpo_seconds"])
    error_message = "objectives must be rto_minutes and rpo_seconds, and nothing else."
  }
}

variable "cluster" {
  description = "Settings of both clusters, as the module `site` has them."
  type        = any
  default     = {}

  validation {
    condition = length(concat(
      tolist(setsubtract(keys(var.cluster), local.known_keys.cluster)),
      flatten([for pool in ["front", "batch"] : [for key in setsubtract(keys(try(var.cluster[pool], {})), local.known_keys.pool) : "${pool}.${key}"]]),
    )) == 0
    error_message = format(
      "cluster has unknown keys: %s. Allowed are %s; in front and batch %s.",
      join(", ", concat(
        tolist(setsubtract(keys(var.cluster), local.known_keys.cluster)),
        flatten([for pool in ["front", "batch"] : [for key in setsubtract(keys(try(var.cluster[pool], {})), local.known_keys.pool) : "${pool}.${key}"]]),
      )),
      join(", ", local.known_keys.cluster), join(", ", local.known_keys.pool),
    )
  }
}

variable "database" {
  description = "Settings of both databases, as the module `site` has them."
  type        = any
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.database), local.known_keys.database)) == 0
    error_message = "database has unknown keys: ${join(", ", setsubtract(keys(var.database), local.known_keys.database))}. Allowed are ${join(", ", local.known_keys.database)}."
  }
}

variable "providers_of_payments" {
  description = "Names of the payment providers in the daemon's configuration: each gets a secret for its token."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for name in var.providers_of_payments : can(regex("^[a-z][a-z0-9_-]{0,30}$", name))])
    error_message = "providers_of_payments must be names of providers: lower-case letters, digits, hyphens and underscores."
  }
}

variable "alarm_emails" {
  description = "Who is told of alarms."
  type        = list(string)
  default     = []
}

variable "protected" {
  description = "Whether what both sites need, and the callers' name, refuse to be deleted. A site has a setting of its own."
  type        = bool
  default     = true
}
