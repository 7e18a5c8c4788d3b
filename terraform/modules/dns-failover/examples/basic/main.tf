# Health checks report their metrics in us-east-1 only.
provider "aws" {
  region = "us-east-1"
}

data "aws_route53_zone" "this" {
  name = "pay.example.com"
}

module "failover" {
  source = "../.."

  zone_id      = data.aws_route53_zone.this.zone_id
  service_fqdn = "api.pay.example.com"
  first        = { name = "frankfurt", fqdn = "frankfurt.pay.example.com" }
  second       = { name = "ireland", fqdn = "ireland.pay.example.com" }
  alarm_emails = ["on-call@example.com"]
}
