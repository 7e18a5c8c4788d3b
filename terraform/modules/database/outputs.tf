output "arn" {
  description = "ARN of the database; null while there is none."
  value       = one(aws_db_instance.this[*].arn)
}

output "identifier" {
  description = "Identifier of the database; null while there is none."
  value       = one(aws_db_instance.this[*].identifier)
}

output "address" {
  description = "Host name of the database; null while there is none."
  value       = one(aws_db_instance.this[*].address)
}

output "key_arn" {
  description = "Key of the database, of its backups, and of the copies of the other site's backups."
  value       = module.key.arn
}

output "store_url" {
  description = "Value of RECONCILED_STORE_URL for the pods of deploy/k8s, without the password; null while there is no database. It verifies the server against the authorities of RDS, which are in the pods' secrets."
  value       = one([for database in aws_db_instance.this : "postgres:host=${database.address} dbname=${var.database_name} user=${var.application_username} sslmode=verify-full sslrootcert=/etc/reconciled/secrets/database-ca.pem"])
}

output "takes_writes" {
  description = "Whether there is a database that takes writes: not a replica."
  value       = local.is_primary
}

output "copies_arn" {
  description = "ARN of the other site's automated backups here, from which a database can be restored; null where none are kept."
  value       = one(aws_db_instance_automated_backups_replication.other[*].id)
}

output "multi_az" {
  description = "Whether a second zone takes every write; null while there is no database."
  value       = one(aws_db_instance.this[*].multi_az)
}

output "instance_class" {
  description = "Class of the instance; null while there is none."
  value       = one(aws_db_instance.this[*].instance_class)
}

output "deletion_protection" {
  description = "Whether the database refuses to be deleted; null while there is none."
  value       = one(aws_db_instance.this[*].deletion_protection)
}

output "replica_of" {
  description = "ARN of the database that this one follows; null where it follows none."
  value       = var.exists && local.is_replica ? var.origin.of : null
}
