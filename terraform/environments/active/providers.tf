provider "aws" {
  region              = var.active.region
  allowed_account_ids = [var.account_id]
}

provider "aws" {
  alias               = "other"
  region              = var.standby.region
  allowed_account_ids = [var.account_id]
}
