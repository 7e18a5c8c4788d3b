variable "name" {
  description = "Beginning of the secrets' names. Both sites know it, because they read copies by name."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.name))
    error_message = "name must be 3 to 32 lower-case letters, digits and hyphens, and begin with a letter."
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

variable "site_regions" {
  description = "Regions of the sites, those of the providers `aws.a` and `aws.b` in this order."
  type        = list(string)

  validation {
    condition     = length(var.site_regions) == 2 && length(distinct(concat(var.site_regions, [var.region]))) == 3
    error_message = "site_regions must be two regions, and neither of them region: what is in the region of a site is lost with it."
  }

  validation {
    condition     = alltrue([for region in var.site_regions : can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", region))])
    error_message = "site_regions must be names of AWS regions, such as eu-central-1."
  }
}

variable "secrets" {
  description = "The secrets: name and what each is for."
  type        = map(string)

  validation {
    condition     = length(var.secrets) > 0 && alltrue([for name in keys(var.secrets) : can(regex("^[a-z][a-z0-9_-]{1,60}$", name))])
    error_message = "secrets must name at least one, in lower-case letters, digits, hyphens and underscores."
  }
}

variable "generated" {
  description = "Those of the secrets that get one of initial_values. The others stay empty until somebody puts a value."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for name in var.generated : contains(keys(var.secrets), name)])
    error_message = "generated must name some of secrets."
  }
}

variable "initial_values" {
  description = "Values of the generated secrets. Ephemeral: they are in no plan and in no state."
  type        = map(string)
  default     = {}
  ephemeral   = true
  sensitive   = true
}

variable "generated_version" {
  description = "Raise it to write initial_values anew."
  type        = number
  default     = 1

  validation {
    condition     = var.generated_version >= 1
    error_message = "generated_version must be 1 or more."
  }
}

variable "protected" {
  description = "Whether a deleted secret can be had back for 30 days. Without it the secret is gone at once, and its name free."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
