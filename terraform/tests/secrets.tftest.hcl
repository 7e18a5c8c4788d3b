mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "other"
  source = "./tests/mocks"
}

variables {
  name           = "reconciled"
  region         = "eu-central-1"
  other_region   = "eu-west-1"
  secrets        = { store-password = "Password of the daemon's role", provider-card-token = "Token for the provider card" }
  generated      = ["store-password"]
  initial_values = { store-password = "a value of the test" }
}

run "secrets_are_copied_under_a_key_of_each_region" {
  command = apply

  module {
    source = "./modules/secrets"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  assert {
    condition     = alltrue([for s in aws_secretsmanager_secret.this : one(s.replica).region == "eu-west-1" && one(s.replica).kms_key_id == module.other_key.arn])
    error_message = "Every secret must have a copy in the other region, under a key of that region."
  }

  assert {
    condition     = alltrue([for s in aws_secretsmanager_secret.this : s.kms_key_id == module.key.arn && s.recovery_window_in_days == 30])
    error_message = "Every secret must have our key, and be had back for 30 days."
  }

  assert {
    condition     = keys(aws_secretsmanager_secret_version.initial) == ["store-password"] && alltrue([for v in aws_secretsmanager_secret_version.initial : v.secret_string == null || v.secret_string == ""])
    error_message = "Generated secrets get their value, and no state holds it."
  }

  assert {
    condition     = alltrue([for p in aws_secretsmanager_secret_policy.this : p.block_public_policy]) && length(aws_secretsmanager_secret_policy.this) == 2
    error_message = "Every secret must have a policy that is not public."
  }

  assert {
    condition     = alltrue(flatten([for s in data.aws_iam_policy_document.reader.statement : [for r in s.resources : !endswith(r, "*")]]))
    error_message = "Readers must be given secrets one by one."
  }
}

run "unprotected_secrets_free_their_names_at_once" {
  command = plan

  module {
    source = "./modules/secrets"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    protected = false
  }

  assert {
    condition     = alltrue([for s in aws_secretsmanager_secret.this : s.recovery_window_in_days == 0])
    error_message = "What was taken down must be able to come up again under the same names."
  }
}

run "a_value_for_an_unknown_secret_is_refused" {
  command = plan

  module {
    source = "./modules/secrets"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    generated = ["another"]
  }

  expect_failures = [var.generated]
}

run "copies_in_the_same_region_are_refused" {
  command = plan

  module {
    source = "./modules/secrets"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    other_region = "eu-central-1"
  }

  expect_failures = [var.other_region]
}

run "no_secret_at_all_is_refused" {
  command = plan

  module {
    source = "./modules/secrets"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    secrets   = {}
    generated = []
  }

  expect_failures = [var.secrets]
}
