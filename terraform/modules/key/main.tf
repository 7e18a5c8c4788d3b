data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

data "aws_iam_policy_document" "key" {
  # Administration by IAM policies of this account. No `kms:*`: what is not named, for example
  # kms:ReEncrypt* by an administrator, is not allowed.
  # In a key policy the resource "*" means "this key"; AWS knows no other form before the key exists.
  # checkov:skip=CKV_AWS_109: a key without an administrator of its account could never be changed again
  # checkov:skip=CKV_AWS_111: "*" is this key
  # checkov:skip=CKV_AWS_356: "*" is this key
  statement {
    sid       = "Administration"
    resources = ["*"]
    actions = [
      "kms:CancelKeyDeletion",
      "kms:CreateAlias",
      "kms:DeleteAlias",
      "kms:DescribeKey",
      "kms:DisableKey",
      "kms:EnableKey",
      "kms:EnableKeyRotation",
      "kms:GetKeyPolicy",
      "kms:GetKeyRotationStatus",
      "kms:ListGrants",
      "kms:ListKeyPolicies",
      "kms:ListResourceTags",
      "kms:PutKeyPolicy",
      "kms:RevokeGrant",
      "kms:ScheduleKeyDeletion",
      "kms:TagResource",
      "kms:UntagResource",
      "kms:UpdateAlias",
      "kms:UpdateKeyDescription",
    ]

    principals {
      type        = "AWS"
      identifiers = ["arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:root"]
    }
  }

  # Use by principals of this account whose own IAM policy allows it, and only through the named services.
  dynamic "statement" {
    for_each = length(var.via_services) > 0 ? [1] : []

    content {
      sid       = "UseThroughServices"
      resources = ["*"]
      actions = [
        "kms:CreateGrant",
        "kms:Decrypt",
        "kms:DescribeKey",
        "kms:Encrypt",
        "kms:GenerateDataKey",
        "kms:GenerateDataKeyWithoutPlaintext",
        "kms:ReEncryptFrom",
        "kms:ReEncryptTo",
        # Whoever made a grant for a service must be able to end it, or grants pile up until their limit.
        "kms:RetireGrant",
      ]

      principals {
        type        = "AWS"
        identifiers = ["arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:root"]
      }

      condition {
        test     = "StringEquals"
        variable = "kms:ViaService"
        values   = var.via_services
      }
    }
  }

  # Use by a service in its own name, for a named resource of this account.
  dynamic "statement" {
    for_each = var.service_users

    content {
      sid       = "UseBy${replace(title(replace(statement.key, "/[^a-zA-Z0-9]/", " ")), " ", "")}"
      resources = ["*"]
      actions   = statement.value.actions

      principals {
        type        = "Service"
        identifiers = [statement.value.service]
      }

      condition {
        test     = statement.value.condition.test
        variable = statement.value.condition.variable
        values   = statement.value.condition.values
      }
    }
  }
}

resource "aws_kms_key" "this" {
  description             = var.description
  enable_key_rotation     = true
  deletion_window_in_days = var.deletion_window_in_days
  policy                  = data.aws_iam_policy_document.key.json
  tags                    = var.tags
}

resource "aws_kms_alias" "this" {
  name          = "alias/${var.alias}"
  target_key_id = aws_kms_key.this.key_id
}
