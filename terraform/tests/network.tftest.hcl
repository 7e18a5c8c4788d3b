mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name               = "reconciled-ireland"
  region             = "eu-west-1"
  cidr               = "10.20.0.0/16"
  zones              = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  address_ids        = { eu-west-1a = "eipalloc-0a", eu-west-1b = "eipalloc-0b", eu-west-1c = "eipalloc-0c" }
  flow_logs_role_arn = "arn:aws:iam::123456789012:role/reconciled-ireland-flow-logs"
}

run "a_site_has_three_zones_and_a_way_out_in_each" {
  command = plan

  module {
    source = "./modules/network"
  }

  assert {
    condition     = alltrue([for s in [aws_subnet.public, aws_subnet.private, aws_subnet.isolated] : length(distinct([for x in s : x.availability_zone])) == 3])
    error_message = "Each kind of subnet must be in three zones."
  }

  assert {
    condition     = length(distinct(concat([for x in aws_subnet.public : x.cidr_block], [for x in aws_subnet.private : x.cidr_block], [for x in aws_subnet.isolated : x.cidr_block]))) == 9
    error_message = "The nine subnets must have nine ranges."
  }

  assert {
    condition     = length(aws_nat_gateway.this) == 3 && length(aws_route.private) == 3
    error_message = "Each zone must have a NAT gateway of its own."
  }

  assert {
    condition     = alltrue([for s in concat(values(aws_subnet.public), values(aws_subnet.private), values(aws_subnet.isolated)) : !s.map_public_ip_on_launch])
    error_message = "No subnet may hand out public addresses."
  }

  assert {
    condition     = aws_flow_log.this.traffic_type == "ALL" && aws_cloudwatch_log_group.flow.retention_in_days == 365
    error_message = "All traffic must be logged, for a year."
  }

  assert {
    condition     = length(aws_default_security_group.closed.ingress) == 0 && length(aws_default_security_group.closed.egress) == 0
    error_message = "The VPC's default security group must allow nothing."
  }
}

run "without_nodes_there_is_no_way_out" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    nat = "none"
  }

  assert {
    condition     = length(aws_nat_gateway.this) == 0 && length(aws_route.private) == 0
    error_message = "There must be no NAT gateway."
  }
}

run "one_way_out_serves_all_zones" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    nat = "single"
  }

  assert {
    condition     = length(aws_nat_gateway.this) == 1 && length(aws_route.private) == 3
    error_message = "One NAT gateway must serve three zones."
  }
}

run "two_zones_are_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    zones = ["eu-west-1a", "eu-west-1b", "eu-west-1a"]
  }

  expect_failures = [var.zones]
}

run "a_range_that_is_too_small_is_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    cidr = "10.20.0.0/24"
  }

  expect_failures = [var.cidr]
}

run "an_unknown_way_out_is_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    nat = "some"
  }

  expect_failures = [var.nat]
}

run "a_name_that_is_none_is_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    name = "Reconciled_1"
  }

  expect_failures = [var.name]
}

run "logs_of_a_day_are_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    log_retention_in_days = 1
  }

  expect_failures = [var.log_retention_in_days]
}

run "a_zone_without_an_address_is_refused" {
  command = plan

  module {
    source = "./modules/network"
  }

  variables {
    address_ids = { eu-west-1a = "eipalloc-0a" }
  }

  expect_failures = [var.address_ids]
}
