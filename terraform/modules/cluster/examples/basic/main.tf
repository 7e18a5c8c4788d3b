provider "aws" {
  region = "eu-west-1"
}

module "network" {
  source = "../../../network"

  name   = "example-ireland"
  region = "eu-west-1"
  cidr   = "10.20.0.0/16"
  zones  = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
}

# A warm cluster: the control plane runs, and no node does.
module "cluster" {
  source = "../.."

  name           = "example-ireland"
  region         = "eu-west-1"
  subnet_ids     = module.network.private_subnet_ids
  administrators = ["arn:aws:iam::123456789012:role/platform"]
  front          = { min = 0, desired = 0 }
  batch          = { min = 0, desired = 0 }
}
