output "site_fqdn" {
  description = "Name of this site."
  value       = local.site_fqdn
}

output "service_fqdn" {
  description = "Name that callers use."
  value       = local.service_fqdn
}

output "cluster_name" {
  description = "Name of the cluster, for `aws eks update-kubeconfig`; null while there is none."
  value       = one(module.cluster[*].name)
}

output "node_counts" {
  description = "Nodes that each pool is asked to have; null while there is no cluster."
  value       = one(module.cluster[*].node_counts)
}

output "database_arn" {
  description = "ARN of the database; null while there is none."
  value       = module.database.arn
}

output "database_address" {
  description = "Host name of the database; null while there is none."
  value       = module.database.address
}

output "database" {
  description = "What the tier makes of the database; null while there is none."
  value = local.has_database ? {
    takes_writes        = module.database.takes_writes
    replica_of          = module.database.replica_of
    multi_az            = module.database.multi_az
    instance_class      = module.database.instance_class
    deletion_protection = module.database.deletion_protection
  } : null
}

output "copies_arn" {
  description = "ARN of the copies of the other site's automated backups in this region; null where none are kept."
  value       = module.database.copies_arn
}

output "store_url" {
  description = "Value of RECONCILED_STORE_URL for the pods, without the password; null while there is no database."
  value       = module.database.store_url
}

output "repository_url" {
  description = "Repository of the image in this region."
  value       = aws_ecr_repository.this.repository_url
}

output "nat_addresses" {
  description = "Addresses from which this site calls providers."
  value       = [for zone in var.zones : data.aws_eip.nat[zone].public_ip]
}

output "entry_cidrs" {
  description = "Address ranges of the load balancer, to which the network policy `entry` holds the operators' port."
  value       = module.network.public_subnet_cidrs
}

output "node_cidrs" {
  description = "Address ranges of the nodes, to which the network policy `entry` holds the callers' port."
  value       = module.network.private_subnet_cidrs
}

output "database_cidrs" {
  description = "Address ranges of the database, to which the network policy `database` can be narrowed."
  value       = module.network.isolated_subnet_cidrs
}

output "overlay" {
  description = "Kustomize overlay that this site runs while it stands by; null for none."
  value       = local.overlay
}

output "reachable" {
  description = "What this site's tiers can keep if it must take over: minutes until payments are taken again, seconds of rows that may be lost."
  value       = local.reachable
}

output "promotion_steps" {
  description = "What a promotion of this site must do, in order; empty while its database takes writes."
  value       = local.promotion_steps
}
