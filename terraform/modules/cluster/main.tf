# A Kubernetes cluster with two pools of nodes: `front` (the API and settling) and `batch` (comparisons and
# statements), which a label and, on batch, a taint keep apart, so that a large comparison takes no machine from
# payments.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  account_id    = data.aws_caller_identity.current.account_id
  partition     = data.aws_partition.current.partition
  log_group     = "/aws/eks/${var.name}/cluster"
  log_group_arn = "arn:${local.partition}:logs:${var.region}:${local.account_id}:log-group:${local.log_group}"

  pools = {
    front = var.front
    batch = var.batch
  }
}

module "key" {
  source = "../key"

  alias        = "${var.name}-cluster"
  description  = "Kubernetes secrets and control-plane logs of ${var.name}"
  via_services = ["eks.${var.region}.amazonaws.com"]
  service_users = {
    logs = {
      service   = "logs.${var.region}.amazonaws.com"
      actions   = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"]
      condition = { test = "ArnEquals", variable = "kms:EncryptionContext:aws:logs:arn", values = [local.log_group_arn] }
    }
  }
  deletion_window_in_days = var.protected ? 30 : 7
  tags                    = var.tags
}

# EKS makes this group itself if it is missing, then without key and without end.
resource "aws_cloudwatch_log_group" "control_plane" {
  name              = local.log_group
  retention_in_days = var.log_retention_in_days
  kms_key_id        = module.key.arn
  tags              = var.tags
}

resource "aws_eks_cluster" "this" {
  name                      = var.name
  version                   = var.kubernetes_version
  role_arn                  = var.cluster_role_arn
  enabled_cluster_log_types = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
  tags                      = var.tags

  vpc_config {
    subnet_ids              = var.subnet_ids
    endpoint_private_access = true
    endpoint_public_access  = length(var.public_access_cidrs) > 0
    public_access_cidrs     = length(var.public_access_cidrs) > 0 ? var.public_access_cidrs : null
  }

  # Whoever creates the cluster does not become its administrator in silence; var.administrators names them.
  access_config {
    authentication_mode                         = "API"
    bootstrap_cluster_creator_admin_permissions = false
  }

  encryption_config {
    resources = ["secrets"]

    provider {
      key_arn = module.key.arn
    }
  }

  upgrade_policy {
    support_type = "STANDARD"
  }

  depends_on = [aws_cloudwatch_log_group.control_plane]
}

resource "aws_eks_access_entry" "this" {
  for_each = toset(concat(var.administrators, var.operators))

  cluster_name  = aws_eks_cluster.this.name
  principal_arn = each.key
  tags          = var.tags
}

resource "aws_eks_access_policy_association" "administrators" {
  for_each = toset(var.administrators)

  cluster_name  = aws_eks_cluster.this.name
  principal_arn = aws_eks_access_entry.this[each.key].principal_arn
  policy_arn    = "arn:${local.partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"

  access_scope {
    type = "cluster"
  }
}

# Who deploys may edit the one namespace, and nothing of the cluster.
resource "aws_eks_access_policy_association" "operators" {
  for_each = toset(var.operators)

  cluster_name  = aws_eks_cluster.this.name
  principal_arn = aws_eks_access_entry.this[each.key].principal_arn
  policy_arn    = "arn:${local.partition}:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"

  access_scope {
    type       = "namespace"
    namespaces = [var.namespace]
  }
}

# Without enableNetworkPolicy the cluster accepts network policies and enforces none of them. Name service and proxy
# are what EKS itself puts on a new cluster: as managed add-ons they would be "degraded" on a cluster without nodes,
# and a warm one could not be applied.
resource "aws_eks_addon" "network" {
  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = "vpc-cni"
  configuration_values        = jsonencode({ enableNetworkPolicy = "true" })
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"
  tags                        = var.tags
}
