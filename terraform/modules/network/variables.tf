variable "name" {
  description = "Name of the site; part of the names of everything in it. IAM knows no regions, so two sites need two names."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.name))
    error_message = "name must be 3 to 32 lower-case letters, digits and hyphens, and begin with a letter."
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

variable "cidr" {
  description = "Address range of the VPC, /16 to /20. The ranges of the two sites should differ, so that they can be joined later."
  type        = string

  validation {
    condition     = can(cidrhost(var.cidr, 0)) && try(tonumber(split("/", var.cidr)[1]) >= 16 && tonumber(split("/", var.cidr)[1]) <= 20, false)
    error_message = "cidr must be an IPv4 range of /16 to /20, such as 10.10.0.0/16."
  }
}

variable "zones" {
  description = "The three availability zones. With two, the loss of one leaves no majority and half of the machines."
  type        = list(string)

  validation {
    condition     = length(var.zones) == 3 && length(distinct(var.zones)) == 3
    error_message = "zones must be three different availability zones."
  }
}

variable "nat" {
  description = "Way out to the providers: `per_zone` (a gateway in each zone), `single` (one for all: cheaper, and its zone is a single point of failure) or `none` (nothing runs here yet)."
  type        = string
  default     = "per_zone"

  validation {
    condition     = contains(["none", "single", "per_zone"], var.nat)
    error_message = "nat must be none, single or per_zone."
  }
}

variable "address_ids" {
  description = "Allocation of the address that each zone's NAT gateway has, by zone. They are reserved outside of this module, so that they outlive it."
  type        = map(string)

  validation {
    condition     = alltrue([for zone in var.zones : can(regex("^eipalloc-", var.address_ids[zone]))])
    error_message = "address_ids must name an allocation, eipalloc-…, for each of zones."
  }
}

variable "flow_logs_role_arn" {
  description = "Role that writes the flow logs."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[^*]+$", var.flow_logs_role_arn))
    error_message = "flow_logs_role_arn must be the ARN of a role of IAM."
  }
}

variable "log_retention_in_days" {
  description = "How long flow logs are kept."
  type        = number
  default     = 365

  validation {
    condition     = contains([30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_in_days)
    error_message = "log_retention_in_days must be a period of at least 30 days that CloudWatch knows, such as 90 or 365."
  }
}

variable "protected" {
  description = "Whether keys wait 30 days before they are deleted (7 otherwise)."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
