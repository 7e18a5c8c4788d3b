output "failover" {
  description = "The callers' name, its health checks, and how long a switch takes."
  value       = module.failover
}
