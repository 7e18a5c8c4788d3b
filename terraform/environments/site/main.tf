# One site, whichever it is. It has one provider, that of its own region: a promotion cannot need another one.

locals {
  this      = var.sites[var.site]
  other     = one([for name in local.site_names : name if name != var.site])
  protected = try(local.this.protected, true)
}

module "site" {
  source = "../../modules/site"

  name              = var.name
  site              = var.site
  region            = local.this.region
  zones             = local.this.zones
  cidr              = local.this.cidr
  other_site        = local.other
  other_region      = var.sites[local.other].region
  domain            = var.domain
  tier              = local.this.tier
  database_origin   = local.this.database
  keeps_copies      = try(local.this.keeps_copies, local.this.database.kind != "new")
  objectives        = var.objectives
  cluster           = var.cluster
  database          = var.database
  database_password = one(ephemeral.aws_secretsmanager_secret_version.database[*].secret_string)
  alarm_emails      = var.alarm_emails
  protected         = local.protected
}

# The copy of the secret in this region, and only for a database that is made new: a replica has its source's password.
ephemeral "aws_secretsmanager_secret_version" "database" {
  count = local.this.database.kind == "new" ? 1 : 0

  secret_id = "${var.name}/database-administrator"
}

# Deletions begin with what nothing depends on, so with this. While the site is protected it fails, and nothing is deleted.
resource "terraform_data" "protection" {
  input = { protected = local.protected, place = var.site }

  provisioner "local-exec" {
    when    = destroy
    command = self.input.protected ? "echo '${self.input.place} is protected, and nothing was deleted: set its protected to false and apply, before it is destroyed. Apply it once now: the state has lost its outputs.' >&2; exit 1" : "true"
  }

  depends_on = [module.site]
}
