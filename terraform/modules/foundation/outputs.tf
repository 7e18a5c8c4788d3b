output "nat_addresses" {
  description = "Addresses from which the site calls providers, also before it ever did: for their allow-lists."
  value       = [for zone in var.zones : aws_eip.nat[zone].public_ip]
}

output "certificate_arn" {
  description = "The certificate, once it is valid."
  value       = aws_acm_certificate_validation.this.certificate_arn
}

output "role_arns" {
  description = "Roles of the site, by what takes them on."
  value       = merge({ for kind, role in aws_iam_role.service : kind => role.arn }, { node = aws_iam_role.node.arn })

  # Who takes a role on before it has its policies is refused.
  depends_on = [aws_iam_role_policy.backup, aws_iam_role_policy.flow_logs, aws_iam_role_policy_attachment.managed]
}
