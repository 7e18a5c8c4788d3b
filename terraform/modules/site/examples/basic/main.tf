provider "aws" {
  region = "eu-west-1"
}

# A site whose database follows and whose cluster has no nodes. The module foundation was applied before, elsewhere.
module "site" {
  source = "../.."

  tier            = { cluster = "warm", database = "warm", workload = "warm" }
  database_origin = { kind = "replica" }
  keeps_copies    = true
  name            = "example"
  site            = "ireland"
  region          = "eu-west-1"
  zones           = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  cidr            = "10.20.0.0/16"
  other_site      = "frankfurt"
  other_region    = "eu-central-1"
  domain          = "pay.example.com"
}
