mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name            = "reconciled"
  site            = "ireland"
  region          = "eu-west-1"
  zones           = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  cidr            = "10.20.0.0/16"
  other_site      = "frankfurt"
  other_region    = "eu-central-1"
  domain          = "pay.example.com"
  database_origin = { kind = "replica" }
  keeps_copies    = true
}

run "a_site_that_takes_payments_is_hot_and_whole" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    site              = "frankfurt"
    region            = "eu-central-1"
    zones             = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
    other_site        = "ireland"
    other_region      = "eu-west-1"
    database_origin   = { kind = "new" }
    database_password = "a value of the test"
    keeps_copies      = false
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
    condition     = output.copies_arn == null
    error_message = "It has nothing of the other site to keep."
  }

  assert {
    condition     = length(output.promotion_steps) == 0
    error_message = "It has nothing to promote."
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

  assert {
    condition     = local.role_arns.cluster == "arn:aws:iam::123456789012:role/reconciled-frankfurt-cluster"
    error_message = "Roles must be known by their names, because IAM may be out of reach."
  }
}

run "a_promoted_site_is_the_same_as_one_that_was_made_first" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    database_origin = { kind = "replica", promoted = true }
  }

  assert {
    condition     = output.database.takes_writes && output.database.multi_az && output.database.deletion_protection && output.node_counts == { front = 3, batch = 2 }
    error_message = "Either site is the other one's mirror."
  }

  assert {
    condition     = length(output.promotion_steps) == 0
    error_message = "It has nothing to promote."
  }

  assert {
    condition     = local.database_origin.of == "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt"
    error_message = "Its source is found by its name."
  }
}

run "a_warm_site_is_promoted_as_it_is" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    tier            = { cluster = "hot", database = "warm", workload = "hot" }
    database_origin = { kind = "replica", promoted = true }
  }

  assert {
    condition     = output.database.takes_writes && output.database.instance_class == "db.t4g.large" && !output.database.multi_az
    error_message = "A change of its size takes longer than the promotion, and comes after it."
  }

  expect_failures = [check.what_takes_writes_is_hot]
}

run "tiers_that_take_longer_than_agreed_are_told" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    tier = { cluster = "on_demand", database = "hot", workload = "on_demand" }
  }

  expect_failures = [check.the_tiers_keep_what_was_agreed]
}

run "tiers_that_lose_more_than_agreed_are_told" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    tier       = { cluster = "on_demand", database = "on_demand", workload = "on_demand" }
    objectives = { rto_minutes = 120, rpo_seconds = 60 }
  }

  expect_failures = [check.the_tiers_keep_what_was_agreed]
}

run "tiers_that_can_are_not" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    tier       = { cluster = "on_demand", database = "on_demand", workload = "on_demand" }
    objectives = { rto_minutes = 66, rpo_seconds = 900 }
  }

  assert {
    condition     = output.reachable == { rto_minutes = 66, rpo_seconds = 900 }
    error_message = "The figures are those of the table."
  }
}

run "nothing_lost_cannot_be_agreed" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    objectives = { rto_minutes = 13, rpo_seconds = 0 }
  }

  expect_failures = [var.objectives]
}

run "a_step_down_is_refused_while_the_database_is_protected" {
  command = plan

  override_data {
    target = data.aws_db_instances.there
    values = { instance_identifiers = ["reconciled-ireland"] }
  }

  override_data {
    target = data.aws_db_instance.there
    values = { replicate_source_db = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
  }

  module {
    source = "./modules/site"
  }

  variables {
    tier       = { cluster = "hot", database = "on_demand", workload = "on_demand" }
    objectives = { rto_minutes = 66, rpo_seconds = 900 }
  }

  expect_failures = [terraform_data.steps_down]
}

run "a_step_down_is_refused_by_the_protection_that_there_is" {
  command = plan

  override_data {
    target = data.aws_db_instances.there
    values = { instance_identifiers = ["reconciled-ireland"] }
  }

  override_data {
    target = data.aws_db_instance.there
    values = { replicate_source_db = null }
  }

  override_data {
    target = data.aws_lbs.there
    values = { arns = ["arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/mock/0000000000000000"] }
  }

  module {
    source = "./modules/site"
  }

  variables {
    tier       = { cluster = "hot", database = "on_demand", workload = "on_demand" }
    objectives = { rto_minutes = 66, rpo_seconds = 900 }
    protected  = false
  }

  expect_failures = [terraform_data.steps_down]
}

run "a_step_down_is_made_when_protection_is_off" {
  command = plan

  override_data {
    target = data.aws_db_instances.there
    values = { instance_identifiers = ["reconciled-ireland"] }
  }

  override_data {
    target = data.aws_db_instance.there
    values = { replicate_source_db = null }
  }

  module {
    source = "./modules/site"
  }

  variables {
    tier       = { cluster = "hot", database = "on_demand", workload = "on_demand" }
    objectives = { rto_minutes = 66, rpo_seconds = 900 }
    protected  = false
  }

  assert {
    condition     = output.database == null
    error_message = "It must be possible to go down a tier."
  }
}

run "a_step_down_is_refused_while_the_cluster_is_protected" {
  command = plan

  override_data {
    target = data.aws_eks_clusters.there
    values = { names = ["reconciled-ireland"] }
  }

  module {
    source = "./modules/site"
  }

  variables {
    tier       = { cluster = "on_demand", database = "hot", workload = "on_demand" }
    objectives = { rto_minutes = 66, rpo_seconds = 900 }
  }

  expect_failures = [terraform_data.steps_down]
}

run "a_database_that_takes_writes_is_no_replica_again" {
  command = plan

  override_data {
    target = data.aws_db_instances.there
    values = { instance_identifiers = ["reconciled-ireland"] }
  }

  override_data {
    target = data.aws_db_instance.there
    values = { replicate_source_db = "" }
  }

  module {
    source = "./modules/site"
  }

  variables {
    tier = { cluster = "hot", database = "hot", workload = "hot" }
  }

  expect_failures = [terraform_data.steps_down]
}

run "a_replica_that_is_there_stays" {
  command = plan

  override_data {
    target = data.aws_db_instances.there
    values = { instance_identifiers = ["reconciled-ireland"] }
  }

  override_data {
    target = data.aws_db_instance.there
    values = { replicate_source_db = "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" }
  }

  module {
    source = "./modules/site"
  }

  variables {
    tier = { cluster = "hot", database = "hot", workload = "hot" }
  }

  assert {
    condition     = !output.database.takes_writes
    error_message = "It must go on following."
  }
}

run "a_new_database_that_is_warm_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    tier            = { cluster = "hot", database = "warm", workload = "hot" }
    database_origin = { kind = "new" }
  }

  expect_failures = [var.database_origin]
}

run "an_unknown_tier_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    tier = { cluster = "cold" }
  }

  expect_failures = [var.tier]
}

run "an_unknown_origin_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    database_origin = { kind = "primary" }
  }

  expect_failures = [var.database_origin]
}

run "a_site_named_by_its_part_is_refused" {
  command = plan

  module {
    source = "./modules/site"
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

  variables {
    other_region = "eu-west-1"
  }

  expect_failures = [var.other_region]
}

run "a_site_beside_the_control_planes_of_the_world_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    region = "us-east-1"
    zones  = ["us-east-1a", "us-east-1b", "us-east-1c"]
  }

  expect_failures = [var.region]
}

run "the_promotion_of_nothing_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    tier            = { cluster = "hot", database = "on_demand", workload = "on_demand" }
    database_origin = { kind = "replica", promoted = true }
  }

  expect_failures = [var.database_origin]
}

run "a_restore_from_nothing_is_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    database_origin = { kind = "backup" }
  }

  expect_failures = [var.database_origin]
}

run "the_name_of_a_site_as_service_is_refused" {
  command = plan

  module {
    source = "./modules/site"
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

  variables {
    zones = ["eu-west-1a"]
  }

  expect_failures = [var.zones]
}

run "zones_of_another_region_are_refused" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
  }

  expect_failures = [var.zones]
}
