output "dns_name" {
  description = "The load balancer's own name."
  value       = aws_lb.this.dns_name
}

output "security_group_id" {
  description = "Security group of the load balancer: the nodes let it in."
  value       = aws_security_group.this.id
}

output "target_group_arns" {
  description = "Target groups that the nodes of the front pool join."
  value       = { for name, group in aws_lb_target_group.this : name => group.arn }
}

output "node_ports" {
  description = "Node ports that the load balancer asks for."
  value       = local.ports
}
