output "arns" {
  description = "ARN of each secret."
  value       = { for name, secret in aws_secretsmanager_secret.this : name => secret.arn }
}

output "generated_arns" {
  description = "ARN of each secret that has got its initial value: whoever reads it by this waits for the value."
  value       = { for name, version in aws_secretsmanager_secret_version.initial : name => version.arn }
}

output "reader_policy_arn" {
  description = "IAM policy that reads the secrets in each region."
  value       = aws_iam_policy.reader.arn
}
