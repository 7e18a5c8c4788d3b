mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "a"
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "b"
  source = "./tests/mocks"
}

variables {
  name           = "reconciled"
  region         = "eu-north-1"
  site_regions   = ["eu-central-1", "eu-west-1"]
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
    aws   = aws
    aws.a = aws.a
    aws.b = aws.b
  }

  assert {
    condition     = alltrue([for s in aws_secretsmanager_secret.this : toset(s.replica[*].region) == toset(["eu-central-1", "eu-west-1"]) && toset(s.replica[*].kms_key_id) == toset([module.key_a.arn, module.key_b.arn])])
    error_message = "Every secret must have a copy in the region of each site, under a key of that region."
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
    aws   = aws
    aws.a = aws.a
    aws.b = aws.b
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
    aws   = aws
    aws.a = aws.a
    aws.b = aws.b
  }

  variables {
    generated = ["another"]
  }

  expect_failures = [var.generated]
}

run "the_first_copy_in_the_region_of_a_site_is_refused" {
  command = plan

  module {
    source = "./modules/secrets"
  }

  providers = {
    aws   = aws
    aws.a = aws.a
    aws.b = aws.b
  }

  variables {
    site_regions = ["eu-north-1", "eu-west-1"]
  }

  expect_failures = [var.site_regions]
}

run "no_secret_at_all_is_refused" {
  command = plan

  module {
    source = "./modules/secrets"
  }

  providers = {
    aws   = aws
    aws.a = aws.a
    aws.b = aws.b
  }

  variables {
    secrets   = {}
    generated = []
  }

  expect_failures = [var.secrets]
}
