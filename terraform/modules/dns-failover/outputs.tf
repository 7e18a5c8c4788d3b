output "service_fqdn" {
  description = "Name that callers use."
  value       = var.service_fqdn
}

output "health_check_ids" {
  description = "Health check of each site, by the site's name."
  value       = { for role, site in local.roles : site.name => aws_route53_health_check.active[role].id }
}

output "switch_seconds" {
  description = "Longest time from a site's change at /activez until resolvers answer with the other: detection plus the life of an answer."
  value       = var.interval_seconds * var.failures + var.ttl_seconds
}
