provider "aws" {
  region              = var.sites[var.site].region
  allowed_account_ids = [var.account_id]
}
