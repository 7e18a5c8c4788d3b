output "arn" {
  description = "ARN of the key."
  value       = aws_kms_key.this.arn
}

output "alias" {
  description = "Alias of the key, with `alias/`: it can be named before and without knowing the key's id."
  value       = aws_kms_alias.this.name
}
