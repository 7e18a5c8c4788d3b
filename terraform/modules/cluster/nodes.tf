resource "aws_launch_template" "node" {
  for_each = local.pools

  name                   = "${var.name}-${each.key}"
  update_default_version = true
  tags                   = var.tags

  # IMDSv2 only, and one hop: a container cannot reach the node's credentials.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  # Bottlerocket keeps its system on the first volume and images and containers on the second.
  dynamic "block_device_mappings" {
    for_each = { "/dev/xvda" = 4, "/dev/xvdb" = var.node_volume_gib }

    content {
      device_name = block_device_mappings.key

      ebs {
        volume_size           = block_device_mappings.value
        volume_type           = "gp3"
        encrypted             = true
        delete_on_termination = true
      }
    }
  }

  monitoring {
    enabled = true
  }

  tag_specifications {
    resource_type = "instance"
    tags          = merge(var.tags, { Name = "${var.name}-${each.key}" })
  }

  tag_specifications {
    resource_type = "volume"
    tags          = merge(var.tags, { Name = "${var.name}-${each.key}" })
  }
}

resource "aws_eks_node_group" "this" {
  for_each = local.pools

  cluster_name    = aws_eks_cluster.this.name
  node_group_name = each.key
  node_role_arn   = var.node_role_arn
  subnet_ids      = var.subnet_ids
  ami_type        = var.ami_type
  capacity_type   = "ON_DEMAND"
  instance_types  = each.value.instance_types
  labels          = { "reconciled.io/pool" = each.key }
  tags            = var.tags

  launch_template {
    id      = aws_launch_template.node[each.key].id
    version = aws_launch_template.node[each.key].latest_version
  }

  scaling_config {
    min_size     = each.value.min
    desired_size = each.value.desired
    max_size     = each.value.max
  }

  update_config {
    max_unavailable = 1
  }

  dynamic "taint" {
    for_each = each.key == "batch" ? [1] : []

    content {
      key    = "reconciled.io/pool"
      value  = "batch"
      effect = "NO_SCHEDULE"
    }
  }

  depends_on = [aws_eks_addon.network]
}

# The load balancer finds the front pool by its autoscaling group; a pod on another node is reached through
# kube-proxy.
resource "aws_autoscaling_attachment" "entry" {
  for_each = var.target_group_arns

  autoscaling_group_name = aws_eks_node_group.this["front"].resources[0].autoscaling_groups[0].name
  lb_target_group_arn    = each.value
}

resource "aws_vpc_security_group_ingress_rule" "entry" {
  for_each = var.entry_ports

  security_group_id            = aws_eks_cluster.this.vpc_config[0].cluster_security_group_id
  referenced_security_group_id = var.entry_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = each.value
  to_port                      = each.value
  description                  = "From the load balancer: ${each.key}"
  tags                         = var.tags
}
