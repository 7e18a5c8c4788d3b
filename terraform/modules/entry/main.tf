# Where the world comes in: a load balancer that ends TLS and knows two paths. `/activez`, what the global load
# balancing asks, goes to the operators' port; everything else goes to the callers' port. So no other path of the
# operators' port can be reached from outside.
#
# It exists in every tier, also where nothing runs behind it: the name of a standby site then answers from the first
# day (503, so it gets no traffic), and a promotion changes no DNS record.

resource "aws_security_group" "this" {
  name        = "${var.name}-entry"
  description = "Load balancer of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = merge(var.tags, { Name = "${var.name}-entry" })
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = toset(var.client_cidrs)

  security_group_id = aws_security_group.this.id
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
  description       = "HTTPS from callers"
  tags              = var.tags
}

# Where callers are restricted, the health checks of Route 53 must still come through, or the failover record would
# take the site for dead.
data "aws_ec2_managed_prefix_list" "health_checks" {
  count = local.open_to_all ? 0 : 1

  name = "com.amazonaws.${var.region}.route53-healthchecks"
}

resource "aws_vpc_security_group_ingress_rule" "health_checks" {
  count = local.open_to_all ? 0 : 1

  security_group_id = aws_security_group.this.id
  prefix_list_id    = data.aws_ec2_managed_prefix_list.health_checks[0].id
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
  description       = "HTTPS from the health checks of Route 53"
  tags              = var.tags
}

resource "aws_vpc_security_group_egress_rule" "nodes" {
  for_each = local.ports

  security_group_id = aws_security_group.this.id
  cidr_ipv4         = var.vpc_cidr
  ip_protocol       = "tcp"
  from_port         = each.value
  to_port           = each.value
  description       = "To the nodes: ${each.key}"
  tags              = var.tags
}

locals {
  open_to_all = contains(var.client_cidrs, "0.0.0.0/0")
  ports       = { api = var.api_node_port, admin = var.admin_node_port }
}

resource "aws_lb" "this" {
  name                       = var.name
  load_balancer_type         = "application"
  internal                   = false
  security_groups            = [aws_security_group.this.id]
  subnets                    = var.subnet_ids
  enable_deletion_protection = var.protected
  drop_invalid_header_fields = true
  desync_mitigation_mode     = "defensive"
  idle_timeout               = 60
  tags                       = var.tags

  access_logs {
    enabled = true
    bucket  = aws_s3_bucket_policy.logs.bucket
  }
}

resource "aws_lb_target_group" "this" {
  for_each = local.ports

  name                 = "${var.name}-${each.key}"
  vpc_id               = var.vpc_id
  target_type          = "instance"
  protocol             = "HTTP"
  port                 = each.value
  deregistration_delay = 30
  tags                 = var.tags

  # Both ask the operators' port whether the pods behind this node are ready. A standby is ready and not active.
  health_check {
    protocol            = "HTTP"
    port                = var.admin_node_port
    path                = "/readyz"
    matcher             = "200"
    interval            = 5
    timeout             = 4
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_listener" "https" {
  load_balancer_arn = aws_lb.this.arn
  protocol          = "HTTPS"
  port              = 443
  ssl_policy        = "ELBSecurityPolicy-TLS13-1-2-2021-06"
  certificate_arn   = var.certificate_arn
  tags              = var.tags

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this["api"].arn
  }
}

resource "aws_lb_listener_rule" "active" {
  listener_arn = aws_lb_listener.https.arn
  priority     = 10
  tags         = var.tags

  action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this["admin"].arn
  }

  condition {
    path_pattern {
      values = ["/activez"]
    }
  }

  condition {
    http_request_method {
      values = ["GET", "HEAD"]
    }
  }
}

resource "aws_wafv2_web_acl_association" "this" {
  count = var.web_acl_arn == null ? 0 : 1

  resource_arn = aws_lb.this.arn
  web_acl_arn  = var.web_acl_arn
}

