variable "name" {
  description = "Name of the site with the deployment's, such as reconciled-ireland. The site finds all of this by it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.name))
    error_message = "name must be 3 to 32 lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "other_name" {
  description = "The same of the other site, to whose vault the backups are copied."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.other_name)) && var.other_name != var.name
    error_message = "other_name must be 3 to 32 lower-case letters, digits and hyphens, and not name."
  }
}

variable "region" {
  description = "Region of the site and of the provider that is passed in."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must be the name of an AWS region, such as eu-west-1."
  }
}

variable "other_region" {
  description = "Region of the other site."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.other_region)) && var.other_region != var.region
    error_message = "other_region must be the name of an AWS region other than region."
  }
}

variable "zones" {
  description = "The three availability zones of the site: an address is reserved for each."
  type        = list(string)

  validation {
    condition     = length(var.zones) == 3 && length(distinct(var.zones)) == 3
    error_message = "zones must be three different availability zones."
  }
}

variable "zone_id" {
  description = "Hosted zone of Route 53, for the records that validate the certificate."
  type        = string
}

variable "site_fqdn" {
  description = "Name of the site, such as ireland.pay.example.com."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.){2,}[a-z]{2,}$", var.site_fqdn))
    error_message = "site_fqdn must be a full name in lower case, such as ireland.pay.example.com."
  }
}

variable "service_fqdn" {
  description = "Name that callers use, such as api.pay.example.com. The certificate is for both."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.){2,}[a-z]{2,}$", var.service_fqdn))
    error_message = "service_fqdn must be a full name in lower case, such as api.pay.example.com."
  }

  validation {
    condition     = var.service_fqdn != var.site_fqdn
    error_message = "service_fqdn must differ from site_fqdn: the first moves between the sites, the second does not."
  }
}

variable "validates_service_name" {
  description = "Whether this one brings the record that validates the service's name: true for exactly one of the two."
  type        = bool
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
