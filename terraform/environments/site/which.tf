variable "site" {
  description = "Which of `sites` this is. terraform/run gives it, and a state of its own with it."
  type        = string

  validation {
    condition     = contains(keys(var.sites), var.site)
    error_message = "site must be one of ${join(" and ", keys(var.sites))}, not ${var.site}."
  }
}
