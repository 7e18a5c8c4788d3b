# Health checks report their metrics in us-east-1 only.
provider "aws" {
  region              = "us-east-1"
  allowed_account_ids = [var.account_id]
}
