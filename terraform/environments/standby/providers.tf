provider "aws" {
  region              = var.standby.region
  allowed_account_ids = [var.account_id]
}

# The region that a promotion must not need: this provider asks nothing there before a resource wants it. The account is
# checked by the one above, which has the same credentials.
provider "aws" {
  alias                       = "other"
  region                      = var.active.region
  skip_credentials_validation = true
  skip_requesting_account_id  = true
}
