variable "name" {
  description = "Name of the deployment; the witness is found by it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9]{2,14}$", var.name))
    error_message = "name must be 3 to 15 lower-case letters and digits, and begin with a letter."
  }
}

variable "region" {
  description = "Region of the provider that is passed in: neither site's."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must be the name of an AWS region, such as eu-north-1."
  }
}

variable "cidr" {
  description = "Address range of the witness's VPC, /16 to /24; other ranges than those of the sites, because they are joined."
  type        = string

  validation {
    condition     = can(cidrhost(var.cidr, 0)) && try(tonumber(split("/", var.cidr)[1]) >= 16 && tonumber(split("/", var.cidr)[1]) <= 24, false)
    error_message = "cidr must be an IPv4 range of /16 to /24, such as 10.30.0.0/24."
  }
}

variable "zones" {
  description = "Three availability zones of the region."
  type        = list(string)

  validation {
    condition     = length(var.zones) == 3 && length(distinct(var.zones)) == 3
    error_message = "zones must be three different availability zones."
  }
}

variable "client_cidrs" {
  description = "Address ranges of the nodes of the sites: nothing else reaches the witness."
  type        = list(string)

  validation {
    condition     = length(var.client_cidrs) > 0 && alltrue([for c in var.client_cidrs : can(cidrhost(c, 0)) && try(tonumber(split("/", c)[1]) >= 16, false)])
    error_message = "client_cidrs must be IPv4 ranges of /16 or narrower."
  }
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

variable "instance_class" {
  description = "Class of the instance: it holds one row."
  type        = string
  default     = "db.t4g.micro"

  validation {
    condition     = can(regex("^db\\.[a-z0-9]+\\.[a-z0-9]+$", var.instance_class))
    error_message = "instance_class must be a class of RDS, such as db.t4g.micro."
  }
}

variable "master_password" {
  description = "Password of the witness's administrator. Ephemeral: it is in no plan and in no state."
  type        = string
  ephemeral   = true
  sensitive   = true
}

variable "alarm_topic_arns" {
  description = "SNS topics that are told when it is silent."
  type        = list(string)
  default     = []
}

variable "protected" {
  description = "Whether the witness refuses to be deleted, and its key waits 30 days (7 otherwise)."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
