data "aws_route53_zone" "this" {
  name = var.domain
}

module "site" {
  source = "../../modules/site"

  providers = {
    aws       = aws
    aws.other = aws.other
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

# Passwords are drawn here and go straight into the secrets; the database's is read back from its secret, so that both
# are the same also after an apply that broke off. None of them is in a plan or in a state.
ephemeral "aws_secretsmanager_random_password" "initial" {
  for_each = toset(["database-administrator", "store-password"])

  password_length     = 40
  exclude_punctuation = true
}

ephemeral "aws_secretsmanager_secret_version" "database" {
  secret_id = module.site.database_secret_arn
}
