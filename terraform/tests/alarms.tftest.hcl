mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name   = "reconciled-ireland"
  emails = ["on-call@example.com"]
}

run "people_are_told_over_an_encrypted_topic" {
  # Applied, because the topic's key is known only then.
  command = apply

  module {
    source = "./modules/alarms"
  }

  assert {
    condition     = aws_sns_topic.this.kms_master_key_id == module.key.arn
    error_message = "The topic must be encrypted with its own key."
  }

  assert {
    condition     = [for s in aws_sns_topic_subscription.people : s.endpoint] == ["on-call@example.com"]
    error_message = "Each address must be subscribed."
  }

  assert {
    condition     = alltrue([for s in data.aws_iam_policy_document.publishers.statement : s.actions == toset(["sns:Publish"]) && length(s.condition) == 1])
    error_message = "Services of this account may publish, and nothing more."
  }
}

run "what_is_no_address_is_refused" {
  command = plan

  module {
    source = "./modules/alarms"
  }

  variables {
    emails = ["on-call"]
  }

  expect_failures = [var.emails]
}
