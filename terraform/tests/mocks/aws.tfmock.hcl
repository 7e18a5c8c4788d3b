# Values that the provider or AWS would compute and that something checks the form of.

mock_data "aws_caller_identity" {
  defaults = { account_id = "123456789012" }
}

mock_data "aws_partition" {
  defaults = { partition = "aws" }
}

mock_data "aws_eip" {
  defaults = { id = "eipalloc-00000000000000000", public_ip = "192.0.2.1" }
}

mock_data "aws_acm_certificate" {
  defaults = { arn = "arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000" }
}

mock_data "aws_vpc" {
  defaults = { id = "vpc-00000000000000000", cidr_block = "10.20.0.0/16" }
}

mock_data "aws_route_tables" {
  defaults = { ids = ["rtb-0a", "rtb-0b", "rtb-0c"] }
}

mock_data "aws_lb" {
  defaults = {
    arn                        = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/mock/0000000000000000"
    dns_name                   = "mock.eu-west-1.elb.amazonaws.com"
    zone_id                    = "Z32O12XQLNTSW2"
    enable_deletion_protection = true
  }
}

mock_data "aws_iam_policy_document" {
  defaults = { json = "{\"Version\":\"2012-10-17\",\"Statement\":[]}" }
}

mock_data "aws_route53_zone" {
  defaults = { zone_id = "Z0000000000000000000" }
}

mock_resource "aws_kms_key" {
  defaults = { arn = "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000" }
}

mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::123456789012:role/mock" }
}

mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:eu-west-1:123456789012:log-group:mock" }
}

mock_resource "aws_sns_topic" {
  defaults = { arn = "arn:aws:sns:eu-west-1:123456789012:mock" }
}

mock_resource "aws_lb" {
  defaults = {
    arn        = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/mock/0000000000000000"
    arn_suffix = "app/mock/0000000000000000"
    dns_name   = "mock.eu-west-1.elb.amazonaws.com"
    zone_id    = "Z32O12XQLNTSW2"
  }
}

mock_resource "aws_lb_target_group" {
  defaults = { arn = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/mock/0000000000000000" }
}

mock_resource "aws_lb_listener" {
  defaults = { arn = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:listener/app/mock/0000000000000000/0000000000000000" }
}

mock_resource "aws_acm_certificate" {
  defaults = { arn = "arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000" }
}

mock_resource "aws_acm_certificate_validation" {
  defaults = { certificate_arn = "arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000" }
}

mock_resource "aws_db_instance" {
  defaults = { arn = "arn:aws:rds:eu-west-1:123456789012:db:mock" }
}

mock_resource "aws_backup_vault" {
  defaults = { arn = "arn:aws:backup:eu-west-1:123456789012:backup-vault:mock" }
}

mock_resource "aws_secretsmanager_secret" {
  defaults = { arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:mock-AbCdEf" }
}

mock_resource "aws_launch_template" {
  defaults = { id = "lt-00000000000000000", latest_version = 1 }
}
