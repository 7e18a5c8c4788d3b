variable "site_vpc_name" {
  description = "Name of the site's VPC, in the region of the provider `aws`."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.site_vpc_name))
    error_message = "site_vpc_name must be 3 to 32 lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "witness_vpc_name" {
  description = "Name of the witness's VPC, in the region of the provider `aws.witness`."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.witness_vpc_name)) && var.witness_vpc_name != var.site_vpc_name
    error_message = "witness_vpc_name must be 3 to 32 lower-case letters, digits and hyphens, and not the site's."
  }
}

variable "witness_region" {
  description = "Region of the provider `aws.witness`."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.witness_region))
    error_message = "witness_region must be the name of an AWS region, such as eu-north-1."
  }
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
