output "site" {
  description = "What the site's commands need: names, addresses, and what a promotion must do."
  value       = module.site
}
