# Health checks report their metrics in us-east-1 only.
provider "aws" {
  region              = "us-east-1"
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

provider "aws" {
  alias               = "witness"
  region              = var.witness.region
  allowed_account_ids = [var.account_id]
}
