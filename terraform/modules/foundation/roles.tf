# The roles that services take on for the site. The site knows them by their names, and what they may touch is named
# here by names as well, because none of it exists yet.

locals {
  arn = {
    flow_logs = "arn:${local.partition}:logs:${var.region}:${local.account_id}:log-group:/${var.name}/vpc-flow"
    database  = "arn:${local.partition}:rds:${var.region}:${local.account_id}:db:${var.name}"
    vaults = [
      "arn:${local.partition}:backup:${var.region}:${local.account_id}:backup-vault:${var.name}",
      "arn:${local.partition}:backup:${var.other_region}:${local.account_id}:backup-vault:${var.other_name}-copies",
    ]
    snapshots = [for region in [var.region, var.other_region] : "arn:${local.partition}:rds:${region}:${local.account_id}:snapshot:awsbackup:*"]
  }

  trusted = {
    cluster             = { service = "eks.amazonaws.com", source_arn = null }
    flow-logs           = { service = "vpc-flow-logs.amazonaws.com", source_arn = null }
    database-monitoring = { service = "monitoring.rds.amazonaws.com", source_arn = local.arn.database }
    database-backup     = { service = "backup.amazonaws.com", source_arn = null }
  }

  # Pulling images, not pushing; and no Systems Manager, so nobody opens a shell on a node.
  managed_policies = {
    AmazonEKSClusterPolicy                         = "cluster"
    AmazonEC2ContainerRegistryPullOnly             = "node"
    AmazonEKS_CNI_Policy                           = "node"
    AmazonEKSWorkerNodePolicy                      = "node"
    "service-role/AmazonRDSEnhancedMonitoringRole" = "database-monitoring"
  }

  role_names = merge({ for kind, role in aws_iam_role.service : kind => role.name }, { node = aws_iam_role.node.name })
}

data "aws_iam_policy_document" "trust" {
  for_each = local.trusted

  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = [each.value.service]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account_id]
    }

    dynamic "condition" {
      for_each = each.value.source_arn == null ? [] : [each.value.source_arn]

      content {
        test     = "ArnEquals"
        variable = "aws:SourceArn"
        values   = [condition.value]
      }
    }
  }
}

resource "aws_iam_role" "service" {
  for_each = local.trusted

  name               = "${var.name}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.trust[each.key].json
  tags               = var.tags
}

# EC2 takes roles on only for instances of its own account, and sends neither source account nor source ARN when it
# does: a condition on them would keep every node from starting.
data "aws_iam_policy_document" "node_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "node" {
  name               = "${var.name}-node"
  assume_role_policy = data.aws_iam_policy_document.node_trust.json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "managed" {
  for_each = local.managed_policies

  role       = local.role_names[each.value]
  policy_arn = "arn:${local.partition}:iam::aws:policy/${each.key}"
}

# The group exists before the role is used, so the role may write its streams and nothing else.
data "aws_iam_policy_document" "flow_logs" {
  statement {
    actions   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
    resources = ["${local.arn.flow_logs}:log-stream:*"]
  }
}

resource "aws_iam_role_policy" "flow_logs" {
  name   = "write-flow-logs"
  role   = local.role_names["flow-logs"]
  policy = data.aws_iam_policy_document.flow_logs.json
}

# The part of AWS's AWSBackupServiceRolePolicyForBackup that one database needs, for this database and these vaults.
data "aws_iam_policy_document" "backup" {
  statement {
    sid = "SnapshotThisDatabase"
    actions = [
      "rds:AddTagsToResource",
      "rds:CreateDBSnapshot",
      "rds:DescribeDBInstances",
      "rds:DescribeDBSnapshots",
      "rds:ListTagsForResource",
    ]
    resources = [local.arn.database, local.arn.snapshots[0]]
  }

  statement {
    sid = "CopyAndExpireOwnSnapshots"
    actions = [
      "rds:CopyDBSnapshot",
      "rds:DeleteDBSnapshot",
      "rds:ModifyDBSnapshotAttribute",
    ]
    resources = local.arn.snapshots
  }

  statement {
    sid       = "IntoTheVaults"
    actions   = ["backup:CopyFromBackupVault", "backup:CopyIntoBackupVault", "backup:DescribeBackupVault"]
    resources = local.arn.vaults
  }

  # The keys get their ids when the sites are made; until then, and after, they are known by their aliases.
  statement {
    sid       = "EncryptThem"
    actions   = ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey"]
    resources = [for region in [var.region, var.other_region] : "arn:${local.partition}:kms:${region}:${local.account_id}:key/*"]

    condition {
      test     = "ForAnyValue:StringEquals"
      variable = "kms:ResourceAliases"
      values   = ["alias/${var.name}-database", "alias/${var.other_name}-database"]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = flatten([for region in [var.region, var.other_region] : [for service in ["rds", "backup"] : "${service}.${region}.amazonaws.com"]])
    }
  }
}

resource "aws_iam_role_policy" "backup" {
  name   = "back-up-the-database"
  role   = local.role_names["database-backup"]
  policy = data.aws_iam_policy_document.backup.json
}
