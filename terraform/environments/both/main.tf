data "aws_route53_zone" "this" {
  provider = aws.global
  name     = var.domain
}

module "active" {
  source = "../../modules/site"

  providers = {
    aws       = aws.active
    aws.other = aws.standby
  }

  role                  = "active"
  name                  = var.name
  site                  = var.active.site
  region                = var.active.region
  cidr                  = var.active.cidr
  other_site            = var.standby.site
  other_region          = var.standby.region
  domain                = var.domain
  zone_id               = data.aws_route53_zone.this.zone_id
  cluster               = var.cluster
  database              = var.database
  database_password     = ephemeral.aws_secretsmanager_secret_version.database.secret_string
  initial_secrets       = { for name, drawn in ephemeral.aws_secretsmanager_random_password.initial : name => drawn.random_password }
  providers_of_payments = var.providers_of_payments
  alarm_emails          = var.alarm_emails
  protected             = var.protected
}

module "standby" {
  source = "../../modules/site"

  providers = {
    aws       = aws.standby
    aws.other = aws.active
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

  # Names alone do not tell Terraform that a replica needs its source.
  replica_of = module.active.database_arn
}

module "failover" {
  source = "../../modules/dns-failover"

  providers = { aws = aws.global }

  zone_id      = data.aws_route53_zone.this.zone_id
  service_fqdn = module.active.service_fqdn
  first        = { name = var.active.site, fqdn = module.active.site_fqdn }
  second       = { name = var.standby.site, fqdn = module.standby.site_fqdn }
  alarm_emails = var.alarm_emails
  protected    = var.protected
}

# Passwords are drawn here and go straight into the secrets; the database's is read back from its secret, so that both
# are the same also after an apply that broke off. None of them is in a plan or in a state.
ephemeral "aws_secretsmanager_random_password" "initial" {
  provider = aws.active
  for_each = toset(["database-administrator", "store-password"])

  password_length     = 40
  exclude_punctuation = true
}

ephemeral "aws_secretsmanager_secret_version" "database" {
  provider  = aws.active
  secret_id = module.active.database_secret_arn
}
