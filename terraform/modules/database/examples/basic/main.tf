provider "aws" {
  region = "eu-west-1"
}

provider "aws" {
  alias  = "other"
  region = "eu-central-1"
}

module "network" {
  source = "../../../network"

  name   = "example-ireland"
  region = "eu-west-1"
  cidr   = "10.20.0.0/16"
  zones  = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
  nat    = "none"
}

# A replica of the database of another region.
module "database" {
  source = "../.."

  providers = {
    aws       = aws
    aws.other = aws.other
  }

  name         = "example-ireland"
  region       = "eu-west-1"
  other_region = "eu-central-1"
  origin       = { kind = "replica", of = "arn:aws:rds:eu-central-1:123456789012:db:example-frankfurt" }
  vpc_id       = module.network.vpc_id
  subnet_ids   = module.network.isolated_subnet_ids
  multi_az     = false
}
