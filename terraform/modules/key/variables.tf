variable "alias" {
  description = "Alias of the key, without `alias/`."
  type        = string

  validation {
    condition     = can(regex("^[a-zA-Z0-9/_-]{1,200}$", var.alias)) && !startswith(var.alias, "aws/")
    error_message = "alias may hold letters, digits, slash, underscore and hyphen, and must not begin with aws/."
  }
}

variable "description" {
  description = "What the key protects."
  type        = string
}

variable "via_services" {
  description = "Services through which principals of this account may use the key, such as `rds.eu-west-1.amazonaws.com`."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for s in var.via_services : can(regex("^[a-z0-9-]+\\.[a-z0-9-]+\\.amazonaws\\.com(\\.cn)?$", s))])
    error_message = "via_services are names of one service in one region, such as rds.eu-west-1.amazonaws.com; no wildcard."
  }
}

variable "service_users" {
  description = "Services that use the key in their own name: service principal, KMS actions, and the condition that ties it to a resource of this account."
  type = map(object({
    service = string
    actions = list(string)
    condition = object({
      test     = string
      variable = string
      values   = list(string)
    })
  }))
  default = {}

  validation {
    condition     = alltrue(flatten([for u in values(var.service_users) : [for a in u.actions : can(regex("^kms:[A-Za-z]+$", a))]]))
    error_message = "actions of service_users are single KMS actions, such as kms:Decrypt; no wildcard."
  }

  validation {
    condition     = alltrue([for u in values(var.service_users) : length(u.condition.values) > 0])
    error_message = "each of service_users needs at least one value in its condition."
  }
}

variable "deletion_window_in_days" {
  description = "Days between the order to delete the key and its end. What it encrypted is lost with it."
  type        = number
  default     = 30

  validation {
    condition     = var.deletion_window_in_days >= 7 && var.deletion_window_in_days <= 30
    error_message = "deletion_window_in_days must be 7 to 30."
  }
}

variable "tags" {
  description = "Tags of the key."
  type        = map(string)
  default     = {}
}
