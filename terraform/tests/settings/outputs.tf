output "site_names" {
  description = "The sites in the order of their names."
  value       = local.site_names
}
