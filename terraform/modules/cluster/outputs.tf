output "name" {
  description = "Name of the cluster, for `aws eks update-kubeconfig`."
  value       = aws_eks_cluster.this.name
}

output "endpoint" {
  description = "Address of the Kubernetes API."
  value       = aws_eks_cluster.this.endpoint
}

output "security_group_id" {
  description = "Security group of the nodes and of the control plane."
  value       = aws_eks_cluster.this.vpc_config[0].cluster_security_group_id
}

output "key_arn" {
  description = "Key of the Kubernetes secrets."
  value       = module.key.arn
}

output "node_counts" {
  description = "Nodes that each pool is asked to have."
  value       = { for pool, group in aws_eks_node_group.this : pool => group.scaling_config[0].desired_size }
}
