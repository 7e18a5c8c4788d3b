output "arn" {
  description = "ARN of the database."
  value       = aws_db_instance.this.arn
}

output "identifier" {
  description = "Identifier of the database."
  value       = aws_db_instance.this.identifier
}

output "address" {
  description = "Host name of the database."
  value       = aws_db_instance.this.address
}

output "store_url" {
  description = "Value of RECONCILED_STORE_URL for the pods of deploy/k8s, without the password. It verifies the server against the authorities of RDS, which are in the pods' secrets."
  value       = "postgres:host=${aws_db_instance.this.address} dbname=${var.database_name} user=${var.application_username} sslmode=verify-full sslrootcert=/etc/reconciled/secrets/database-ca.pem"
}

output "takes_writes" {
  description = "Whether this is the database that takes writes: not a replica."
  value       = local.is_primary
}

output "automated_backups_arn" {
  description = "ARN of the automated backups in the other region, from which its database can be restored; null where none are copied."
  value       = one(aws_db_instance_automated_backups_replication.other[*].id)
}

output "multi_az" {
  description = "Whether a second zone takes every write."
  value       = aws_db_instance.this.multi_az
}

output "instance_class" {
  description = "Class of the instance."
  value       = aws_db_instance.this.instance_class
}

output "deletion_protection" {
  description = "Whether the database refuses to be deleted."
  value       = aws_db_instance.this.deletion_protection
}

output "replica_of" {
  description = "ARN of the database that this one follows; null where it follows none."
  value       = local.is_replica ? var.origin.of : null
}
