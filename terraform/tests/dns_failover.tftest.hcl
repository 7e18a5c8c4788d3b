mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  zone_id      = "Z0000000000000000000"
  service_fqdn = "api.pay.example.com"
  first        = { name = "frankfurt", fqdn = "frankfurt.pay.example.com" }
  second       = { name = "ireland", fqdn = "ireland.pay.example.com" }
}

run "both_sites_stand_in_the_record_in_advance" {
  command = plan

  module {
    source = "./modules/dns-failover"
  }

  assert {
    condition     = { for k, r in aws_route53_record.service : r.set_identifier => r.failover_routing_policy[0].type } == { frankfurt = "PRIMARY", ireland = "SECONDARY" }
    error_message = "One site must be the first answer, the other the second."
  }

  assert {
    condition     = alltrue([for r in aws_route53_record.service : r.name == "api.pay.example.com" && r.type == "CNAME" && r.ttl == 20])
    error_message = "Both must answer for the service's name, for 20 seconds."
  }

  assert {
    condition     = one(aws_route53_record.service["SECONDARY"].records) == "ireland.pay.example.com" && one(aws_route53_record.service["PRIMARY"].records) == "frankfurt.pay.example.com"
    error_message = "Each must answer with its own site's name."
  }

  assert {
    condition     = alltrue([for c in aws_route53_health_check.active : c.resource_path == "/activez" && c.type == "HTTPS" && c.port == 443 && c.enable_sni])
    error_message = "Health checks must ask /activez over TLS."
  }

  assert {
    condition     = [for k in ["PRIMARY", "SECONDARY"] : aws_route53_health_check.active[k].fqdn] == ["frankfurt.pay.example.com", "ireland.pay.example.com"]
    error_message = "Each site must be asked under its own name, which never moves."
  }

  assert {
    condition     = output.switch_seconds <= 60
    error_message = "A switch must fit into the recovery time objective of one minute."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.none_active.treat_missing_data == "breaching" && aws_cloudwatch_metric_alarm.none_active.threshold == 1 && aws_cloudwatch_metric_alarm.none_active.comparison_operator == "LessThanThreshold"
    error_message = "No active site, or silence about it, must be an alarm."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.both_active.threshold == 1 && aws_cloudwatch_metric_alarm.both_active.comparison_operator == "GreaterThanThreshold"
    error_message = "Two active sites must be an alarm."
  }
}

run "each_record_depends_on_its_own_health_check" {
  command = apply

  module {
    source = "./modules/dns-failover"
  }

  assert {
    condition     = alltrue([for k, r in aws_route53_record.service : r.health_check_id == aws_route53_health_check.active[k].id])
    error_message = "A record without its health check is answered for ever."
  }
}

run "one_site_twice_is_refused" {
  command = plan

  module {
    source = "./modules/dns-failover"
  }

  variables {
    second = { name = "ireland", fqdn = "frankfurt.pay.example.com" }
  }

  expect_failures = [var.second]
}

run "a_name_that_is_none_is_refused" {
  command = plan

  module {
    source = "./modules/dns-failover"
  }

  variables {
    first = { name = "frankfurt", fqdn = "frankfurt" }
  }

  expect_failures = [var.first]
}

run "an_answer_that_lives_long_is_refused" {
  command = plan

  module {
    source = "./modules/dns-failover"
  }

  variables {
    ttl_seconds = 300
  }

  expect_failures = [var.ttl_seconds]
}

run "an_interval_that_route_53_does_not_know_is_refused" {
  command = plan

  module {
    source = "./modules/dns-failover"
  }

  variables {
    interval_seconds = 5
  }

  expect_failures = [var.interval_seconds]
}

run "no_failure_at_all_is_refused" {
  command = plan

  module {
    source = "./modules/dns-failover"
  }

  variables {
    failures = 0
  }

  expect_failures = [var.failures]
}
