mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                   = "reconciled-ireland"
  other_name             = "reconciled-frankfurt"
  region                 = "eu-west-1"
  other_region           = "eu-central-1"
  zones                  = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  zone_id                = "Z0000000000000000000"
  site_fqdn              = "ireland.pay.example.com"
  service_fqdn           = "api.pay.example.com"
  validates_service_name = true
}

run "what_a_site_stands_on_is_there_before_it" {
  command = apply

  module {
    source = "./modules/foundation"
  }

  # The answer of ACM, which the validation records are made of.
  override_resource {
    target = aws_acm_certificate.this
    values = {
      arn = "arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"
      domain_validation_options = [
        { domain_name = "ireland.pay.example.com", resource_record_name = "_a.ireland.pay.example.com.", resource_record_type = "CNAME", resource_record_value = "a.acm-validations.aws." },
        { domain_name = "api.pay.example.com", resource_record_name = "_b.api.pay.example.com.", resource_record_type = "CNAME", resource_record_value = "b.acm-validations.aws." },
      ]
    }
  }

  assert {
    condition     = toset([for a in aws_eip.nat : a.tags.Name]) == toset(["reconciled-ireland-nat-eu-west-1a", "reconciled-ireland-nat-eu-west-1b", "reconciled-ireland-nat-eu-west-1c"])
    error_message = "An address must be reserved for each zone, under the name by which the site finds it."
  }

  assert {
    condition     = length(aws_route53_record.validation) == 2 && aws_route53_record.validation["api.pay.example.com"].name == "_b.api.pay.example.com."
    error_message = "Both names must be validated."
  }

  assert {
    condition     = toset(keys(output.role_arns)) == toset(["cluster", "database-backup", "database-monitoring", "flow-logs", "node"])
    error_message = "Every role must exist before a promotion wants it."
  }

  assert {
    condition     = alltrue([for kind in ["cluster", "database-backup", "flow-logs"] : contains(one(data.aws_iam_policy_document.trust[kind].statement[0].condition).values, "123456789012")]) && length(one(data.aws_iam_policy_document.trust["database-monitoring"].statement).condition) == 2
    error_message = "Services may take a role on for this account only, and monitoring for this database only."
  }

  assert {
    condition     = alltrue([for s in concat(data.aws_iam_policy_document.backup.statement, data.aws_iam_policy_document.flow_logs.statement) : !contains(s.resources, "*") && alltrue([for a in s.actions : !strcontains(a, "*")])])
    error_message = "No role may have a wildcard."
  }

  assert {
    condition     = one([for s in data.aws_iam_policy_document.backup.statement : [for c in s.condition : c.values if c.variable == "kms:ResourceAliases"] if s.sid == "EncryptThem"])[0] == tolist(["alias/reconciled-ireland-database", "alias/reconciled-frankfurt-database"])
    error_message = "The role of the backups may use the keys of the two sites and no other."
  }

  assert {
    condition     = !contains(keys(aws_iam_role_policy_attachment.managed), "AmazonSSMManagedInstanceCore") && contains(keys(aws_iam_role_policy_attachment.managed), "AmazonEC2ContainerRegistryPullOnly")
    error_message = "Nodes may pull images, and nobody may open a shell on them."
  }
}

run "the_other_one_leaves_the_services_record_alone" {
  command = apply

  module {
    source = "./modules/foundation"
  }

  variables {
    validates_service_name = false
  }

  override_resource {
    target = aws_acm_certificate.this
    values = {
      arn = "arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"
      domain_validation_options = [
        { domain_name = "ireland.pay.example.com", resource_record_name = "_a.ireland.pay.example.com.", resource_record_type = "CNAME", resource_record_value = "a.acm-validations.aws." },
        { domain_name = "api.pay.example.com", resource_record_name = "_b.api.pay.example.com.", resource_record_type = "CNAME", resource_record_value = "b.acm-validations.aws." },
      ]
    }
  }

  assert {
    condition     = keys(aws_route53_record.validation) == ["ireland.pay.example.com"]
    error_message = "One of the two brings the validation record of the service's name."
  }
}

run "one_name_for_site_and_service_is_refused" {
  command = plan

  module {
    source = "./modules/foundation"
  }

  variables {
    service_fqdn = "ireland.pay.example.com"
  }

  expect_failures = [var.service_fqdn]
}

run "both_sites_in_one_region_are_refused" {
  command = plan

  module {
    source = "./modules/foundation"
  }

  variables {
    other_region = "eu-west-1"
  }

  expect_failures = [var.other_region]
}

run "two_zones_are_refused" {
  command = plan

  module {
    source = "./modules/foundation"
  }

  variables {
    zones = ["eu-west-1a", "eu-west-1b"]
  }

  expect_failures = [var.zones]
}
