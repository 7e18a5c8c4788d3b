provider "aws" {
  alias               = "active"
  region              = var.active.region
  allowed_account_ids = [var.account_id]
}

provider "aws" {
  alias               = "standby"
  region              = var.standby.region
  allowed_account_ids = [var.account_id]
}

# Health checks report their metrics in us-east-1 only.
provider "aws" {
  alias               = "global"
  region              = "us-east-1"
  allowed_account_ids = [var.account_id]
}
