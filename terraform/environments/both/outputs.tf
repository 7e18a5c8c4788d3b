output "active" {
  description = "What the active site's commands need."
  value       = module.active
}

output "standby" {
  description = "What the standby's commands need, and what its promotion must do."
  value       = module.standby
}

output "failover" {
  description = "The callers' name, its health checks, and how long a switch takes."
  value       = module.failover
}
