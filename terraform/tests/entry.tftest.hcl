mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name             = "reconciled-ireland"
  region           = "eu-west-1"
  vpc_id           = "vpc-1"
  vpc_cidr         = "10.20.0.0/16"
  subnet_ids       = ["subnet-a", "subnet-b", "subnet-c"]
  certificate_arn  = "arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"
  expects_pods     = true
  alarm_topic_arns = ["arn:aws:sns:eu-west-1:123456789012:alarms"]
}

run "callers_come_in_over_tls_and_reach_the_callers_port_only" {
  command = apply

  module {
    source = "./modules/entry"
  }

  assert {
    condition     = aws_lb_listener.https.protocol == "HTTPS" && aws_lb_listener.https.port == 443 && startswith(aws_lb_listener.https.ssl_policy, "ELBSecurityPolicy-TLS13-")
    error_message = "The only listener must be HTTPS with TLS 1.2 or later."
  }

  assert {
    condition     = alltrue([for r in aws_vpc_security_group_ingress_rule.clients : r.from_port == 443 && r.to_port == 443])
    error_message = "Nothing but port 443 may be open."
  }

  assert {
    condition     = aws_lb_listener.https.default_action[0].target_group_arn == aws_lb_target_group.this["api"].arn && aws_lb_target_group.this["api"].port == 30080
    error_message = "Requests must go to the callers' port."
  }

  assert {
    condition     = one(one([for c in aws_lb_listener_rule.active.condition : c.path_pattern if length(c.path_pattern) > 0])).values == toset(["/activez"])
    error_message = "Of the operators' port nothing but /activez may be passed on."
  }

  assert {
    condition     = one(one([for c in aws_lb_listener_rule.active.condition : c.http_request_method if length(c.http_request_method) > 0])).values == toset(["GET", "HEAD"])
    error_message = "/activez may be read and not written to."
  }

  assert {
    condition     = alltrue([for g in aws_lb_target_group.this : g.health_check[0].path == "/readyz" && g.health_check[0].port == "30081"])
    error_message = "Nodes must be asked for /readyz at the operators' port."
  }

  assert {
    condition     = aws_lb.this.enable_deletion_protection && aws_lb.this.drop_invalid_header_fields && aws_lb.this.access_logs[0].enabled
    error_message = "The load balancer must refuse to be deleted, drop bad headers, and log."
  }

  assert {
    condition     = alltrue([for r in aws_vpc_security_group_egress_rule.nodes : r.cidr_ipv4 == "10.20.0.0/16"]) && length(aws_vpc_security_group_egress_rule.nodes) == 2
    error_message = "The load balancer may reach two ports of its VPC and nothing else."
  }

  assert {
    condition     = aws_s3_bucket_public_access_block.logs.block_public_policy && aws_s3_bucket_public_access_block.logs.restrict_public_buckets && !aws_s3_bucket.logs.force_destroy
    error_message = "The logs' bucket must be closed, and must refuse to be deleted with what is in it."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.ready[0].treat_missing_data == "breaching" && aws_cloudwatch_metric_alarm.ready[0].alarm_actions == toset(["arn:aws:sns:eu-west-1:123456789012:alarms"])
    error_message = "Too few ready nodes, or silence, must be an alarm."
  }
}

run "restricted_callers_leave_health_checks_a_way_in" {
  command = plan

  module {
    source = "./modules/entry"
  }

  variables {
    client_cidrs = ["203.0.113.0/24"]
  }

  assert {
    condition     = length(aws_vpc_security_group_ingress_rule.health_checks) == 1
    error_message = "The health checks of Route 53 must be let in."
  }
}

run "the_operators_port_for_callers_is_refused" {
  command = plan

  module {
    source = "./modules/entry"
  }

  variables {
    admin_node_port = 30080
  }

  expect_failures = [var.admin_node_port]
}

run "a_name_too_long_for_target_groups_is_refused" {
  command = plan

  module {
    source = "./modules/entry"
  }

  variables {
    name = "reconciled-in-a-very-long-place"
  }

  expect_failures = [var.name]
}

run "nobody_to_let_in_is_refused" {
  command = plan

  module {
    source = "./modules/entry"
  }

  variables {
    client_cidrs = []
  }

  expect_failures = [var.client_cidrs]
}
