output "sites" {
  description = "Each site with its combination of tiers."
  value       = { for name, site in module.site : name => merge(site, { tier = local.combinations[name] }) }
}
