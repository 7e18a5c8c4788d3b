data "aws_route53_zone" "this" {
  name = var.domain
}

module "failover" {
  source = "../../modules/dns-failover"

  zone_id      = data.aws_route53_zone.this.zone_id
  service_fqdn = "api.${var.domain}"
  first        = { name = var.active.site, fqdn = "${var.active.site}.${var.domain}" }
  second       = { name = var.standby.site, fqdn = "${var.standby.site}.${var.domain}" }
  alarm_emails = var.alarm_emails
  protected    = var.protected
}
