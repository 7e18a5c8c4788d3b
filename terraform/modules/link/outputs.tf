output "peering_id" {
  description = "The peering, once it is accepted."
  value       = aws_vpc_peering_connection_accepter.this.id
}
