mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  alias       = "reconciled-test"
  description = "What a test protects"
}

run "a_key_rotates_and_waits_before_it_ends" {
  command = plan

  module {
    source = "./modules/key"
  }

  assert {
    condition     = aws_kms_key.this.enable_key_rotation
    error_message = "The key must rotate."
  }

  assert {
    condition     = aws_kms_key.this.deletion_window_in_days == 30
    error_message = "The key must wait 30 days before it is deleted."
  }

  assert {
    condition     = alltrue(flatten([for s in data.aws_iam_policy_document.key.statement : [for a in s.actions : !strcontains(a, "*")]]))
    error_message = "No statement of the key's policy may have a wildcard among its actions."
  }

  assert {
    condition     = length(data.aws_iam_policy_document.key.statement) == 1
    error_message = "Without users there must be administration only."
  }
}

run "who_may_use_it_is_bound_by_a_condition" {
  command = plan

  module {
    source = "./modules/key"
  }

  variables {
    via_services = ["rds.eu-west-1.amazonaws.com"]
    service_users = {
      logs = {
        service   = "logs.eu-west-1.amazonaws.com"
        actions   = ["kms:Decrypt"]
        condition = { test = "ArnEquals", variable = "kms:EncryptionContext:aws:logs:arn", values = ["arn:aws:logs:eu-west-1:123456789012:log-group:a"] }
      }
    }
  }

  assert {
    condition     = alltrue([for s in data.aws_iam_policy_document.key.statement : length(s.condition) == 1 if s.sid != "Administration"])
    error_message = "Every statement that lets somebody use the key must have a condition."
  }

  assert {
    condition     = length(data.aws_iam_policy_document.key.statement) == 3
    error_message = "There must be a statement for the services of principals, and one for the service in its own name."
  }
}

run "a_service_with_every_action_is_refused" {
  command = plan

  module {
    source = "./modules/key"
  }

  variables {
    service_users = {
      all = {
        service   = "logs.eu-west-1.amazonaws.com"
        actions   = ["kms:*"]
        condition = { test = "StringEquals", variable = "aws:SourceAccount", values = ["123456789012"] }
      }
    }
  }

  expect_failures = [var.service_users]
}

run "every_service_is_refused" {
  command = plan

  module {
    source = "./modules/key"
  }

  variables {
    via_services = ["*.eu-west-1.amazonaws.com"]
  }

  expect_failures = [var.via_services]
}

run "a_condition_without_values_is_refused" {
  command = plan

  module {
    source = "./modules/key"
  }

  variables {
    service_users = {
      logs = {
        service   = "logs.eu-west-1.amazonaws.com"
        actions   = ["kms:Decrypt"]
        condition = { test = "StringEquals", variable = "aws:SourceAccount", values = [] }
      }
    }
  }

  expect_failures = [var.service_users]
}

run "an_alias_of_aws_is_refused" {
  command = plan

  module {
    source = "./modules/key"
  }

  variables {
    alias = "aws/rds"
  }

  expect_failures = [var.alias]
}
