output "url" {
  description = "Value of RECONCILED_SITE_WITNESS_URL for the pods of deploy/k8s, without the password."
  value       = "postgres:host=${aws_db_instance.this.address} dbname=witness user=reconciled sslmode=verify-full sslrootcert=/etc/reconciled/secrets/database-ca.pem"
}

output "address" {
  description = "Host name of the witness."
  value       = aws_db_instance.this.address
}

output "cidrs" {
  description = "Address ranges of the witness, to which the network policy `witness` holds the pods."
  value       = local.cidrs
}

output "multi_az" {
  description = "Whether a second zone takes every write."
  value       = aws_db_instance.this.multi_az
}
