# What moto's EKS lacks: access entries, add-ons, autoscaling groups behind node groups.

resource "aws_eks_access_entry" "this" {
  for_each = toset([])
}

resource "aws_eks_access_policy_association" "administrators" {
  for_each = toset([])
}

resource "aws_eks_access_policy_association" "operators" {
  for_each = toset([])
}

resource "aws_eks_addon" "network" {
  count = 0
}

resource "aws_autoscaling_attachment" "entry" {
  for_each = {}
}

# Its clusters have no security group that a rule could name.
resource "aws_vpc_security_group_ingress_rule" "entry" {
  for_each = {}
}

# What it does not keep, or invents, would change or replace these at every second apply. The number of nodes is not
# among it.
resource "aws_eks_cluster" "this" {
  lifecycle {
    ignore_changes = all
  }
}

resource "aws_launch_template" "node" {
  lifecycle {
    ignore_changes = all
  }
}

resource "aws_eks_node_group" "this" {
  lifecycle {
    ignore_changes = [ami_type, capacity_type, disk_size, instance_types, labels, launch_template, node_repair_config, release_version, remote_access, taint, update_config, version]
  }
}
