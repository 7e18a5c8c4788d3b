variable "name" {
  description = "Whose alarms these are; part of the names of topic and key."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,60}$", var.name))
    error_message = "name must be lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "emails" {
  description = "Who is told of alarms. Each address must confirm a mail from AWS once."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for a in var.emails : can(regex("^[^@ ]+@[^@ ]+\\.[^@ ]+$", a))])
    error_message = "emails must be addresses of mail."
  }
}

variable "protected" {
  description = "Whether the key waits 30 days before it is deleted (7 otherwise)."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
