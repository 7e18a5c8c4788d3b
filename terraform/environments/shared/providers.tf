# The third region, in which no site is.
provider "aws" {
  region              = var.witness.region
  allowed_account_ids = [var.account_id]
}

provider "aws" {
  alias               = "a"
  region              = var.sites[local.site_names[0]].region
  allowed_account_ids = [var.account_id]
}

provider "aws" {
  alias               = "b"
  region              = var.sites[local.site_names[1]].region
  allowed_account_ids = [var.account_id]
}
