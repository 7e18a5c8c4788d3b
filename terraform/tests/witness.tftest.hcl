mock_provider "aws" {
  source = "./tests/mocks"
}

mock_provider "aws" {
  alias  = "witness"
  source = "./tests/mocks"
}

variables {
  name            = "reconciled"
  region          = "eu-north-1"
  cidr            = "10.30.0.0/24"
  zones           = ["eu-north-1a", "eu-north-1b", "eu-north-1c"]
  client_cidrs    = ["10.10.0.0/18", "10.20.0.0/18"]
  master_password = "a value of the test"
}

run "a_witness_loses_nothing_and_only_nodes_reach_it" {
  command = plan

  module {
    source = "./modules/witness"
  }

  assert {
    condition     = aws_db_instance.this.multi_az && aws_db_instance.this.deletion_protection
    error_message = "A second zone must take every write: a witness that lost its last seconds gives the right away too early."
  }

  assert {
    condition     = !aws_db_instance.this.publicly_accessible && aws_db_instance.this.storage_encrypted && aws_db_instance.this.password == null
    error_message = "It must be private and encrypted, and no state may have its password."
  }

  assert {
    condition     = toset([for r in aws_vpc_security_group_ingress_rule.nodes : r.cidr_ipv4]) == toset(["10.10.0.0/18", "10.20.0.0/18"]) && alltrue([for r in aws_vpc_security_group_ingress_rule.nodes : r.from_port == 5432 && r.to_port == 5432])
    error_message = "Only the nodes of the sites may reach it, at one port."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.silent.treat_missing_data == "breaching"
    error_message = "Its silence must be an alarm: the active site stops within its lease."
  }
}

run "the_whole_internet_as_client_is_refused" {
  command = plan

  module {
    source = "./modules/witness"
  }

  variables {
    client_cidrs = ["0.0.0.0/0"]
  }

  expect_failures = [var.client_cidrs]
}

run "two_zones_are_refused" {
  command = plan

  module {
    source = "./modules/witness"
  }

  variables {
    zones = ["eu-north-1a", "eu-north-1b"]
  }

  expect_failures = [var.zones]
}

run "a_site_is_linked_at_both_ends" {
  command = apply

  module {
    source = "./modules/link"
  }

  providers = {
    aws         = aws
    aws.witness = aws.witness
  }

  variables {
    site_vpc_name    = "reconciled-ireland"
    witness_vpc_name = "reconciled-witness"
    witness_region   = "eu-north-1"
  }

  assert {
    condition     = length(aws_route.to_witness) == 3 && aws_route.to_nodes.vpc_peering_connection_id == aws_vpc_peering_connection_accepter.this.id
    error_message = "Each zone must have a way to the witness, and the witness one back."
  }
}
