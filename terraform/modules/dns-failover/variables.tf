variable "zone_id" {
  description = "Hosted zone of Route 53 in which the name is."
  type        = string
}

variable "service_fqdn" {
  description = "Name that callers use, such as api.pay.example.com. Not the top of the zone: it is a CNAME."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.){2,}[a-z]{2,}$", var.service_fqdn))
    error_message = "service_fqdn must be a full name in lower case, such as api.pay.example.com."
  }
}

variable "first" {
  description = "The site that is asked first: its name, and the full name of its load balancer."
  type        = object({ name = string, fqdn = string })

  validation {
    condition     = can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.){2,}[a-z]{2,}$", var.first.fqdn))
    error_message = "first.fqdn must be a full name in lower case, such as tokyo.pay.example.com."
  }
}

variable "second" {
  description = "The site that is asked when the first is not active."
  type        = object({ name = string, fqdn = string })

  validation {
    condition     = can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.){2,}[a-z]{2,}$", var.second.fqdn))
    error_message = "second.fqdn must be a full name in lower case, such as osaka.pay.example.com."
  }

  validation {
    condition     = var.second.fqdn != var.first.fqdn && var.second.name != var.first.name
    error_message = "second must be another site than first."
  }
}

variable "interval_seconds" {
  description = "How often each checker asks: 10 (fast) or 30."
  type        = number
  default     = 10

  validation {
    condition     = contains([10, 30], var.interval_seconds)
    error_message = "interval_seconds must be 10 or 30; Route 53 knows no other."
  }
}

variable "failures" {
  description = "How many answers in a row change the verdict."
  type        = number
  default     = 2

  validation {
    condition     = var.failures >= 1 && var.failures <= 10
    error_message = "failures must be 1 to 10."
  }
}

variable "ttl_seconds" {
  description = "How long resolvers keep the answer: it adds to the recovery time."
  type        = number
  default     = 20

  validation {
    condition     = var.ttl_seconds >= 5 && var.ttl_seconds <= 60
    error_message = "ttl_seconds must be 5 to 60."
  }
}

variable "alarm_emails" {
  description = "Who is told when no site, or more than one, is active."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for a in var.alarm_emails : can(regex("^[^@ ]+@[^@ ]+\\.[^@ ]+$", a))])
    error_message = "alarm_emails must be addresses of mail."
  }
}

variable "protected" {
  description = "Whether the key of the alarms waits 30 days before it is deleted (7 otherwise)."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
