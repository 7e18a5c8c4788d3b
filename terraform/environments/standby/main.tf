data "aws_route53_zone" "this" {
  name = var.domain
}

module "site" {
  source = "../../modules/site"

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  role                   = "standby"
  name                   = var.name
  site                   = var.standby.site
  region                 = var.standby.region
  cidr                   = var.standby.cidr
  other_site             = var.active.site
  other_region           = var.active.region
  domain                 = var.domain
  zone_id                = data.aws_route53_zone.this.zone_id
  tier                   = var.standby_tier
  database_promoted      = var.standby_database_promoted
  restore                = var.standby_restore
  copies_to_other_region = var.standby_copies_to_active_region
  cluster                = var.cluster
  database               = var.database
  alarm_emails           = var.alarm_emails
  protected              = var.protected
}
