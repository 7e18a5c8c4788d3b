mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "other"
  source = "./tests/mocks"
}

variables {
  role         = "standby"
  name         = "reconciled"
  site         = "ireland"
  region       = "eu-west-1"
  cidr         = "10.20.0.0/16"
  other_site   = "frankfurt"
  other_region = "eu-central-1"
  domain       = "pay.example.com"
  zone_id      = "Z0000000000000000000"
}

run "an_active_site_is_hot_and_whole" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    role                  = "active"
    site                  = "frankfurt"
    region                = "eu-central-1"
    other_site            = "ireland"
    other_region          = "eu-west-1"
    database_password     = "a value of the test"
    initial_secrets       = { database-administrator = "a", store-password = "b" }
    providers_of_payments = ["card"]
  }

  assert {
    condition     = output.node_counts == { front = 3, batch = 2 }
    error_message = "Nodes must run in both pools."
  }

  assert {
    condition     = output.database.takes_writes && output.database.multi_az && output.database.deletion_protection
    error_message = "Its database must take writes, in two zones, protected."
  }

  assert {
    condition     = join(" ", keys(output.secret_arns)) == "database-administrator provider-card-token store-password"
    error_message = "Each provider must have a secret, beside the two of the database."
  }

  assert {
    condition     = output.overlay == "active" && length(output.promotion_steps) == 0
    error_message = "It runs the overlay of the active site, and has nothing to promote."
  }

  assert {
    condition     = output.site_fqdn == "frankfurt.pay.example.com" && output.service_fqdn == "api.pay.example.com"
    error_message = "It must have a name of its own beside the service's."
  }

  assert {
    condition     = aws_ecr_repository.this.image_tag_mutability == "IMMUTABLE" && aws_ecr_repository.this.image_scanning_configuration[0].scan_on_push && !aws_ecr_repository.this.force_delete
    error_message = "An image must stay what it was, and be scanned."
  }

  assert {
    condition     = length(output.nat_addresses) == 3
    error_message = "It must call providers from three addresses."
  }
}

run "the_zones_are_the_first_three_of_the_region" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  assert {
    condition     = join(" ", local.zones) == "eu-west-1a eu-west-1b eu-west-1c"
    error_message = "The same region must always give the same zones."
  }
}

run "an_active_site_that_is_not_hot_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    role         = "active"
    site         = "frankfurt"
    region       = "eu-central-1"
    other_site   = "ireland"
    other_region = "eu-west-1"

    database_password = "a value of the test"
    initial_secrets   = { database-administrator = "a", store-password = "b" }
    tier              = { cluster = "hot", database = "warm", workload = "hot" }
  }

  expect_failures = [var.tier]
}

run "an_unknown_tier_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    tier = { cluster = "cold" }
  }

  expect_failures = [var.tier]
}

run "an_unknown_role_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    role = "third"
  }

  expect_failures = [var.role]
}

run "a_site_named_by_its_part_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    site = "standby"
  }

  expect_failures = [var.site]
}

run "one_name_for_both_sites_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    other_site = "ireland"
  }

  expect_failures = [var.other_site]
}

run "both_sites_in_one_region_are_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    other_region = "eu-west-1"
  }

  expect_failures = [var.other_region]
}

run "the_promotion_of_nothing_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    tier              = { cluster = "hot", database = "on_demand", workload = "on_demand" }
    database_promoted = true
  }

  expect_failures = [var.database_promoted]
}

run "a_restore_into_a_warm_database_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    tier    = { cluster = "hot", database = "warm", workload = "hot" }
    restore = { of = "arn:aws:rds:eu-west-1:123456789012:auto-backup:ab-00000000" }
  }

  expect_failures = [var.restore]
}

run "the_name_of_a_site_as_service_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    service = "frankfurt"
  }

  expect_failures = [var.service]
}

run "a_single_zone_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    zones = ["eu-west-1a"]
  }

  expect_failures = [var.zones]
}

run "while_the_other_region_is_lost_nothing_is_copied_there" {
  command = plan

  module {
    source = "./modules/site"
  }

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  variables {
    database_promoted      = true
    copies_to_other_region = false
  }

  assert {
    condition     = output.database.takes_writes && output.database_backups_arn == null
    error_message = "A promotion must not need the region that was lost."
  }
}
