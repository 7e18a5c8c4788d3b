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
  value       = one(module.database[*].arn)
}

output "database_address" {
  description = "Host name of the database; null while there is none."
  value       = one(module.database[*].address)
}

output "database" {
  description = "What the tier makes of the database; null while there is none."
  value = one([for database in module.database : {
    takes_writes        = database.takes_writes
    replica_of          = database.replica_of
    multi_az            = database.multi_az
    instance_class      = database.instance_class
    deletion_protection = database.deletion_protection
  }])
}

output "database_backups_arn" {
  description = "ARN of the automated backups of this database in the other region; null while there are none."
  value       = one(module.database[*].automated_backups_arn)
}

output "store_url" {
  description = "Value of RECONCILED_STORE_URL for the pods, without the password; null while there is no database."
  value       = one(module.database[*].store_url)
}

output "database_secret_arn" {
  description = "Secret with the administrator's password, once it has its value; null on a standby."
  value       = local.is_active ? module.secrets[0].generated_arns["database-administrator"] : null
}

output "secret_arns" {
  description = "Secrets of the deployment, by name; empty on a standby, which reads copies of the same names."
  value       = local.is_active ? module.secrets[0].arns : {}
}

output "secrets_reader_policy_arn" {
  description = "IAM policy for whoever copies secrets into the clusters; null on a standby, which has the same one."
  value       = one(module.secrets[*].reader_policy_arn)
}

output "repository_url" {
  description = "Repository of the image in this region."
  value       = aws_ecr_repository.this.repository_url
}

output "nat_addresses" {
  description = "Addresses from which this site calls providers, also before it ever did: for their allow-lists."
  value       = module.network.nat_addresses
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
  description = "Kustomize overlay that this site runs while it is not promoted; null for none."
  value       = local.overlay
}

output "promotion_steps" {
  description = "What a promotion of this site must do, in order."
  value       = local.promotion_steps
}
