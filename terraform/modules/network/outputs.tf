output "vpc_id" {
  description = "Id of the VPC."
  value       = aws_vpc.this.id
}

output "vpc_cidr" {
  description = "Address range of the VPC."
  value       = aws_vpc.this.cidr_block
}

output "public_subnet_ids" {
  description = "Subnets of the load balancer, one in each zone."
  value       = [for zone in var.zones : aws_subnet.public[zone].id]
}

output "public_subnet_cidrs" {
  description = "Address ranges of the load balancer."
  value       = [for zone in var.zones : aws_subnet.public[zone].cidr_block]
}

output "private_subnet_ids" {
  description = "Subnets of the nodes, one in each zone."
  value       = [for zone in var.zones : aws_subnet.private[zone].id]

  # Nodes that start before the way out exists cannot pull their images.
  depends_on = [aws_route.private, aws_route_table_association.private]
}

output "private_subnet_cidrs" {
  description = "Address ranges of the nodes: what comes through a node port bears one of them."
  value       = [for zone in var.zones : aws_subnet.private[zone].cidr_block]
}

output "isolated_subnet_cidrs" {
  description = "Address ranges of the database."
  value       = [for zone in var.zones : aws_subnet.isolated[zone].cidr_block]
}

output "isolated_subnet_ids" {
  description = "Subnets of the database, one in each zone, without a route out of the VPC."
  value       = [for zone in var.zones : aws_subnet.isolated[zone].id]
}

