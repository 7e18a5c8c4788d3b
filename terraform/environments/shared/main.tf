# What neither site may lose with the other: certificates and their validation, roles, reserved addresses, secrets, the
# witness. Applied before the sites, and never taken down while one of them lives. Nothing here says which site is active.

locals {
  a = local.site_names[0]
  b = local.site_names[1]

  secrets = merge(
    {
      database-administrator = "Password of the role that RDS creates: for migrations and emergencies"
      store-password         = "Password of the daemon's role in PostgreSQL (RECONCILED_STORE_PASSWORD_FILE)"
      witness-administrator  = "Password of the role that RDS creates in the witness"
      witness-password       = "Password of the daemon's role in the witness (RECONCILED_SITE_WITNESS_PASSWORD_FILE)"
    },
    { for name in var.providers_of_payments : "provider-${name}-token" => "Token for the provider ${name} (RECONCILED_PROVIDERS_${upper(replace(name, "-", "_"))}_TOKEN_FILE)" },
  )
  generated = ["database-administrator", "store-password", "witness-administrator", "witness-password"]
  tags      = { Deployment = var.name }
}

data "aws_route53_zone" "this" {
  name = var.domain
}

module "foundation_a" {
  source = "../../modules/foundation"

  providers = { aws = aws.a }

  name                   = "${var.name}-${local.a}"
  other_name             = "${var.name}-${local.b}"
  region                 = var.sites[local.a].region
  other_region           = var.sites[local.b].region
  zones                  = var.sites[local.a].zones
  zone_id                = data.aws_route53_zone.this.zone_id
  site_fqdn              = "${local.a}.${var.domain}"
  service_fqdn           = "api.${var.domain}"
  validates_service_name = true
  tags                   = merge(local.tags, { Site = local.a })
}

module "foundation_b" {
  source = "../../modules/foundation"

  providers = { aws = aws.b }

  name                   = "${var.name}-${local.b}"
  other_name             = "${var.name}-${local.a}"
  region                 = var.sites[local.b].region
  other_region           = var.sites[local.a].region
  zones                  = var.sites[local.b].zones
  zone_id                = data.aws_route53_zone.this.zone_id
  site_fqdn              = "${local.b}.${var.domain}"
  service_fqdn           = "api.${var.domain}"
  validates_service_name = false
  tags                   = merge(local.tags, { Site = local.b })
}

module "secrets" {
  source = "../../modules/secrets"

  providers = {
    aws   = aws
    aws.a = aws.a
    aws.b = aws.b
  }

  name           = var.name
  region         = var.witness.region
  site_regions   = [for name in local.site_names : var.sites[name].region]
  secrets        = local.secrets
  generated      = local.generated
  initial_values = { for name, drawn in ephemeral.aws_secretsmanager_random_password.initial : name => drawn.random_password }
  protected      = var.protected
  tags           = local.tags
}

module "alarms" {
  source = "../../modules/alarms"

  name      = "${var.name}-witness"
  emails    = var.alarm_emails
  protected = var.protected
  tags      = local.tags
}

module "witness" {
  source = "../../modules/witness"

  name             = var.name
  region           = var.witness.region
  cidr             = var.witness.cidr
  zones            = var.witness.zones
  client_cidrs     = [for name in local.site_names : cidrsubnet(var.sites[name].cidr, 2, 0)]
  master_password  = ephemeral.aws_secretsmanager_secret_version.witness.secret_string
  alarm_topic_arns = [module.alarms.topic_arn]
  protected        = var.protected
  tags             = local.tags
}

# Passwords are drawn here and go straight into the secrets; where one is needed it is read back from its secret, so that
# both are the same also after an apply that broke off. None of them is in a plan or in a state.
ephemeral "aws_secretsmanager_random_password" "initial" {
  for_each = toset(local.generated)

  password_length     = 40
  exclude_punctuation = true
}

ephemeral "aws_secretsmanager_secret_version" "witness" {
  secret_id = module.secrets.generated_arns["witness-administrator"]
}

# Deletions begin with what nothing depends on, so with this. While what both sites need is protected it fails, and nothing is deleted.
resource "terraform_data" "protection" {
  input = { protected = var.protected, place = "shared" }

  provisioner "local-exec" {
    when    = destroy
    command = self.input.protected ? "echo '${self.input.place} is protected, and nothing was deleted: set its protected to false and apply, before it is destroyed. Apply it once now: the state has lost its outputs.' >&2; exit 1" : "true"
  }

  depends_on = [module.foundation_a, module.foundation_b, module.secrets, module.witness]
}
