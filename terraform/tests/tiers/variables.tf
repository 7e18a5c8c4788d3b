variable "promoted" {
  description = "Whether the sites are as a promotion leaves them."
  type        = bool
  default     = false
}
